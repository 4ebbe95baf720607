use anyhow::anyhow;

use super::*;

#[test]
fn a_failure_is_kept_and_the_next_step_still_runs() {
    let mut steps = Steps::default();
    assert_eq!(steps.step("first", "nothing", || Ok(7)), Some(7));
    assert!(steps.report());
    assert_eq!(steps.step("second", "try again", || Err::<(), _>(anyhow!("it broke"))), None);
    assert_eq!(steps.step("third", "nothing", || Ok(9)), Some(9));
    assert!(!steps.report());
    let failures: Vec<_> = steps.done.iter().filter_map(|done| done.failure.as_deref()).collect();
    assert_eq!(failures, ["it broke\n    next: try again"]);
}
