use super::*;

const DECIDING: Area = Area { folder: "src", is_async: false };
const PORTS: Area = Area { folder: "src", is_async: true };

/// Each text stands for a whole file in which exactly `lines` hold a violation.
fn check_lines(text: &str, lines: &[usize]) {
    let found: Vec<usize> = check_text(text, &DECIDING).into_iter().map(|(line, _)| line).collect();
    assert_eq!(found, lines, "{text}");
}

#[test]
fn clocks_are_found() {
    check_lines("fn f() -> u8 {\n let t = std::time::Instant::now();\n 0 }", &[2]);
    check_lines("use std::time::SystemTime;\nfn f() { SystemTime::now(); }", &[1, 2]);
    check_lines("fn f() { ours::Instant\n ::now }", &[1]);
    check_lines("use std::time::Instant as Quiet;", &[1]);
    check_lines("use std::{fmt, time::{Duration,\n Instant}};", &[2]);
}

#[test]
fn surroundings_are_found() {
    for path in
        ["std::env::var", "std::fs::read", "std::net::TcpStream", "std::process::Command", "::std::fs::read"]
    {
        check_lines(&format!("fn f() {{ {path}(x); }}"), &[1]);
        check_lines(&format!("use {path};"), &[1]);
    }
    check_lines("use std::{collections::BTreeMap, env};", &[1]);
    check_lines("use std::fs::{self, File};", &[1, 1]);
    check_lines(
        "use ::std::fs::File;\nfn f(file: ::std::fs::File, files: Vec::<std::fs::File>) {}",
        &[1, 2, 2],
    );
    check_lines("fn f() { <std::fs::File>::open(x) }", &[1]);
    check_lines("use std::env::{self as surroundings};", &[1]);
}

#[test]
fn chance_and_runtime_are_found() {
    check_lines("fn f() { rand::random::<u8>() }", &[1]);
    check_lines("use tokio;", &[1]);
    check_lines("extern crate rand;", &[1]);
    check_lines("#[tokio::main]\nfn main() {}", &[1]);
    check_lines("macro_rules! m { () => { tokio::spawn(x) } }", &[1]);
}

#[test]
fn imports_of_everything_around_are_found() {
    check_lines("use std::*;", &[1]);
    check_lines("use std::time::*;", &[1]);
    check_lines("use std::fs::*;", &[1]);
    check_lines("use std as quiet;", &[1]);
    check_lines("use std::collections::*;", &[]);
}

#[test]
fn awaiting_is_found_where_it_is_banned() {
    let text = "fn f() {\n x\n .await; }\nasync fn g() {}\nfn h() { async move {} }";
    check_lines(text, &[3, 4, 5]);
    assert_eq!(check_text(text, &PORTS), []);
    assert_eq!(check_text("use std::fs;", &PORTS).len(), 1);
}

#[test]
fn comments_texts_and_other_names_are_free() {
    check_lines(
        "//! No `std::fs`, no async.\n/// See std::env::var.\n/* tokio::spawn */\n\
         const HELP: &str = \"std::fs::read .await\";\nconst RAW: &str = r#\"use tokio;\"#;\n",
        &[],
    );
    check_lines("use std::time::Duration;\nfn f(rand: u8, async_ok: u8) -> u8 { rand * 2 }", &[]);
    check_lines("use crate::fs::Path;\nuse super::env;\nfn f() { crate::tokio::x(); env!(\"A\"); }", &[]);
}

#[test]
fn a_file_that_is_not_rust_is_a_violation() {
    check_lines("fn f( {", &[1]);
}

#[test]
fn files_are_found_at_every_depth_and_tests_are_free() {
    let root = tempfile::tempdir().unwrap();
    let deep = root.path().join("src/a/b");
    fs::create_dir_all(&deep).unwrap();
    fs::write(root.path().join("src/lib.rs"), "mod a;").unwrap();
    fs::write(deep.join("c.rs"), "\nuse std::fs;").unwrap();
    fs::write(deep.join("c_tests.rs"), "use std::fs;").unwrap();
    fs::write(deep.join("notes.txt"), "use std::fs;").unwrap();
    let found = check(root.path(), &DECIDING).unwrap();
    assert_eq!(found, ["src/a/b/c.rs:2: `std::fs` in code that decides"]);
}

#[test]
fn a_folder_that_is_gone_is_an_error() {
    let root = tempfile::tempdir().unwrap();
    assert!(check(root.path(), &DECIDING).is_err());
    fs::create_dir(root.path().join("src")).unwrap();
    assert!(check(root.path(), &DECIDING).is_err());
}
