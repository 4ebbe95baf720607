use super::{Options, parse};
use crate::policies::Setting;
use crate::trial::Way;

fn parsed(line: &str) -> anyhow::Result<Option<Options>> {
    let own = ["--python", "p", "--script", "s"].into_iter();
    parse(own.chain(line.split_whitespace()).map(str::to_owned))
}

#[test]
fn flags_narrow_what_is_run() {
    let all = parsed("").unwrap().unwrap();
    assert_eq!((all.settings.len(), all.suites.len(), all.way), (Setting::ALL.len(), 0, Way::Straight));
    let some =
        parsed("--policy none --policy person --suite slack --way resumed --json --jobs 1").unwrap().unwrap();
    assert_eq!(some.settings, [Setting::None, Setting::Person]);
    assert_eq!(
        (some.suites, some.way, some.json, some.jobs),
        (vec!["slack".to_owned()], Way::Resumed, true, 1)
    );
}

#[test]
fn help_needs_nothing_else() {
    assert_eq!(parse(["--help".to_owned()]).unwrap(), None);
}

#[test]
fn what_is_not_known_is_refused() {
    for line in ["--policy", "--policy all", "--way back", "--jobs 0", "--jobs x", "slack"] {
        assert!(parsed(line).is_err(), "`{line}`");
    }
    assert!(parse(Vec::new()).is_err(), "nobody said which interpreter");
}
