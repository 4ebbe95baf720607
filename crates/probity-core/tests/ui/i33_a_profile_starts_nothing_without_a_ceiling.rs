//! A profile is no task: what is started of it is started below a ceiling.

use probity_core::{ChildProfile, Host, run_task};

fn run(profile: ChildProfile, host: Host) {
    let _ = run_task(profile, probity_contract::RunId::new("run").unwrap(), host);
}

fn task_of(profile: &ChildProfile) {
    let _ = profile.task("do it");
}

fn main() {
    let _ = (run, task_of);
}
