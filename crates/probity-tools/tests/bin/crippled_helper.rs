//! A helper on a kernel that seems to have no Landlock: its system calls answer that they do not exist.

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

    let landlock = [libc::SYS_landlock_create_ruleset, libc::SYS_landlock_restrict_self];
    let rules = landlock.into_iter().map(|number| (number, vec![])).collect();
    let enosys = SeccompAction::Errno(u32::try_from(libc::ENOSYS)?);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, enosys, std::env::consts::ARCH.try_into()?)?;
    let program: BpfProgram = filter.try_into()?;
    seccompiler::apply_filter(&program)?;
    probity_tools::maybe_run_sandbox_helper();
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() {}
