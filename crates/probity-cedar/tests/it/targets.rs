//! What a call touches, resource by resource.

use probity_contract::{Access, Target};

use crate::scene::{Said, call, check, command, path, tree};

fn url(url: &str, host: &str) -> Target {
    Target::Url { url: url.to_owned(), host: host.to_owned(), port: 443, method: "GET".to_owned() }
}

fn other(what: &str, value: &str) -> Target {
    Target::Other { what: what.to_owned(), value: value.to_owned() }
}

const DOCS: &str = r#"@id("docs") permit(principal, action == Probity::Action::"fs_read", resource is Probity::Path)
    when { resource.root == "work" && resource.path like "docs/*" };"#;
const NO_SECRETS: &str = r#"@id("secrets") forbid(principal, action, resource is Probity::Path)
    when { resource.path like "*secret*" };"#;

#[track_caller]
fn reads(text: &str, targets: Vec<Target>, expected: Said) -> String {
    check(text, &call("fs_read", "{}", targets), expected)
}

#[test]
fn a_permit_must_hold_for_every_target() {
    reads(DOCS, vec![path("docs/a", "docs/a")], Said::Allow);
    reads(DOCS, vec![path("docs/a", "docs/a"), path("docs/b", "docs/b")], Said::Allow);
    reads(DOCS, vec![path("docs/a", "docs/a"), path("src/b", "src/b")], Said::Abstain);
    reads(DOCS, vec![path("docs/a", "docs/a"), url("https://a.example/", "a.example")], Said::Abstain);
    reads(DOCS, Vec::new(), Said::Abstain);
}

#[test]
fn a_forbid_of_one_target_denies_and_says_which() {
    let text = format!("{DOCS}{NO_SECRETS}");
    let reason = reads(&text, vec![path("docs/a", "docs/a"), path("docs/secret", "docs/secret")], Said::Deny);
    assert_eq!(reason, "the policy `secrets` forbids the path `work/docs/secret`");
}

#[test]
fn a_link_is_judged_in_both_forms() {
    let text = format!("{DOCS}{NO_SECRETS}");
    reads(&text, vec![path("docs/a", "src/a")], Said::Abstain);
    reads(&text, vec![path("src/a", "docs/a")], Said::Abstain);
    reads(&text, vec![path("docs/a", "docs/b")], Said::Allow);
    reads(&text, vec![path("docs/a", "docs/secret")], Said::Deny);
    reads(&text, vec![path("docs/secret", "docs/a")], Said::Deny);
}

#[test]
fn permits_of_several_policies_together_cover_a_call() {
    let text = format!(
        r#"{DOCS}@id("src") permit(principal, action, resource == Probity::Path::"work/src/lib.rs");"#
    );
    reads(&text, vec![path("docs/a", "docs/a"), path("src/lib.rs", "src/lib.rs")], Said::Allow);
}

#[test]
fn a_question_about_one_target_asks_and_tells_what_nobody_permits() {
    let text = r#"@ask("is it needed?") permit(principal, action, resource is Probity::Path)
        when { resource.path like "docs/*" };"#;
    let reason = reads(text, vec![path("docs/a", "docs/a"), path("src/b", "src/b")], Said::Ask);
    assert_eq!(reason, "the policy `a.cedar#1` asks: is it needed?; no policy permits the path `work/src/b`");
}

#[test]
fn a_tree_is_no_path() {
    // A permit of paths is no permit of all that lies below one of them.
    reads(DOCS, vec![tree("docs/a")], Said::Abstain);
    reads(
        r#"permit(principal, action, resource is Probity::Tree) when { resource.path like "docs/*" };"#,
        vec![tree("docs/a")],
        Said::Allow,
    );
    let both =
        r#"permit(principal, action, resource) when { resource has path && resource.path like "docs/*" };"#;
    reads(both, vec![tree("docs/a"), path("docs/a", "docs/a")], Said::Allow);
}

#[test]
fn what_is_done_to_a_path_is_told() {
    let text = r#"permit(principal, action, resource is Probity::Path)
        when { resource.access == Probity::Access::"write" };"#;
    reads(text, vec![path("a", "a")], Said::Abstain);
    let write = Target::Path {
        root: "work".to_owned(),
        path: "a".to_owned(),
        resolved: "a".to_owned(),
        access: Access::Write,
        recursive: false,
    };
    reads(text, vec![write], Said::Allow);
}

#[test]
fn an_address_has_its_parts() {
    let text = r#"permit(principal, action, resource is Probity::Url) when {
        resource.host like "*.example" && resource.port == 443 && resource.scheme == "https" &&
        resource.method == "GET" && resource.url like "https://a.example/docs/*" };"#;
    reads(text, vec![url("https://a.example/docs/x", "a.example")], Said::Allow);
    reads(text, vec![url("http://a.example/docs/x", "a.example")], Said::Abstain);
    reads(text, vec![url("https://a.example/src/x", "a.example")], Said::Abstain);
}

#[test]
fn a_command_is_judged_by_its_words() {
    let runs = |text: &str, argv: &[&str], expected| {
        check(text, &call("shell", "{}", vec![command(argv)]), expected);
    };
    let log = r#"permit(principal, action, resource is Probity::Command)
        when { resource.program == "git" && resource.line like "git log *" };"#;
    runs(log, &["git", "log", "-p"], Said::Allow);
    runs(log, &["git", "log -p"], Said::Abstain);
    runs(log, &["git", "log ", "-p"], Said::Abstain);
    runs(log, &["git log", "-p"], Said::Abstain);
    runs(log, &["git", "log"], Said::Abstain);
    let force = r#"forbid(principal, action, resource is Probity::Command) when { resource.words.contains("--force") };"#;
    runs(force, &["git", "push", "--force"], Said::Deny);
    runs(force, &["git", "push", "x --force"], Said::Abstain);
    runs(
        r#"permit(principal, action, resource is Probity::Command) when { resource.program == "" };"#,
        &[],
        Said::Allow,
    );
}

#[test]
fn other_targets_have_a_sort_and_a_value() {
    let text = r#"permit(principal, action, resource is Probity::Other)
        when { resource.what == "recipient" && resource.value like "*@example.org" };"#;
    reads(text, vec![other("recipient", "ada@example.org")], Said::Allow);
    reads(text, vec![other("account", "ada@example.org")], Said::Abstain);
}

#[test]
fn policies_about_two_targets_at_once_have_the_sets() {
    let text = r#"
        permit(principal, action, resource);
        forbid(principal, action, resource) when {
            context.targets.roots.contains("work") && !["a.example"].containsAll(context.targets.hosts) };
        forbid(principal, action, resource) when { context.targets.programs.contains("curl") };"#;
    let read = path("x", "x");
    reads(text, vec![read.clone(), url("https://a.example/", "a.example")], Said::Allow);
    reads(text, vec![read.clone(), url("https://b.example/", "b.example")], Said::Deny);
    reads(text, vec![url("https://b.example/", "b.example")], Said::Allow);
    reads(text, vec![command(&["curl", "x"])], Said::Deny);
}

#[test]
fn a_long_target_is_counted_and_not_quoted() {
    let long = "secret".repeat(40);
    let reason = reads(NO_SECRETS, vec![path(&long, &long)], Said::Deny);
    assert_eq!(reason, "the policy `secrets` forbids a path of 245 bytes");
}
