//! `why`, `diff`, `export` and `import`: what they say of runs, word for word, and what must not come out of them.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use probity_testkit::fake_token;
use serde_json::Value;

use crate::cli::{Cli, Done};
use crate::snapshots::check;

/// A run whose answer adds two figures of a bill, copies one, and makes one up.
fn billed(cli: &Cli, vat: &str) -> String {
    cli.file(
        "m.toml",
        "[[rule]]\nname = 'say'\nwhen = [{ kind = 'context', name = 'bill', match = 'VAT (?<vat>[\\d.]+)' }]\n\
         text = 'Bill B-7731 comes to 2449.99 EUR, {vat} EUR of them VAT; see ZX-5512.'\n",
    );
    cli.file("bill.txt", format!("Bill B-7731\nnet 2058.81 EUR\nVAT {vat} EUR\n"));
    let done =
        cli.run(&["run", "What is due?", "--model", "rules/m.toml", "--context", "bill=bill.txt", "--json"]);
    done.json()["run"].as_str().unwrap().to_owned()
}

#[test]
fn why_of_an_answer_a_call_and_a_piece() {
    let cli = Cli::new();
    billed(&cli, "391.18");
    check("why", &cli, &["why", "last"]);
    check("why_text", &cli, &["why", "last", "--text", "391.18 EUR"]);
    check("why_not_said", &cli, &["why", "last", "--text", "nobody said so"]);
    check("why_no_call", &cli, &["why", "last", "--call", "c7"]);
    check("why_json", &cli, &["why", "last", "--json"]);
    check("why_confirm", &cli, &["why", "last", "--confirm", "--budget", "$0.50"]);
}

#[test]
fn why_of_the_demo() {
    let cli = Cli::new();
    cli.run(&["demo"]);
    check("why_demo", &cli, &["why", "last"]);
    check("why_demo_call", &cli, &["why", "last", "--call", "c5", "--pointer", "/account"]);
    let calls = cli.run(&["why", "last", "--call", "c5", "--json"]).json();
    let marks: Vec<&Value> = calls["atoms"].as_array().unwrap().iter().map(|atom| &atom["mark"]).collect();
    assert_eq!(marks, ["copied"; 4]);
}

