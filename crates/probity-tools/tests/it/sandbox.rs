//! `shell` in its sandbox, on the running kernel.
//!
//! Every test that needs the sandbox asks for it first and says by name that it was skipped, and why, when the kernel
//! cannot keep the promise.

#![expect(clippy::print_stderr, reason = "a skipped test says so by name")]
#![expect(clippy::disallowed_methods, reason = "what other processes do can only be waited for")]

use std::net::TcpListener;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use probity_contract::ToolErrorClass::{
    Cancelled, InvalidArguments, NotFound, Refused, TimedOut, Unavailable,
};
use probity_contract::{Access, Effect, Target, Tool as _, ToolContext};
use probity_tools::{Root, ShellConfig, ShellTool, maybe_run_sandbox_helper, sandbox_support};
use serde_json::{Value, json};

use crate::support::{Went, arguments, call, call_in, class, context, permit};

struct Bench {
    place: tempfile::TempDir,
    config: ShellConfig,
}

impl Bench {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        for name in ["work", "docs"] {
            std::fs::create_dir(place.path().join(name)).unwrap();
        }
        std::fs::write(place.path().join("outside.txt"), "outside\n").unwrap();
        std::fs::write(place.path().join("docs/in.txt"), "inside\n").unwrap();
        let root = |name: &str, write| Root { name: name.to_owned(), path: place.path().join(name), write };
        let mut config = ShellConfig::new(vec![root("work", true), root("docs", false)]);
        config.helper = Some(PathBuf::from(env!("CARGO_BIN_EXE_sandbox-helper")));
        Self { place, config }
    }

    /// The bench, where the kernel can keep the promise.
    fn able(test: &str) -> Option<Self> {
        let support = sandbox_support();
        if support.seccomp && support.landlock_abi.is_some_and(|abi| abi >= support.landlock_abi_min) {
            return Some(Self::new());
        }
        eprintln!("skipped {test}: {support}");
        None
    }

    fn path(&self, name: &str) -> String {
        self.place.path().canonicalize().unwrap().join(name).to_str().unwrap().to_owned()
    }

    fn tool(&self) -> ShellTool {
        ShellTool::new(self.config.clone()).unwrap()
    }

    async fn run(&self, value: Value) -> Went {
        call(&self.tool(), value).await
    }

    async fn sh(&self, script: &str) -> String {
        self.run(json!({"argv": ["sh", "-c", script]})).await.unwrap()
    }
}

macro_rules! able {
    ($test:literal) => {
        match Bench::able($test) {
            Some(bench) => bench,
            None => return,
        }
    };
}

#[tokio::test]
async fn a_program_runs_and_its_end_is_told() {
    let bench = able!("a_program_runs_and_its_end_is_told");
    let cases = [
        (json!({"argv": ["echo", "a b", "$HOME"]}), "exit code 0\n[stdout]\na b $HOME\n"),
        (json!({"argv": ["true"]}), "exit code 0\n[no output]\n"),
        (
            json!({"argv": ["sh", "-c", "echo o; echo e >&2; exit 3"]}),
            "exit code 3\n[stdout]\no\n[stderr]\ne\n",
        ),
        (json!({"argv": ["sh", "-c", "kill -TERM $$"]}), "ended by signal 15 (SIGTERM)\n[no output]\n"),
        (json!({"argv": ["cat"]}), "exit code 0\n[no output]\n"),
        (json!({"argv": ["cat"], "stdin": "käse"}), "exit code 0\n[stdout]\nkäse\n"),
        (json!({"argv": ["cat", "in.txt"], "cwd": "docs"}), "exit code 0\n[stdout]\ninside\n"),
        (json!({"argv": ["sh", "-c", "echo x > made; cat made"]}), "exit code 0\n[stdout]\nx\n"),
    ];
    for (value, expected) in cases {
        assert_eq!(bench.run(value.clone()).await.unwrap(), expected, "{value}");
    }
    assert_eq!(std::fs::read_to_string(bench.path("work/made")).unwrap(), "x\n");
}

