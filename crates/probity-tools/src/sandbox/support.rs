//! Whether this machine can keep the sandbox's promise.

use std::fmt;

use super::LANDLOCK_ABI_MIN;

/// What the running kernel offers for the sandbox.
///
/// It tells what is there, and is not the check that protects a call: the helper of each call makes that itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SandboxSupport {
    /// The kernel's Landlock ABI; nothing when Landlock is missing or switched off.
    pub landlock_abi: Option<u32>,
    /// The oldest ABI that is enough.
    pub landlock_abi_min: u32,
    /// Whether the kernel takes seccomp filters.
    pub seccomp: bool,
    /// Whether this program called [`crate::maybe_run_sandbox_helper`].
    pub helper: bool,
}

impl SandboxSupport {
    /// Whether `shell` can work here.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.helper && self.seccomp && self.landlock_abi.is_some_and(|abi| abi >= self.landlock_abi_min)
    }
}

impl fmt::Display for SandboxSupport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = if self.is_complete() { "available" } else { "not available" };
        write!(f, "shell sandbox {whole}: ")?;
        match self.landlock_abi {
            Some(abi) => write!(f, "Landlock ABI {abi}")?,
            None => f.write_str("no Landlock")?,
        }
        let seccomp = if self.seccomp { "seccomp filters" } else { "no seccomp filters" };
        let helper = if self.helper { "helper lent" } else { "this program lends no helper" };
        write!(f, " (needed: {}), {seccomp}, {helper}", self.landlock_abi_min)
    }
}

/// Looks at the running kernel.
#[must_use]
pub fn sandbox_support() -> SandboxSupport {
    SandboxSupport {
        landlock_abi: landlock_abi(),
        landlock_abi_min: LANDLOCK_ABI_MIN,
        seccomp: seccomp(),
        helper: super::is_lent(),
    }
}

#[cfg(target_os = "linux")]
fn landlock_abi() -> Option<u32> {
    // Only a restricted thread is told the kernel's ABI; one that ends at once takes the restriction with it.
    std::thread::spawn(super::confine::probe_abi).join().ok().flatten()
}

#[cfg(target_os = "linux")]
fn seccomp() -> bool {
    std::path::Path::new("/proc/sys/kernel/seccomp/actions_avail").exists()
}

#[cfg(not(target_os = "linux"))]
fn landlock_abi() -> Option<u32> {
    None
}

#[cfg(not(target_os = "linux"))]
fn seccomp() -> bool {
    false
}