#[test]
fn diff_of_two_runs() {
    let cli = Cli::new();
    let (a, b) = (billed(&cli, "391.18"), billed(&cli, "12.50"));
    check("diff", &cli, &["diff", &a, &b]);
    check("diff_of_itself", &cli, &["diff", &a, &a]);
    let two = cli.run(&["diff", &a, &b, "--json"]).json();
    assert_eq!(two["is_equal"], false);
    assert_eq!(two["windows"][0]["only"][0].as_array().unwrap().len(), 1, "{two}");
    let done = cli.run(&["diff", &a, &b, "--html", "two.html"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    is_sound(&fs::read_to_string(cli.work().join("two.html")).unwrap());
}

#[test]
fn an_export_is_the_record_or_the_conversation() {
    let cli = Cli::new();
    billed(&cli, "391.18");
    let done = cli.run(&["export", "last"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let lines: Vec<Value> = done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let entries = lines.iter().filter(|line| line["entry"].is_object()).count();
    assert_eq!(entries, cli.record().lines().len());
    for line in &lines {
        // Each is a line of a record as this program reads it.
        let _emission: probity_contract::Emission = serde_json::from_value(line.clone()).unwrap();
    }
    check("export_messages", &cli, &["export", "last", "--format", "messages"]);
    let all = cli.run(&["export", "last", "--json"]).json();
    assert_eq!(all["lines"].as_array().unwrap().len(), lines.len());
}

#[test]
fn what_is_exported_as_messages_is_imported_again() {
    let cli = Cli::new();
    billed(&cli, "391.18");
    let done = cli.run(&["export", "last", "--format", "messages"]);
    cli.file("messages.json", &done.out);
    let imported = cli.run(&["import", "messages.json", "--format", "messages", "--json"]).json();
    let run = imported["runs"][0]["run"].as_str().unwrap().to_owned();
    let why = cli.run(&["why", &run, "--json"]).json();
    let text = why["text"].as_str().unwrap();
    assert!(text.starts_with("Bill B-7731 comes to 2449.99 EUR"), "{why}");
    let edges: Vec<&Value> = why["chains"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|chain| chain["way"].as_array().unwrap())
        .map(|link| &link["edge"])
        .collect();
    assert!(edges.len() > 2 && edges.iter().skip(1).any(|edge| *edge == "inferred"), "{why}");
    assert_eq!(why["imported"], "messages");
    let path = cli.data().join(format!("runs/{run}.prob"));
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    let again = cli.run(&["import", "messages.json", "--json"]).json();
    assert_eq!(again["runs"][0]["was_there"], true, "{again}");
}

#[test]
fn a_trace_that_is_cut_off_is_refused_whole() {
    let cli = Cli::new();
    cli.file(
        "whole.json",
        r#"[{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]"#,
    );
    cli.file("cut.json", r#"[{"role": "user", "content": "hello"}, {"role": "assis"#);
    let done = cli.run(&["import", "whole.json", "cut.json"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.err.contains("cut.json"), "{done:?}");
    assert!(cli.records().is_empty(), "nothing is kept of either");
    assert_eq!(cli.run(&["import", "gone.json"]).code, Some(9));
    assert_eq!(cli.run(&["import", "whole.json", "--format", "no-such"]).code, Some(2));
}

/// Whether a page is whole, loads nothing and runs nothing.
fn is_sound(html: &str) {
    assert!(html.contains("default-src 'none'") && html.ends_with("</html>\n"));
    for word in ["<script", "<img", "<iframe", "<link", "http://", "https://", "url("] {
        assert!(!html.contains(word), "{word}");
    }
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html;
    while let Some((_, behind)) = rest.split_once('<') {
        let (tag, behind) = behind.split_once('>').unwrap();
        rest = behind;
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
        let has_handler =
            [" src=", " onload=", " onerror=", "javascript:"].iter().any(|word| tag.contains(word));
        assert!(!has_handler, "{tag}");
        if tag.starts_with('!') || tag.ends_with('/') || name == "meta" || name.is_empty() {
            continue;
        }
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "{tag}");
        } else {
            open.push(name);
        }
    }
    assert_eq!(open, Vec::<&str>::new());
}

#[test]
fn a_page_holds_hostile_text_as_text() {
    let cli = Cli::new();
    let hostile =
        "</pre><script>alert(1)</script><img src=x onerror=alert(2)> \\\" onload=\\\"x \u{1b}[2J B-7731";
    cli.file(
        "m.toml",
        format!("[[rule]]\nname = 'say'\ntext = \"{}\"\n", hostile.replace('\u{1b}', "\\u001b")),
    );
    cli.file("note.txt", hostile);
    let context = format!("{}=note.txt", "<b>note");
    let done = cli.run(&["run", hostile, "--model", "rules/m.toml", "--context", &context]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let done = cli.run(&["why", "last", "--html", "why.html"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(!done.out.contains('\u{1b}'), "{done:?}");
    let path = cli.work().join("why.html");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let html = fs::read_to_string(&path).unwrap();
    is_sound(&html);
    assert!(html.contains("&lt;script&gt;") && !html.contains('\u{1b}'));
}

#[test]
fn a_page_is_not_written_over_what_is_there() {
    let cli = Cli::new();
    billed(&cli, "391.18");
    let path = cli.file("why.html", "mine");
    let other = cli.file("other.txt", "other");
    let done = cli.run(&["why", "last", "--html", "why.html"]);
    assert_eq!((done.code, done.out.as_str()), (Some(2), ""), "{done:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&other, &path).unwrap();
    let done = cli.run(&["why", "last", "--html", "why.html", "--force"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(fs::read_to_string(&other).unwrap(), "other", "the link was not followed");
    is_sound(&fs::read_to_string(&path).unwrap());
}

#[test]
fn a_page_for_others_has_no_paths_and_urls() {
    let cli = Cli::new();
    cli.file(
        "m.toml",
        "[[rule]]\nname = 'say'\ntext = 'See https://intern.example/x and /home/ada/plan.txt of B-7731.'\n",
    );
    cli.run(&["run", "x", "--model", "rules/m.toml"]);
    for (tier, is_there) in [("human", false), ("same-principal", true)] {
        let done = cli.run(&["why", "last", "--html", "why.html", "--tier", tier, "--force"]);
        assert_eq!(done.code, Some(0), "{done:?}");
        let html = fs::read_to_string(cli.work().join("why.html")).unwrap();
        assert_eq!(html.contains("intern.example"), is_there, "{tier}");
        assert_eq!(html.contains("/home/ada"), is_there, "{tier}");
    }
    let done = cli.run(&["export", "last", "--tier", "human"]);
    assert!(!done.out.contains("intern.example") && !done.out.contains("/home/ada"), "{done:?}");
}

#[test]
fn no_credential_comes_out_of_why_diff_export_or_a_page() {
    let token = fake_token(21);
    let cli = Cli::new();
    cli.file(
        "m.toml",
        "[[rule]]\nname = 'say'\nwhen = [{ kind = 'context', match = '(?<all>(?s:.+))' }]\n\
         text = 'It says {all}, which is B-7731.'\n",
    );
    let mut runs = Vec::new();
    for text in ["first", "second"] {
        // The name of a context, its text, what is asked and the answer hold it; atoms begin and end within it.
        cli.file("note.txt", format!("{text}: B-7731, GITHUB_TOKEN={token} and \"{token}\" 12-{token}-77\n"));
        let context = format!("{token}=note.txt");
        let asked = format!("what of {token}?");
        cli.run(&["run", &asked, "--model", "rules/m.toml", "--context", &context]);
        runs.push(cli.records().last().unwrap().start().unwrap().run.as_str().to_owned());
    }
    runs.sort();
    let commands: [&[&str]; 8] = [
        &["why", &runs[1], "--html", "why.html", "--tier", "same-principal", "--force"],
        &["why", &runs[1], "--json"],
        &["why", &runs[1], "--text", "B-7731"],
        &["diff", &runs[0], &runs[1], "--html", "two.html", "--tier", "same-principal", "--force"],
        &["diff", &runs[0], &runs[1], "--json"],
        &["export", &runs[1]],
        &["export", &runs[1], "--json"],
        &["export", &runs[1], "--format", "messages"],
    ];
    for args in commands {
        let done = cli.run(args);
        assert!(matches!(done.code, Some(0 | 1)), "{done:?}");
        let mut all = done.all();
        for page in ["why.html", "two.html"] {
            all.push_str(&fs::read_to_string(cli.work().join(page)).unwrap_or_default());
        }
        assert!(all.contains("[REDACTED"), "{args:?}: {all}");
        // No piece of it that would help anybody to guess the rest.
        for at in 4..token.len() - 8 {
            let piece = token.get(at..at + 8).unwrap();
            assert!(!all.contains(piece), "{args:?} shows `{piece}`");
        }
    }
}

#[test]
fn what_the_demo_was_told_is_confirmed_and_its_run_is_played_again() {
    let cli = Cli::new();
    cli.run(&["demo"]);
    let done = cli.run(&["why", "last", "--text", "5,000.00 EUR", "--confirm", "--json"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let confirmed = done.json()["confirmed"].clone();
    assert_eq!((&confirmed["ended"], &confirmed["is_exact"]), (&Value::from("complete"), &Value::from(true)));
    let convicted: Vec<&Value> =
        confirmed["verdicts"].as_array().unwrap().iter().filter(|one| one["is_conviction"] == true).collect();
    assert_eq!(convicted[0]["what"], "context vendor-note", "{convicted:?}");
    assert!(convicted.iter().all(|one| one["what"] != "context handbook"), "{convicted:?}");
    let again = cli.run(&["replay", "last", "--json"]).json();
    assert_eq!((&again["is_same"], again["entries"].as_u64() > Some(40)), (&Value::from(true), true));
    let without = cli.run(&["replay", "last", "--without", "i3", "--json"]);
    assert_eq!((without.code, &without.json()["is_kept"]), (Some(1), &Value::from(false)));
    assert!(without.json()["answer"].as_str().unwrap().contains("500.00 EUR"));
    cli.file("other.txt", "Nothing of interest.");
    let other = cli.run(&["replay", "last", "--with", "i3=other.txt", "--json"]).json();
    assert_eq!(other["is_kept"], false);
    assert_eq!(cli.run(&["replay", "last", "--without", "i99"]).code, Some(2));
    let page = cli.run(&["why", "last", "--text", "5,000.00 EUR", "--confirm", "--html", "why.html"]);
    assert_eq!(page.code, Some(0), "{page:?}");
    let page = fs::read_to_string(cli.work().join("why.html")).unwrap();
    is_sound(&page);
    assert!(page.contains("Tested by counterfactuals"));
    assert!(page.contains("<path class=\"tested\"") && page.contains("a confirmed cause"), "{page}");
    assert!(page.contains("What a test has confirmed") && page.contains("0 of 4 [0.00 to 0.68]"), "{page}");
    // The page says as well as the terminal what cut a test short.
    let cut = ["why", "last", "--text", "5,000.00 EUR", "--confirm", "--budget", "2", "--html", "cut.html"];
    let cut = cli.run(&cut);
    let words = "the budget was used up before everything had a verdict";
    assert!(cut.out.contains(words) && cut.err.contains(", 2 at most"), "{cut:?}");
    let page = fs::read_to_string(cli.work().join("cut.html")).unwrap();
    is_sound(&page);
    assert!(page.contains(words) && page.contains("no cause was confirmed before the test ended"), "{page}");
    let untested = cli.run(&["why", "last", "--text", "5,000.00 EUR", "--html", "plain.html"]);
    assert_eq!(untested.code, Some(0), "{untested:?}");
    let untested = fs::read_to_string(cli.work().join("plain.html")).unwrap();
    assert!(!untested.contains("<path class=\"tested\"") && !untested.contains("a confirmed cause"));
}

#[test]
fn a_confirmed_cause_is_marked_within_the_text_and_told_down_to_its_sentence() {
    let cli = Cli::new();
    cli.run(&["demo"]);
    let asked = ["why", "last", "--text", "5,000.00 EUR"];
    let plain = cli.run(&asked);
    assert!(plain.out.contains("⟦=1 5,000.00⟧"), "{plain:?}");
    let told = cli.run(&[&asked[..], &["--confirm", "--sentences"]].concat());
    assert!(told.out.contains("⟦!=1 5,000.00⟧"), "{told:?}");
    let json = cli.run(&[&asked[..], &["--confirm", "--sentences", "--json"]].concat()).json();
    assert_eq!(json["atoms"][0]["is_confirmed"], true);
    let of_note =
        json["confirmed_further"].as_array().unwrap().iter().find(|test| {
            test["about"].as_str().is_some_and(|about| about.ends_with("by the sentences of i3"))
        });
    let verdicts = of_note.unwrap()["verdicts"].as_array().unwrap();
    let convicted: Vec<&Value> = verdicts.iter().filter(|one| one["is_conviction"] == true).collect();
    assert_eq!(convicted.len(), 1, "{verdicts:?}");
    assert!(convicted[0]["what"].as_str().unwrap().contains("the limit for paym"), "{convicted:?}");
    assert!(verdicts.len() > 4);
}

#[test]
fn a_reply_counts_as_the_same_where_a_pattern_or_a_program_says_so() {
    let cli = Cli::new();
    cli.run(&["demo"]);
    let asked = ["why", "last", "--text", "5,000.00 EUR", "--confirm", "--json"];
    let with = |more: &[&str]| cli.run(&[&asked[..], more].concat());
    let note = |done: &Done| {
        let verdicts = done.json()["confirmed"]["verdicts"].clone();
        let is_note = |one: &&Value| one["what"] == "context vendor-note";
        verdicts.as_array().unwrap().iter().find(is_note).unwrap()["is_conviction"] == true
    };
    let by_pattern = with(&["--kept-if", r"5,000\.00"]);
    assert!(note(&by_pattern), "{by_pattern:?}");
    assert_eq!(by_pattern.json()["confirmed"]["is_exact"], true);
    let judge = cli.program("judge", "#!/bin/sh\ngrep -q '5,000.00'\n");
    let by_program = with(&["--kept-if-command", &judge]);
    assert!(note(&by_program), "{by_program:?}");
    assert_eq!(by_program.json()["confirmed"]["is_exact"], false, "a program is fuzzy");
    // Whatever a reply is, it stays: nobody is to blame.
    let always = cli.program("always", "#!/bin/sh\nexit 0\n");
    assert!(!note(&with(&["--kept-if-command", &always])));

    // What cannot tell is an error, and so is what does not hold of the recorded reply.
    for (name, script, words) in [
        ("broken", "#!/bin/sh\nexit 3\n", "ended with 3"),
        ("killed", "#!/bin/sh\nkill -9 $$\n", "ended by a signal"),
    ] {
        let done = with(&["--kept-if-command", &cli.program(name, script)]);
        assert_eq!(done.code, Some(1), "{done:?}");
        assert!(done.err.contains(words) && !done.out.contains("is_conviction"), "{done:?}");
    }
    let none = with(&["--kept-if-command", "./no-such-judge"]);
    assert!(none.code == Some(1) && none.err.contains("cannot be run"), "{none:?}");
    let never = cli.program("never", "#!/bin/sh\nexit 1\n");
    let both = ["why", "last", "--pointer", "/a", "--confirm", "--kept-if", "5"];
    assert_eq!(cli.run(&both).code, Some(2), "one of them would be passed over");
    for more in [["--kept-if", "no such words"], ["--kept-if-command", &never], ["--kept-if", "("]] {
        assert_eq!(with(&more).code, Some(2), "{more:?}");
    }
}

/// Reads the file that a note names, and tells what stands in it; a note that says so writes one.
const READER: &str = r#"
[[rule]]
name = "tell"
when = [{ kind = "tool_result", tool = "fs_read", match = 'the word is (?<word>\w+)' }]
text = "The word is {word}."

[[rule]]
name = "write"
when = [{ kind = "context", name = "note", match = 'write (?<file>[\w/]+\.txt)' }]
text = ""
[[rule.call]]
tool = "fs_write"
arguments = { path = "{file}", content = "written" }

[[rule]]
name = "read"
when = [{ kind = "context", name = "note", match = 'see (?<file>[\w/]+\.txt)' }]
unless = [{ kind = "tool_result", tool = "fs_read" }]
text = ""
[[rule.call]]
tool = "fs_read"
arguments = { path = "{file}" }

[[rule]]
name = "none"
text = "I know no word."
"#;

#[test]
fn a_fork_reads_the_world_as_it_is_where_it_is_told_to_and_the_gate_lets_it() {
    let cli = Cli::new();
    cli.file("reader.toml", READER);
    cli.file("note.txt", "see open/one.txt");
    cli.file("data/open/one.txt", "the word is amber\n");
    cli.file("data/open/two.txt", "the word is basalt\n");
    cli.file("data/closed/three.txt", "the word is cobalt\n");
    cli.file(
        "task.toml",
        "model = 'rules/reader.toml'\nprompt = 'What is the word?'\n[[context]]\nname = 'note'\nfile = 'note.txt'\n\
         [tools]\nuse = ['fs_read', 'fs_write']\nroots = [{ name = 'data', path = 'data', write = true }]\n\
         [policy]\nallow = ['fs_read(data/open/**)', 'fs_write(data/open/**)']\n",
    );
    let run = cli.run(&["run", "task.toml", "--json"]).json();
    assert_eq!(run["answer"], "The word is amber.", "{run}");
    let run = run["run"].as_str().unwrap();
    let runs = |cli: &Cli| cli.run(&["runs", "list", "--json"]).json()["runs"].as_array().unwrap().len();
    let fork = |note: &str, live: bool| {
        cli.file("other.txt", note);
        let mut args = vec!["replay", run, "--with", "i1=other.txt", "--json"];
        if live {
            args.extend(["--live-reads", "task.toml"]);
        }
        cli.run(&args).json()
    };
    // Nobody allowed it: it stops there, as ever.
    let before = runs(&cli);
    let told = fork("see open/two.txt", false);
    assert_eq!((&told["ended"], runs(&cli)), (&Value::from("diverged"), before), "{told}");

    let told = fork("see open/two.txt", true);
    assert_eq!(told["answer"], "The word is basalt.", "{told}");
    let read = told["live_reads"][0].as_str().unwrap().to_owned();
    assert_eq!(runs(&cli), before + 1);
    let shown = cli.run(&["runs", "show", &read]);
    assert!(shown.out.contains("a live read for a fork of") && shown.out.contains("fs_read"), "{shown:?}");

    // What was recorded is served from the record, whatever stands there now.
    cli.file("data/open/one.txt", "the word is changed\n");
    let told = fork("or see open/one.txt", true);
    assert_eq!(
        (&told["answer"], &told["live_reads"]),
        (&"The word is amber.".into(), &Value::Array(Vec::new()))
    );

    // The gate says no, the tool has an effect, there is no such file.
    let told = fork("see closed/three.txt", true);
    assert_eq!(told["ended"], "diverged", "{told}");
    let told = fork("write open/four.txt", true);
    assert_eq!((&told["ended"], &told["live_reads"]), (&"diverged".into(), &Value::Array(Vec::new())));
    assert!(!cli.work().join("data/open/four.txt").exists());
    let told = fork("see open/nowhere.txt", true);
    assert_eq!(told["answer"], "I know no word.", "an error is read, too: {told}");

    // A later task file may declare less, and what it no longer lets through is not read.
    cli.file(
        "less.toml",
        "model = 'rules/reader.toml'\nprompt = 'What is the word?'\n[tools]\nuse = ['fs_read']\n\
         roots = [{ name = 'data', path = 'data' }]\n",
    );
    cli.file("other.txt", "see open/two.txt");
    let less = cli.run(&["replay", run, "--with", "i1=other.txt", "--json", "--live-reads", "less.toml"]);
    assert_eq!(less.json()["ended"], "diverged", "{less:?}");
    let none = cli.run(&["replay", run, "--with", "i1=other.txt", "--live-reads", "missing.toml"]);
    assert_eq!(none.code, Some(2), "{none:?}");
}

/// Makes a plan by a skill, looks around, and then follows its own words.
const PLANNER: &str = r#"
[[rule]]
name = "follow"
when = [{ kind = "reply", match = 'Plan: factor (?<factor>\d+\.\d+)' }, { kind = "tool_result" }]
text = "Converted with {factor}."

[[rule]]
name = "plan"
when = [{ kind = "context", name = "skill", match = 'always take the factor (?<factor>\d+\.\d+)' }]
text = "Plan: factor {factor}."
[[rule.call]]
tool = "fs_list"
arguments = {}

[[rule]]
name = "none"
text = "I have no factor."
"#;

#[test]
fn the_chain_goes_back_from_a_reply_that_is_confirmed_to_what_made_it() {
    let cli = Cli::new();
    cli.file("planner.toml", PLANNER);
    cli.file("skill.txt", "Skill: conversions always take the factor 1.0731, say so at once.");
    cli.file("table.txt", "Table: nothing of interest.");
    cli.file("data/one.txt", "1");
    let run = cli.run(&[
        "run",
        "Convert the total.",
        "--model",
        "rules/planner.toml",
        "--context",
        "skill=skill.txt",
        "--context",
        "table=table.txt",
        "--root",
        "data",
        "--allow",
        "fs_list",
        "--json",
    ]);
    assert_eq!(run.json()["answer"], "Converted with 1.0731.", "{run:?}");
    let told = cli.run(&["why", "last", "--confirm", "--json", "--html", "chain.html"]).json();
    let convicted = |test: &Value| -> Vec<Value> {
        let verdicts = test["verdicts"].as_array().unwrap().iter();
        verdicts.filter(|one| one["is_conviction"] == true).map(|one| one["what"].clone()).collect()
    };
    let first = convicted(&told["confirmed"]);
    assert!(first.contains(&"the model's reply".into()), "{first:?}");
    let further = told["confirmed_further"].as_array().unwrap();
    assert_eq!(
        (further.len(), convicted(&further[0])),
        (1, vec![Value::from("context skill")]),
        "{further:?}"
    );
    assert!(further[0]["about"].as_str().unwrap().ends_with("m1"), "{further:?}");
    // On the board the skill hangs on the reply that it made.
    let page = fs::read_to_string(cli.work().join("chain.html")).unwrap();
    is_sound(&page);
    assert_eq!(page.matches("<path class=\"tested\"").count(), first.len() + 1, "{page}");
}

#[test]
fn an_imported_conversation_is_tested_by_forks_from_its_prefix() {
    let cli = Cli::new();
    cli.file(
        "chat.json",
        r#"[{"role":"system","content":"You answer questions about limits."},
            {"role":"user","content":"What is the limit?"},
            {"role":"assistant","content":null,"tool_calls":[
                {"id":"a1","type":"function","function":{"name":"lookup","arguments":"{\"what\":\"limit\"}"}}]},
            {"role":"tool","tool_call_id":"a1","content":"the limit of Northgate is 4,200.00 EUR"},
            {"role":"assistant","content":"The limit is 4,200.00 EUR."}]"#,
    );
    cli.file(
        "m.toml",
        "[[rule]]\nname = 'say'\nwhen = [{ kind = 'tool_result', match = 'is (?<limit>[\\d,.]+) EUR' }]\n\
         text = 'The limit is {limit} EUR.'\n[[rule]]\nname = 'none'\ntext = 'I do not know.'\n",
    );
    let imported = cli.run(&["import", "chat.json"]);
    assert_eq!(imported.code, Some(0), "{imported:?}");
    let told = cli.run(&["why", "last", "--confirm", "--model", "rules/m.toml", "--json"]).json();
    let verdicts = told["confirmed"]["verdicts"].as_array().unwrap();
    let convicted: Vec<&Value> = verdicts.iter().filter(|one| one["is_conviction"] == true).collect();
    assert_eq!(convicted.len(), 1, "{verdicts:?}");
    assert_eq!(convicted[0]["what"], "result of lookup (c1)");
    assert_eq!(told["atoms"][0]["is_confirmed"], true);
    // The model of an import is a name and nothing that could be asked: one must be given.
    assert_eq!(cli.run(&["why", "last", "--confirm"]).code, Some(2));
}