#[tokio::test]
async fn calls_that_make_no_sense_run_nothing() {
    let bench = able!("calls_that_make_no_sense_run_nothing");
    let cases = [
        (json!({"argv": []}), InvalidArguments),
        (json!({"argv": [""]}), InvalidArguments),
        (json!({"argv": ["a\u{0}b"]}), InvalidArguments),
        (json!({"argv": "echo"}), InvalidArguments),
        (json!({"argv": ["true"], "env": {}}), InvalidArguments),
        (json!({"argv": ["true"], "cwd": ".."}), Refused),
        (json!({"argv": ["true"], "cwd": "/"}), Refused),
        (json!({"argv": ["true"], "cwd": "none"}), NotFound),
        (json!({"argv": ["no-such-program"]}), NotFound),
        (json!({"argv": ["./none"]}), NotFound),
        (json!({"argv": [bench.path("outside.txt")]}), Refused),
    ];
    for (value, expected) in cases {
        let went = bench.run(value.clone()).await;
        assert_eq!(class(&went), expected, "{value} {went:?}");
    }
}

#[tokio::test]
async fn only_writable_roots_are_written() {
    let bench = able!("only_writable_roots_are_written");
    let (outside, docs, fresh) = (bench.path("outside.txt"), bench.path("docs/in.txt"), bench.path("fresh"));
    for script in [
        format!("echo x > {outside}"),
        format!("truncate -s 0 {outside}"),
        format!("rm -f {outside}"),
        format!("mv {outside} ."),
        format!("ln {outside} hard"),
        format!("echo x > {fresh}"),
        format!("mkdir {fresh}"),
        format!("echo x > {docs}"),
        format!("rm -f {docs}"),
        format!("ln -s {outside} soft; echo x > soft"),
        "mknod dev c 1 3".to_owned(),
        "mount -t tmpfs none .".to_owned(),
        "unshare -m true".to_owned(),
        "unshare -U true".to_owned(),
        "chroot . true".to_owned(),
    ] {
        let text = bench.sh(&script).await;
        assert!(!text.starts_with("exit code 0"), "{script}: {text}");
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "outside\n", "{script}");
        assert_eq!(std::fs::read_to_string(&docs).unwrap(), "inside\n", "{script}");
        assert!(!std::path::Path::new(&fresh).exists(), "{script}");
    }
}

#[tokio::test]
async fn only_declared_places_are_read() {
    let mut bench = able!("only_declared_places_are_read");
    let outside = bench.path("outside.txt");
    let own = std::process::id();
    for place in [
        outside.clone(),
        "/etc/shadow".to_owned(),
        format!("/proc/{own}/environ"),
        "/proc/1/cmdline".to_owned(),
    ] {
        if !std::path::Path::new(&place).exists() {
            continue;
        }
        let text = bench.sh(&format!("cat {place}")).await;
        assert!(text.starts_with("exit code 1") && text.contains("ermission denied"), "{place}: {text}");
    }
    let home = std::env::var("HOME").unwrap_or_else(|_| "/home".to_owned());
    let text = bench.sh(&format!("ls {home}")).await;
    assert!(text.contains("ermission denied"), "{text}");
    // A grant opens exactly that.
    bench.config.readable.push(PathBuf::from(&outside));
    assert_eq!(bench.sh(&format!("cat {outside}")).await, "exit code 0\n[stdout]\noutside\n");
    assert!(!bench.sh(&format!("echo x > {outside}")).await.starts_with("exit code 0"));
}

#[tokio::test]
async fn the_temporary_directory_is_private_and_goes_away() {
    let bench = able!("the_temporary_directory_is_private_and_goes_away");
    let text =
        bench.sh("cd && echo x > f && test \"$HOME\" = \"$TMPDIR\" && ls -ld . | cut -c1-10 && pwd").await;
    let (_, place) = text.trim_end().rsplit_once('\n').unwrap();
    assert!(text.contains("drwx------"), "{text}");
    assert!(!std::path::Path::new(place).exists(), "{place}");
}

