//! The Landlock rules and the capabilities of a confined program.

use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, LandlockStatus,
    PathBeneath, PathFd, RestrictionStatus, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _,
    RulesetStatus, Scope,
};
use rustix::thread::{CapabilitySet, CapabilitySets};

use super::{Job, LANDLOCK_ABI_MIN};

/// Programs, libraries and data of the system: read and execute.
const SYSTEM: [&str; 11] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/run/current-system/sw",
];

/// Settings and facts that programs need to start and to speak a language: read. Named one by one, since `/etc` and
/// `/proc` also hold what is nobody's business.
const SETTINGS: [&str; 45] = [
    "/etc/alternatives",
    "/etc/bash.bashrc",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/crypto-policies",
    "/etc/debian_version",
    "/etc/fonts",
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/inputrc",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/locale.alias",
    "/etc/localtime",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/openssl.cnf",
    "/etc/profile",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/shells",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/terminfo",
    "/etc/timezone",
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/kernel",
    "/proc/sys/vm/overcommit_memory",
    "/proc/uptime",
    "/proc/version",
    "/sys/devices/system/cpu",
];

/// Devices without memory: read and write.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Confines the calling thread, or says why that cannot be done completely.
pub(super) fn landlock(job: &Job) -> Result<(), String> {
    let needed = job.landlock_abi_min.max(LANDLOCK_ABI_MIN);
    let status = restrict(job).map_err(|error| format!("Landlock: {error}"))?;
    let abi = abi_of(&status).unwrap_or_default();
    if abi < needed {
        return Err(format!("the kernel's Landlock ABI is {abi}; {needed} is needed"));
    }
    if status.ruleset != RulesetStatus::FullyEnforced || !status.no_new_privs {
        return Err("Landlock is enforced only in part".to_owned());
    }
    Ok(())
}

fn restrict(job: &Job) -> Result<RestrictionStatus, Box<dyn std::error::Error>> {
    let all = AccessFs::from_all(ABI::V6);
    let read: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::ReadDir;
    let execute = read | AccessFs::Execute;
    // Device nodes would reach past every other rule, and no honest build makes one.
    let write = all & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev);
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(all)?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)?;
    if !job.network {
        ruleset = ruleset.handle_access(AccessNet::BindTcp | AccessNet::ConnectTcp)?;
    }
    let mut ruleset = ruleset.create()?;
    let optional = SYSTEM.iter().map(|path| (*path, execute));
    let optional = optional.chain(SETTINGS.iter().map(|path| (*path, read)));
    let optional = optional.chain(DEVICES.iter().map(|path| (*path, read | AccessFs::WriteFile)));
    for (path, access) in optional {
        // What this system does not have needs no rule.
        if let Ok(fd) = PathFd::new(path) {
            ruleset = ruleset.add_rule(beneath(fd, path, access))?;
        }
    }
    let declared = job.read.iter().map(|path| (path, execute));
    for (path, access) in declared.chain(job.write.iter().map(|path| (path, write))) {
        ruleset = ruleset.add_rule(beneath(PathFd::new(path)?, path, access))?;
    }
    Ok(ruleset.restrict_self()?)
}

fn beneath(fd: PathFd, path: impl AsRef<Path>, access: BitFlags<AccessFs>) -> PathBeneath<PathFd> {
    // Rights over directories mean nothing for a file and are refused by the kernel.
    let access = if path.as_ref().is_dir() { access } else { access & AccessFs::from_file(ABI::V6) };
    PathBeneath::new(fd, access)
}

fn abi_of(status: &RestrictionStatus) -> Option<u32> {
    match status.landlock {
        LandlockStatus::Available { effective_abi, kernel_abi } => {
            u32::try_from(kernel_abi.unwrap_or(effective_abi as i32)).ok()
        }
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => None,
    }
}

/// The kernel's ABI. Restricts the calling thread.
pub(super) fn probe_abi() -> Option<u32> {
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::MakeChar)
        .and_then(Ruleset::create)
        .and_then(landlock::RulesetCreated::restrict_self);
    status.ok().as_ref().and_then(abi_of)
}

/// Gives up every capability that is not about owning files. Without `no_new_privs` a later exec could regain them.
pub(super) fn capabilities() -> rustix::io::Result<()> {
    let keep = CapabilitySet::CHOWN
        | CapabilitySet::DAC_OVERRIDE
        | CapabilitySet::DAC_READ_SEARCH
        | CapabilitySet::FOWNER
        | CapabilitySet::FSETID;
    let held = rustix::thread::capabilities(None)?;
    let kept = CapabilitySets {
        effective: held.effective & keep,
        permitted: held.permitted & keep,
        inheritable: CapabilitySet::empty(),
    };
    rustix::thread::set_capabilities(None, kept)
}
