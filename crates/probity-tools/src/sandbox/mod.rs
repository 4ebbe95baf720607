//! The sandbox of `shell`: what is promised, whether this machine can keep it, and the helper process that sets it up.
//!
//! The helper is the embedding program itself, started again with a private first argument. It restricts itself and then
//! becomes the program that was asked for. Restricting in the child between fork and exec lost: that needs `unsafe`, and
//! what may run there is less than what must be done.

#[cfg(target_os = "linux")]
mod confine;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod helper;
mod job;
mod support;

use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(target_os = "linux")]
pub use helper::sandbox_helper_main;
pub(crate) use job::{Job, Report};
pub use support::{SandboxSupport, sandbox_support};

/// The first argument that makes a program the helper.
pub(crate) const MARKER: &str = "__probity-sandbox";
/// The oldest Landlock ABI that can keep the promise: 6, Linux 6.12. Below it a program could signal processes outside.
pub(crate) const LANDLOCK_ABI_MIN: u32 = 6;

static LENT: AtomicBool = AtomicBool::new(false);

/// Becomes the sandbox helper when this process was started as one, and returns otherwise.
///
/// Call it first in `main`, before threads start and before arguments are read: `shell` starts the running program again
/// as its helper. [`crate::ShellTool::new`] refuses to be set up in a program that has not called it.
pub fn maybe_run_sandbox_helper() {
    LENT.store(true, Ordering::SeqCst);
    if std::env::args_os().nth(1).is_some_and(|argument| argument == MARKER) {
        let code = sandbox_helper_main();
        #[expect(
            clippy::exit,
            clippy::disallowed_methods,
            reason = "the process exists for the helper alone"
        )]
        std::process::exit(code);
    }
}

/// Whether the running program can be its own helper.
pub(crate) fn is_lent() -> bool {
    LENT.load(Ordering::SeqCst)
}

/// Runs the sandbox helper; returns an exit code only when the program could not be started.
#[cfg(not(target_os = "linux"))]
pub fn sandbox_helper_main() -> i32 {
    125
}