#[tokio::test]
async fn the_environment_is_an_allow_list() {
    let mut bench = able!("the_environment_is_an_allow_list");
    // Every variable of this process stands for a secret; Cargo sets some for every test.
    let secret = "CARGO_MANIFEST_DIR";
    assert!(std::env::var(secret).is_ok(), "the test needs a variable to withhold");
    let names = |text: &str| -> Vec<String> {
        let lines = text.lines().filter_map(|line| line.split_once('='));
        let mut names: Vec<String> = lines.map(|(name, _)| name.to_owned()).collect();
        names.retain(|name| !["LANG", "TZ"].contains(&name.as_str()));
        names.sort();
        names
    };
    let text = bench.run(json!({"argv": ["env"]})).await.unwrap();
    assert_eq!(names(&text), ["HOME", "PATH", "TERM", "TMPDIR"], "{text}");
    assert!(text.contains("TERM=dumb"), "{text}");
    bench.config.env_names.push(secret.to_owned());
    let text = bench.run(json!({"argv": ["env"]})).await.unwrap();
    assert_eq!(names(&text), [secret, "HOME", "PATH", "TERM", "TMPDIR"], "{text}");
    for name in ["PATH", "LD_PRELOAD", "A=B", ""] {
        let mut config = bench.config.clone();
        config.env_names = vec![name.to_owned()];
        assert!(ShellTool::new(config).is_err(), "{name}");
    }
}

#[tokio::test]
async fn nothing_open_is_handed_over() {
    use std::os::fd::AsRawFd as _;

    let bench = able!("nothing_open_is_handed_over");
    // A file that some other part of the host forgot to close on exec.
    let file = std::fs::File::open(bench.path("outside.txt")).unwrap();
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).unwrap();
    let text = bench.sh(&format!("cat <&{}", file.as_raw_fd())).await;
    assert!(!text.contains("outside\n"), "{text}");
    let text = bench.sh("ls /proc/self/fd | wc -l").await;
    // Standard input, output, error, and the directory that is listed.
    assert!(text.contains("\n4\n") || text.contains("ermission denied"), "{text}");
}

fn python() -> bool {
    let found =
        ["/usr/bin/python3", "/usr/local/bin/python3"].iter().any(|path| std::path::Path::new(path).exists());
    if !found {
        eprintln!("part of a test skipped: no python3 in a system directory");
    }
    found
}

#[tokio::test]
async fn there_is_no_network_without_a_grant() {
    let mut bench = able!("there_is_no_network_without_a_grant");
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected");
    let value = json!({"argv": ["bash", "-c", connect]});
    let text = bench.run(value.clone()).await.unwrap();
    assert!(!text.contains("connected") && !text.starts_with("exit code 0"), "{text}");
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "a connection arrived");
    let socket = bench.path("work/sock");
    let _unix = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    if python() {
        let script = "import socket as s,sys\nfor f,t in [(s.AF_INET,s.SOCK_STREAM),(s.AF_INET6,s.SOCK_DGRAM),(s.AF_UNIX,s.SOCK_STREAM),(s.AF_NETLINK,s.SOCK_RAW),(s.AF_PACKET,s.SOCK_RAW)]:\n try:\n  s.socket(f,t); print('made',f)\n except PermissionError: print('refused')\ns.socketpair(); print('pair')";
        let text = bench.run(json!({"argv": ["python3", "-c", script]})).await.unwrap();
        assert_eq!(text, format!("exit code 0\n[stdout]\n{}pair\n", "refused\n".repeat(5)));
    }
    bench.config.network = true;
    let text = bench.run(value).await.unwrap();
    assert_eq!(text, "exit code 0\n[stdout]\nconnected\n");
    if python() {
        let script = "import socket as s\nfor f,t in [(s.AF_UNIX,s.SOCK_STREAM),(s.AF_INET,s.SOCK_RAW),(s.AF_PACKET,s.SOCK_RAW)]:\n try:\n  s.socket(f,t); print('made',f)\n except PermissionError: print('refused')";
        let text = bench.run(json!({"argv": ["python3", "-c", script]})).await.unwrap();
        assert_eq!(text, format!("exit code 0\n[stdout]\n{}", "refused\n".repeat(3)));
    }
}

#[tokio::test]
async fn other_processes_cannot_be_touched() {
    let bench = able!("other_processes_cannot_be_touched");
    let mut sleeper = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let text = bench.sh(&format!("kill -9 {}", sleeper.id())).await;
    assert!(!text.starts_with("exit code 0"), "{text}");
    assert!(sleeper.try_wait().unwrap().is_none(), "the process outside was killed");
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
}

