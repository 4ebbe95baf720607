use super::*;

fn check(line: &str, expected: Command) {
    assert_eq!(parse(line.split_whitespace().map(String::from)).unwrap(), expected, "`{line}`");
}

#[test]
fn commands_and_flags() {
    check("test", Command::Test(Test { fast: false, ci: false }));
    check("test --fast", Command::Test(Test { fast: true, ci: false }));
    check("ci", Command::Test(Test { fast: false, ci: true }));
    check("edges", Command::Edges);
    check("agent-hooks", Command::AgentHooks);
    check("models --json --check", Command::Models(Models { check: true, json: true }));
    check("redaction-report --misses jwt", Command::RedactionReport(vec!["--misses".into(), "jwt".into()]));
    check("fuzz text --seed 7", Command::Fuzz(vec!["text".into(), "--seed".into(), "7".into()]));
    check("agentdojo --suite slack", Command::AgentDojo(vec!["--suite".into(), "slack".into()]));
    check("whybench --seeds 5", Command::WhyBench(vec!["--seeds".into(), "5".into()]));
    check("redaction-bench --mb 8", Command::RedactionBench(vec!["--mb".into(), "8".into()]));
    check("tau-bench --misses", Command::TauBench(vec!["--misses".into()]));
    check("who-and-when", Command::WhoAndWhen);
    check("agentrx", Command::AgentRx);
    check("bench -- --quick", Command::Bench(vec!["--".into(), "--quick".into()]));
}

#[test]
fn help_is_found_before_the_separator_only() {
    check("--help", Command::Help);
    check("models --help", Command::Help);
    check("bench -- --help", Command::Bench(vec!["--".into(), "--help".into()]));
}

#[test]
fn what_is_not_known_is_refused() {
    for line in ["", "tests", "test --slow", "ci --fast", "edges x", "agent-hooks x", "models --jsn"] {
        assert!(parse(line.split_whitespace().map(String::from)).is_err(), "`{line}`");
    }
}
