//! A program that lends itself as the sandbox helper.

fn main() {
    probity_tools::maybe_run_sandbox_helper();
}