#[tokio::test]
async fn ordinary_programs_work() {
    let bench = able!("ordinary_programs_work");
    let text = bench.sh("printf 'b\\na\\nb\\n' | sort | uniq -c | tr -s ' '; cat <<E\nhere\nE").await;
    assert_eq!(text, "exit code 0\n[stdout]\n 1 a\n 2 b\nhere\n");
    if python() {
        let script = "import subprocess as s,tempfile,threading\nt=threading.Thread(target=lambda:print('thread')); t.start(); t.join()\nf=tempfile.NamedTemporaryFile('w'); f.write('x'); f.flush()\nprint(s.run(['cat',f.name],capture_output=True,text=True).stdout)";
        let text = bench.run(json!({"argv": ["python3", "-c", script]})).await.unwrap();
        assert_eq!(text, "exit code 0\n[stdout]\nthread\nx\n");
    }
    if ["/usr/bin/git", "/usr/local/bin/git"].iter().any(|path| std::path::Path::new(path).exists()) {
        let text = bench.sh("git init -q . && echo x > f && git add f && git status --porcelain").await;
        assert_eq!(text, "exit code 0\n[stdout]\nA  f\n");
    } else {
        eprintln!("part of ordinary_programs_work skipped: no git in a system directory");
    }
}

#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn calls_that_reach_past_the_rules_are_refused() {
    let bench = able!("calls_that_reach_past_the_rules_are_refused");
    if !python() {
        return;
    }
    // By number: ptrace, process_vm_readv, keyctl, bpf, userfaultfd, io_uring_setup, setns, perf_event_open, mount, the
    // x32 forms of socket and ptrace, clone with a new user namespace; then clone3, which is said to be missing.
    let script = "import ctypes as c\nl=c.CDLL(None,use_errno=True)\ndef t(n,*a):\n c.set_errno(0); r=l.syscall(c.c_long(n),*map(c.c_long,a)); return (r,c.get_errno())\nfor n in [101,310,250,321,323,425,308,298,165]: print(n,t(n,0,0,0,0,0))\nx=0x40000000\nprint(t(x|41,2,1,0),t(x|521,0,0,0),t(56,0x10000000|17,0,0,0,0))\nprint(t(435,0,0))";
    let text = bench.run(json!({"argv": ["python3", "-c", script]})).await.unwrap();
    let numbers = [101, 310, 250, 321, 323, 425, 308, 298, 165];
    let each: String = numbers.iter().map(|number| format!("{number} (-1, 1)\n")).collect();
    assert_eq!(text, format!("exit code 0\n[stdout]\n{each}(-1, 1) (-1, 1) (-1, 1)\n(-1, 38)\n"));
}

/// Waits until nothing runs any more that has this word among its arguments.
fn gone(word: &str) -> bool {
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(2) {
        if !running(word) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

fn running(word: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .any(|line| line.split(|&byte| byte == 0).any(|argument| argument == word.as_bytes()))
}

/// Whether such a process may still do anything: one with SIGKILL pending is only on its way out.
fn runs_on(word: &str) -> bool {
    const SIGKILL: u64 = 1 << 8;
    let pending = |status: &str, name: &str| {
        let mask = status.lines().find_map(|line| line.strip_prefix(name));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    };
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let ours = std::fs::read(entry.path().join("cmdline"))
            .is_ok_and(|line| line.split(|&byte| byte == 0).any(|argument| argument == word.as_bytes()));
        // Gone between the two reads is gone.
        let Ok(status) = std::fs::read_to_string(entry.path().join("status")) else { return false };
        let leaving = status.contains("State:\tZ") || status.contains("State:\tX");
        ours && !leaving && (pending(&status, "SigPnd:") | pending(&status, "ShdPnd:")) & SIGKILL == 0
    })
}

/// A number of seconds to sleep that stands for one test alone.
fn mark(test: u32) -> String {
    format!("{}.{test:03}", 100_000 + std::process::id())
}

#[tokio::test]
async fn children_in_the_background_die_with_the_program() {
    let bench = able!("children_in_the_background_die_with_the_program");
    let mark = mark(1);
    let started = Instant::now();
    let text = bench
        .sh(&format!(
            "sleep {mark} & (sleep {mark} >/dev/null 2>&1 &) ; nohup sleep {mark} >/dev/null 2>&1 & \
             setsid sleep {mark} || echo kept; echo done"
        ))
        .await;
    assert!(text.starts_with("exit code 0") && text.contains("kept\ndone\n"), "{text}");
    assert!(gone(&mark), "a child outlived the program");
    assert!(started.elapsed() < Duration::from_secs(30), "the children were waited for");
}

