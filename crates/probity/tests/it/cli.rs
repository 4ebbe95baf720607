//! Runs the binary in a place of its own, within bounds of time.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use probity_trace::{Record, RunSummary};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// How long anything may take before the test gives up. Generous, since other tests share the machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A place with a home, a data directory and a working directory, none of which existed before.
pub(crate) struct Cli {
    place: TempDir,
}

/// What came of a command.
#[derive(Debug)]
pub(crate) struct Done {
    /// The exit code, or `None` where a signal ended the program.
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A program that is running. It is killed when the value goes before it ended.
pub(crate) struct Running {
    child: Child,
    pieces: Receiver<Piece>,
    open: usize,
    out: Vec<u8>,
    err: Vec<u8>,
}

enum Piece {
    Out(Vec<u8>),
    Err(Vec<u8>),
    End,
}

impl Cli {
    pub(crate) fn new() -> Self {
        let cli = Self { place: tempfile::tempdir().unwrap() };
        for name in ["home", "work"] {
            fs::create_dir(cli.place.path().join(name)).unwrap();
        }
        cli
    }

    /// Where the commands are run.
    pub(crate) fn work(&self) -> PathBuf {
        self.place.path().join("work")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.place.path().join("data")
    }

    /// Writes a file below the working directory.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Writes a script below the working directory that can be run; its path.
    pub(crate) fn program(&self, name: &str, script: &str) -> String {
        let path = self.file(name, script);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The binary with these arguments, and nothing of the environment but `PATH`.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.command_of(env!("CARGO_BIN_EXE_probity"), args)
    }

    /// Another program in the same place, for what must stand between the test and the binary.
    pub(crate) fn command_of(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.work()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.place.path().join("home")).env("PROBITY_DATA_DIR", self.data());
        command
    }

    /// Runs the binary to its end, with nothing on standard input.
    pub(crate) fn run(&self, args: &[&str]) -> Done {
        Running::start(self.command(args)).finish()
    }

    /// The records in the data directory, the oldest first, each read and checked.
    pub(crate) fn records(&self) -> Vec<Record> {
        let Ok(entries) = fs::read_dir(self.data().join("runs")) else { return Vec::new() };
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|end| end == "prob"));
        paths.sort();
        paths.iter().map(|path| record(path)).collect()
    }

    /// The only record.
    pub(crate) fn record(&self) -> Record {
        let mut records = self.records();
        assert_eq!(records.len(), 1, "one record");
        records.pop().unwrap()
    }

    /// What `runs show --json` says of the only run.
    pub(crate) fn shown(&self) -> Value {
        let summary: RunSummary = self.record().summary().unwrap();
        let done = self.run(&["runs", "show", summary.run.as_str(), "--json"]);
        assert_eq!(done.code, Some(0), "{done:?}");
        done.json()
    }
}

fn record(path: &Path) -> Record {
    Record::read(&fs::read(path).unwrap()).unwrap().record
}

impl Done {
    /// Standard output as one JSON document, with nothing before or behind it.
    pub(crate) fn json(&self) -> Value {
        match serde_json::from_str(&self.out) {
            Ok(value) => value,
            Err(error) => panic!("standard output is not one JSON document: {error}\n{self:?}"),
        }
    }

    /// Both outputs, for what must stand in neither.
    pub(crate) fn all(&self) -> String {
        format!("{}\n{}", self.out, self.err)
    }
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (sender, pieces) = mpsc::channel();
        pump(out, sender.clone(), Piece::Out);
        pump(err, sender, Piece::Err);
        Self { child, pieces, open: 2, out: Vec::new(), err: Vec::new() }
    }

    /// A program that was started elsewhere and writes all it has to say to one place.
    pub(crate) fn on(child: Child, screen: impl Read + Send + 'static) -> Self {
        let (sender, pieces) = mpsc::channel();
        pump(screen, sender, Piece::Out);
        Self { child, pieces, open: 1, out: Vec::new(), err: Vec::new() }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.child.id()).unwrap();
        kill_process(Pid::from_raw(id).unwrap(), signal).unwrap();
    }

    /// Reads on until what came on standard output and standard error is as wanted.
    pub(crate) fn until(&mut self, what: &str, is_there: impl Fn(&str, &str) -> bool) {
        assert!(self.until_within(PATIENCE, is_there), "{what} did not come: {}", self.so_far());
    }

    /// The same with a bound of its own; false where it passed or the program said all.
    pub(crate) fn until_within(&mut self, bound: Duration, is_there: impl Fn(&str, &str) -> bool) -> bool {
        let deadline = Instant::now() + bound;
        while !is_there(&String::from_utf8_lossy(&self.out), &String::from_utf8_lossy(&self.err)) {
            if self.open == 0 || !self.take(deadline) {
                return false;
            }
        }
        true
    }

    /// Whether the program has said all and is about to end.
    pub(crate) const fn said_all(&self) -> bool {
        self.open == 0
    }

    /// Waits for the end.
    pub(crate) fn finish(mut self) -> Done {
        let deadline = Instant::now() + PATIENCE;
        while self.open > 0 {
            assert!(self.take(deadline), "the program did not end in time: {}", self.so_far());
        }
        let status = wait_for("the end of the program", || self.child.try_wait().unwrap());
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("the output is UTF-8");
        Done { code: status.code(), out: text(&self.out), err: text(&self.err) }
    }

    fn take(&mut self, deadline: Instant) -> bool {
        match self.pieces.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(Piece::Out(bytes)) => self.out.extend(bytes),
            Ok(Piece::Err(bytes)) => self.err.extend(bytes),
            Ok(Piece::End) => self.open -= 1,
            Err(_) => return false,
        }
        true
    }

    fn so_far(&self) -> String {
        format!("{}\n{}", String::from_utf8_lossy(&self.out), String::from_utf8_lossy(&self.err))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended already, unless the test failed.
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}

fn pump(mut from: impl Read + Send + 'static, to: Sender<Piece>, piece: fn(Vec<u8>) -> Piece) {
    std::thread::spawn(move || {
        let mut buffer = [0_u8; 8192];
        // A terminal ends with an error, and a receiver that is gone wants no more.
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if to.send(piece(buffer[..count].to_vec())).is_err() {
                return;
            }
        }
        let _gone = to.send(Piece::End);
    });
}

/// Asks a real process or file again and again until there is an answer, within bounds.
pub(crate) fn wait_for<T>(what: &str, ask: impl FnMut() -> Option<T>) -> T {
    wait_within(PATIENCE, ask).unwrap_or_else(|| panic!("{what} did not come in time"))
}

/// The same with a bound of its own; `None` where it passed.
pub(crate) fn wait_within<T>(bound: Duration, mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + bound;
    loop {
        if let Some(answer) = ask() {
            return Some(answer);
        }
        if Instant::now() >= deadline {
            return None;
        }
        std::thread::park_timeout(Duration::from_millis(5));
    }
}
