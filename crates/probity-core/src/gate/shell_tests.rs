use super::*;

fn check(text: &str, commands: &[&[&str]]) {
    let read = read_commands(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    let read: Vec<Vec<&str>> = read.iter().map(|argv| argv.iter().map(String::as_str).collect()).collect();
    assert_eq!(read, commands, "{text:?}");
}

#[test]
fn commands_are_taken_apart() {
    check("git status", &[&["git", "status"]]);
    check(" git\tlog  --oneline ", &[&["git", "log", "--oneline"]]);
    check("a&&b||c|d;e&f\ng", &[&["a"], &["b"], &["c"], &["d"], &["e"], &["f"], &["g"]]);
    check("\n\na |\n\n b &&\nc;\n", &[&["a"], &["b"], &["c"]]);
    check("a &", &[&["a"]]);
    check(r#"a 'b c' "d e" f\ g ''"#, &[&["a", "b c", "d e", "f g", ""]]);
    check(
        r#"a 'x'"y"\z '$(id) `id` * ~ {a,b} > # ! \n'"#,
        &[&["a", "xyz", r"$(id) `id` * ~ {a,b} > # ! \n"]],
    );
    check(r#"a "\$x \` \" \\ \n" \;\&\|\'"#, &[&["a", r#"$x ` " \ \n"#, ";&|'"]]);
    check("a 'gr\u{fc}\u{df}e' \"\u{1f600}\"", &[&["a", "gr\u{fc}\u{df}e", "\u{1f600}"]]);
    check("'r'm -rf x", &[&["rm", "-rf", "x"]]);
    check("dd if=a of=b", &[&["dd", "if=a", "of=b"]]);
    check("a 'two\nlines'", &[&["a", "two\nlines"]]);
}

#[test]
fn i48_what_is_in_doubt_is_not_accounted_for() {
    let doubtful = [
        "",
        " ",
        "\n",
        ";",
        "a;;b",
        "a;&b",
        "a|&b",
        "&a",
        "a&&",
        "a||\n",
        "a|",
        "a &&& b",
        "a ||| b",
        "|a",
        "'a",
        "\"a",
        "a\\",
        "a\\\nb",
        "\"a\\\nb\"",
        "$a",
        "a $b",
        "a \"$b\"",
        "a ${b}",
        "a $(b)",
        "a `b`",
        "a \"`b`\"",
        "a *",
        "a ?",
        "a [b]",
        "a ~",
        "a ~/x",
        "a b=~",
        "a {b,c}",
        "a >b",
        "a <b",
        "a 2>&1",
        "a <<b",
        "a <<<b",
        "(a)",
        "a (b)",
        "a() b",
        "{ a; }",
        "a #b",
        "a b#c",
        "! a",
        "a !b",
        "a \"!b\"",
        "x=1 a",
        "x=1",
        "x+=1 a",
        "'x=1' a",
        "a =b",
        "%1",
        "''",
        "'' a",
        "if a",
        "then a",
        "for a",
        "while a",
        "case a",
        "function a",
        "time a",
        "coproc a",
        "eval a",
        "exec a",
        ". a",
        "source a",
        "alias a",
        "command a",
        "builtin a",
        "set -k",
        "export a",
        "printf -v a",
        "test -v a",
        "'[' a",
        "let a",
        "trap a",
        "exit",
        "'eval' a",
        "e\\val a",
        "a\rb",
        "a\u{b}b",
        "a\u{c}b",
        "a\u{7f}b",
        "a\u{0}b",
        "a\u{85}b",
        "a\u{a0}b",
        "a\u{3000}b",
        "a\u{2028}b",
        "a 'b\u{a0}c'",
        "a '\u{1}'",
        "a \u{fc}",
        "\u{fc}",
        "a^b",
        "find . $IFS-exec id",
    ];
    for text in doubtful {
        let read = read_commands(text);
        assert!(read.is_err(), "{text:?}: {read:?}");
        let target = Target::Other { what: UNACCOUNTED_COMMAND.to_owned(), value: text.to_owned() };
        assert_eq!(command_targets(text), [target]);
    }
    assert_eq!(
        read_commands("a $b").unwrap_err().to_string(),
        "account for the command at byte 2: a `$` may stand for anything"
    );
}

#[test]
fn limits_make_a_line_unaccounted_for_and_are_exact() {
    let line = |commands: usize| vec!["a"; commands].join(";");
    assert_eq!(command_targets(&line(SHELL_COMMANDS_MAX)).len(), SHELL_COMMANDS_MAX);
    assert!(read_commands(&line(SHELL_COMMANDS_MAX + 1)).is_err());
    assert!(read_commands(&"a".repeat(SHELL_BYTES_MAX)).is_ok());
    assert!(read_commands(&"a".repeat(SHELL_BYTES_MAX + 1)).is_err());
}