#[tokio::test]
async fn the_end_of_time_kills_the_group() {
    let bench = able!("the_end_of_time_kills_the_group");
    let mark = mark(2);
    let cx = ToolContext { timeout: Duration::from_millis(1_500), ..context() };
    let script = format!("trap '' TERM INT HUP; sleep {mark} & echo waiting; sleep {mark}");
    let started = Instant::now();
    let (class, words) = call_in(&bench.tool(), json!({"argv": ["sh", "-c", script]}), cx).await.unwrap_err();
    assert_eq!(class, TimedOut);
    assert!(words.contains("1500 ms") && words.contains("`waiting`"), "{words}");
    assert!(started.elapsed() < Duration::from_secs(30));
    assert!(gone(&mark), "a process outlived the call");
}

#[tokio::test]
async fn cancelling_and_dropping_kill_the_group() {
    let bench = able!("cancelling_and_dropping_kill_the_group");
    let tool = bench.tool();
    for (number, drop_it) in [(3, false), (4, true)] {
        let mark = mark(number);
        let cx = context();
        let cancel = cx.cancel.clone();
        let script = format!("printf %s \"$TMPDIR\" > place; sleep {mark} & sleep {mark}");
        let value = json!({"argv": ["sh", "-c", script]});
        let mut running_call = Box::pin(call_in(&tool, value, cx));
        let watched = mark.clone();
        let up = tokio::task::spawn_blocking(move || {
            let started = Instant::now();
            while !running(&watched) && started.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        tokio::select! {
            went = &mut running_call => panic!("ended early: {went:?}"),
            up = up => up.unwrap(),
        }
        assert!(running(&mark), "the program never started");
        let place = std::fs::read_to_string(bench.path("work/place")).unwrap();
        assert!(std::path::Path::new(&place).is_dir(), "{place}");
        if drop_it {
            // A host that ends now gives no thread any more time.
            drop(running_call);
            assert!(!runs_on(&mark), "a process was not killed by the drop itself");
        } else {
            cancel.fire();
            assert_eq!(class(&running_call.await), Cancelled);
        }
        assert!(!std::path::Path::new(&place).exists(), "{place} was left");
        assert!(gone(&mark), "a process outlived the call");
    }
}

#[tokio::test]
async fn a_flood_of_output_is_cut_in_the_middle() {
    let bench = able!("a_flood_of_output_is_cut_in_the_middle");
    let script = "echo first; head -c 100000000 /dev/zero | tr '\\0' x; echo; echo last; echo err >&2";
    let cx = ToolContext { output_bytes_max: 20_000, ..context() };
    let text = call_in(&bench.tool(), json!({"argv": ["sh", "-c", script]}), cx).await.unwrap();
    assert!(text.len() <= 20_000, "{}", text.len());
    assert!(
        text.starts_with("exit code 0\n[stdout]\nfirst\nxxx"),
        "{}",
        text.chars().take(60).collect::<String>()
    );
    assert!(text.ends_with("xxx\nlast\n[stderr]\nerr\n"));
    let cut: u64 = text.split("[… ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(cut > 99_980_000, "{cut}");
    // Bytes that grow when they are shown stay within the cap, too.
    let script = "head -c 300000 /dev/zero | tr '\\0' '\\377'";
    let cx = ToolContext { output_bytes_max: 20_000, ..context() };
    let text = call_in(&bench.tool(), json!({"argv": ["sh", "-c", script]}), cx).await.unwrap();
    assert!(text.len() <= 20_000, "{}", text.len());
}

#[tokio::test]
async fn files_over_the_limit_end_their_writer() {
    let mut bench = able!("files_over_the_limit_end_their_writer");
    bench.config.file_bytes_max = 1_000_000;
    let text = bench.sh("head -c 5000000 /dev/zero > big; ls -l big | cut -d' ' -f5").await;
    assert_eq!(std::fs::metadata(bench.path("work/big")).unwrap().len(), 1_000_000, "{text}");
}

#[tokio::test]
async fn a_sandbox_that_cannot_be_set_up_runs_nothing() {
    let mut bench = Bench::new();
    let witness = bench.path("work/ran");
    let value = json!({"argv": ["touch", "ran"]});
    let helper = bench.config.helper.clone();
    let crippled = Some(PathBuf::from(env!("CARGO_BIN_EXE_crippled-helper")));
    let foreign = Some(PathBuf::from("/bin/true"));
    let missing = Some(PathBuf::from(bench.path("none")));
    for (what, helper, abi, words) in [
        ("a newer kernel is asked for", helper, 99, "99 is needed"),
        ("no Landlock", crippled, 0, "Landlock"),
        ("a helper that is none", foreign, 0, "before the sandbox stood"),
        ("no helper", missing, 0, "cannot be started"),
    ] {
        bench.config.helper = helper;
        bench.config.landlock_abi_min = abi;
        let (class, said) = bench.run(value.clone()).await.unwrap_err();
        assert_eq!(class, Unavailable, "{what}: {said}");
        assert!(said.contains(words) && said.contains("nothing ran"), "{what}: {said}");
        assert!(!std::path::Path::new(&witness).exists(), "{what}");
    }
}

#[tokio::test]
async fn a_helper_that_hangs_is_ended_with_the_call() {
    let mut bench = Bench::new();
    let script = bench.path("hang");
    let mark = mark(5);
    std::fs::write(&script, format!("#!/bin/sh\nexec sleep {mark}\n")).unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    bench.config.helper = Some(PathBuf::from(script));
    let cx = ToolContext { timeout: Duration::from_millis(500), ..context() };
    let went = call_in(&bench.tool(), json!({"argv": ["true"]}), cx).await;
    assert_eq!(class(&went), TimedOut);
    assert!(gone(&mark), "the helper outlived the call");
}

#[test]
fn a_program_that_lends_no_helper_cannot_set_the_tool_up() {
    let mut bench = Bench::new();
    bench.config.helper = None;
    assert!(!sandbox_support().helper);
    assert!(ShellTool::new(bench.config.clone()).is_err());
    maybe_run_sandbox_helper();
    assert!(sandbox_support().helper);
    assert!(ShellTool::new(bench.config.clone()).is_ok());
}

#[tokio::test]
async fn the_targets_are_the_command_and_its_directory() {
    let bench = Bench::new();
    std::os::unix::fs::symlink("../work", bench.path("work/out")).unwrap();
    std::fs::create_dir(bench.path("work/sub")).unwrap();
    std::os::unix::fs::symlink("sub", bench.path("work/link")).unwrap();
    let tool = bench.tool();
    let argv = vec!["git".to_owned(), "status".to_owned()];
    let path = |root: &str, path: &str, resolved: &str, access| Target::Path {
        root: root.to_owned(),
        path: path.to_owned(),
        resolved: resolved.to_owned(),
        access,
        recursive: false,
    };
    for (cwd, expected) in [
        (None, path("work", ".", ".", Access::Write)),
        (Some("work/link"), path("work", "link", "sub", Access::Write)),
        (Some("docs"), path("docs", ".", ".", Access::Read)),
    ] {
        let value = cwd.map_or_else(|| json!({"argv": argv}), |cwd| json!({"argv": argv, "cwd": cwd}));
        let targets = tool.targets(&arguments(&value)).await.unwrap();
        assert_eq!(targets, [Target::Command { argv: argv.clone() }, expected]);
    }
    // What a program is fed is judged like what it is called with.
    let fed = json!({"argv": ["sh"], "stdin": "rm -rf x"});
    let targets = tool.targets(&arguments(&fed)).await.unwrap();
    let stdin = Target::Other { what: "stdin".to_owned(), value: "rm -rf x".to_owned() };
    assert_eq!(targets.last(), Some(&stdin));
    assert_eq!(class(&bench.run(json!({"argv": ["true"], "cwd": "out"})).await), Refused);
    assert_eq!(tool.spec().effect, Effect::Once);
    // A directory that leads elsewhere than when it was judged.
    let value = arguments(&json!({"argv": ["touch", "ran"], "cwd": "link"}));
    let targets = tool.targets(&value).await.unwrap();
    let permit = permit(&tool, value, targets);
    std::fs::remove_file(bench.path("work/link")).unwrap();
    std::os::unix::fs::symlink(".", bench.path("work/link")).unwrap();
    let error = tool.run(permit, context()).await.unwrap_err();
    assert_eq!(error.class, Refused);
    assert!(!std::path::Path::new(&bench.path("work/ran")).exists());
}
