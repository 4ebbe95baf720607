//! The seccomp filters of a confined program: system calls that reach past file rules, and the network.
//!
//! Allowed by default: a list of allowed calls would break programs with every new C library, and what the sandbox
//! promises needs only these to be gone. `setsid` and `setpgid` are among them so that no child can leave the process
//! group that is killed at the end; the price is that programs which start their own group are refused it.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

/// Refused whatever their arguments are.
const REFUSED: [i64; 40] = [
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_open_by_handle_at,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    libc::SYS_acct,
    libc::SYS_fanotify_init,
    libc::SYS_setsid,
    libc::SYS_setpgid,
];

/// Flags of `clone` that make a namespace: cgroup, UTS, IPC, user, PID, network, mount, time.
const NAMESPACES: [u64; 8] =
    [0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000, 0x0002_0000, 0x0000_0080];

/// The bit that marks a call of the x32 interface, which x86-64 kernels may offer beside their own.
#[cfg(target_arch = "x86_64")]
const X32: i64 = 0x4000_0000;

/// Calls that have numbers of their own there: `ptrace`, `kexec_load`, `process_vm_readv`, `process_vm_writev`.
#[cfg(target_arch = "x86_64")]
const X32_OWN: [i64; 4] = [X32 | 521, X32 | 528, X32 | 539, X32 | 540];

/// The old way to a packet socket, through any address family.
const SOCK_PACKET: i32 = 10;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Installs the filters on the calling thread.
pub(super) fn install(network: bool) -> Result<(), String> {
    let words = |error: &dyn std::fmt::Display| format!("seccomp: {error}");
    let programs = programs(network).map_err(|error| words(&error))?;
    programs.iter().try_for_each(|program| seccompiler::apply_filter(program)).map_err(|error| words(&error))
}

fn programs(network: bool) -> Result<[BpfProgram; 2], BackendError> {
    let eperm = u32::try_from(libc::EPERM).unwrap_or(1);
    let enosys = u32::try_from(libc::ENOSYS).unwrap_or(38);
    // `clone3` keeps its flags in memory where no filter can look; C libraries fall back to `clone` when it is missing.
    let mut missing = Rules::from([(libc::SYS_clone3, vec![])]);
    let mut refused: Rules = REFUSED.iter().map(|&number| (number, vec![])).collect();
    refused.insert(libc::SYS_clone, namespaces()?);
    refused.insert(libc::SYS_socket, sockets(network)?);
    refused.insert(libc::SYS_socketpair, vec![SeccompRule::new(vec![unequal(0, libc::AF_UNIX)?])?]);
    // Pushing characters into a terminal's input: the session has none, this makes sure.
    refused.insert(
        libc::SYS_ioctl,
        vec![
            SeccompRule::new(vec![condition(1, SeccompCmpOp::Eq, libc::TIOCSTI)?])?,
            SeccompRule::new(vec![condition(1, SeccompCmpOp::Eq, libc::TIOCLINUX)?])?,
        ],
    );
    other_interfaces(&mut refused);
    other_interfaces(&mut missing);
    #[cfg(target_arch = "x86_64")]
    refused.extend(X32_OWN.iter().map(|&number| (number, vec![])));
    Ok([program(missing, enosys)?, program(refused, eperm)?])
}

#[cfg(target_arch = "x86_64")]
fn other_interfaces(rules: &mut Rules) {
    let copies: Rules = rules.iter().map(|(number, rules)| (number | X32, rules.clone())).collect();
    rules.extend(copies);
}

#[cfg(not(target_arch = "x86_64"))]
fn other_interfaces(_: &mut Rules) {}

fn program(rules: Rules, errno: u32) -> Result<BpfProgram, BackendError> {
    let arch = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno), arch)?.try_into()
}

fn namespaces() -> Result<Vec<SeccompRule>, BackendError> {
    NAMESPACES
        .iter()
        .map(|&flag| {
            let set = SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(flag), flag)?;
            SeccompRule::new(vec![set])
        })
        .collect()
}

/// No socket at all; or, with the network granted, only TCP and UDP over IPv4 and IPv6. A socket of the file system
/// (`AF_UNIX`) would reach services of the machine that Landlock rules do not cover.
fn sockets(network: bool) -> Result<Vec<SeccompRule>, BackendError> {
    if !network {
        return Ok(vec![]);
    }
    let raw = condition(1, SeccompCmpOp::MaskedEq(0xf), libc::SOCK_RAW)?;
    let packet = condition(1, SeccompCmpOp::MaskedEq(0xf), SOCK_PACKET)?;
    Ok(vec![
        SeccompRule::new(vec![unequal(0, libc::AF_INET)?, unequal(0, libc::AF_INET6)?])?,
        SeccompRule::new(vec![raw])?,
        SeccompRule::new(vec![packet])?,
    ])
}

fn unequal(index: u8, value: i32) -> Result<SeccompCondition, BackendError> {
    condition(index, SeccompCmpOp::Ne, value)
}

fn condition(
    index: u8,
    operator: SeccompCmpOp,
    value: impl TryInto<u64>,
) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(index, SeccompCmpArgLen::Dword, operator, value.try_into().unwrap_or(u64::MAX))
}
