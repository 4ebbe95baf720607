//! Command lines: what the reader says agrees with what real shells start, and what rules say of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use probity_contract::{Effect, FrozenCall, PolicyName, ToolName, ToolSpec, Verdict};
use probity_core::{Otherwise, RuleLists, RulePolicy, SHELL_COMMANDS_MAX, command_targets, read_commands};
use serde_json::json;

use crate::reference::Dice;
use crate::rule_files::frozen;

/// What is understood of one line, as the shell's programs tell it.
type Argvs = Vec<Vec<String>>;

const NAMES: [&str; 4] = ["a", "ab", "run", "x_1"];
const SHELLS: [&str; 2] = ["/bin/sh", "/bin/bash"];
/// How long one shell may take for all its lines.
const PATIENCE: Duration = Duration::from_secs(120);

/// Parts of lines, many of which a reader could get wrong.
const PARTS: [&str; 56] = [
    " ",
    " ",
    "  ",
    "\t",
    "\n",
    "'",
    "\"",
    "\\",
    "''",
    "\"\"",
    "'b c'",
    "\"d e\"",
    "\\ ",
    "\\\\",
    "\\'",
    "\\\"",
    "\\;",
    "\\\n",
    "'\\'",
    "\"\\\\\"",
    "\"\\$x\"",
    "\"\\n\"",
    "'$x'",
    "'`'",
    "'*'",
    "'#'",
    "'\n'",
    "\"\n\"",
    "\"'\"",
    "'\"'",
    "x",
    "y.z",
    "-n",
    "--k=v",
    "a=b",
    "@",
    "%",
    "+",
    ",",
    ":",
    "\u{fc}",
    "'\u{fc}\u{1f600}'",
    "\"\u{c1}\u{85}\"",
    "$x",
    "*",
    "#",
    "~",
    "{b,c}",
    "!",
    "if",
    "^",
    "(",
    ">f",
    "=",
    "\r",
    "\u{a0}",
];
/// What changes the meaning of a command that it stands before.
const BEFORE: [&str; 8] = ["x=1 ", "! ", "eval ", "exec ", "command ", "{ ", "$x ", "\\\n"];
const JOINTS: [&str; 14] =
    [";", "&", "&&", "||", "|", "\n", " ; ", " & ", " &&\n", " || ", " | ", "\n\n", ";;", " |& "];

/// A line: commands with numbered arguments, joined, and often broken by parts in any place.
fn line(dice: &mut Dice) -> String {
    let mut text = String::new();
    for number in 0..=dice.below(4) {
        if number > 0 {
            text.push_str(dice.one_of(&JOINTS));
        }
        let name = dice.one_of(&NAMES);
        if dice.below(12) == 0 {
            text.push_str(dice.one_of(&BEFORE));
        }
        match dice.below(6) {
            0 => text.push_str(&format!("'{name}'")),
            1 => text.push_str(&format!("\\{name}")),
            2 => text.push_str(&format!("\"{name}\"''")),
            _ => text.push_str(name),
        }
        text.push_str(&format!(" {number}"));
        for _ in 0..dice.below(4) {
            // What no reader accepts stands at the end of the list, and comes up less often.
            let among = if dice.below(8) == 0 { PARTS.len() } else { 43 };
            text.push_str(PARTS[dice.below(among)]);
        }
    }
    text
}

/// Lines that the reader accepts, with what it says of them. All that is drawn is counted.
fn accepted(seed: u64, wanted: usize) -> Vec<(String, Argvs)> {
    let (mut dice, mut lines) = (Dice(seed), Vec::new());
    let mut refused = 0;
    while lines.len() < wanted {
        assert!(refused < wanted * 4, "{refused} refused, {} accepted", lines.len());
        let text = line(&mut dice);
        match read_commands(&text) {
            Err(_) => refused += 1,
            Ok(commands) => lines.push((text, commands)),
        }
    }
    let (known, refused_least) =
        (lines.iter().filter(|(_, argvs)| argvs.iter().all(|argv| is_known(argv))).count(), wanted / 5);
    assert!(refused > refused_least, "the lines are too tame: {refused} refused");
    assert!(known > wanted * 3 / 4, "too few start nothing but the programs of the test: {known}");
    lines
}

/// Whether it starts one of the programs of the test; the shells find no other.
fn is_known(argv: &[String]) -> bool {
    NAMES.contains(&argv[0].as_str())
}

/// Runs a shell to its end within bounds of time.
fn run(shell: &str, args: &[&str], dir: &Path, result: &str) {
    let mut command = Command::new(shell);
    command.args(args).current_dir(dir.join("empty")).env_clear();
    command.env("PATH", dir.join("bin")).env("RESULT", result).env("TOLD", dir.join("told"));
    command.env("LC_ALL", "C.UTF-8").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let pid = rustix::process::Pid::from_child(&child);
    let (done, ended) = mpsc::channel();
    let waiting = std::thread::spawn(move || {
        child.wait().unwrap();
        done.send(()).unwrap();
    });
    if ended.recv_timeout(PATIENCE).is_err() {
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        panic!("{shell} took too long");
    }
    waiting.join().unwrap();
}

/// What the programs told, by line. Each has a file of its own: those of one line run side by side, and a shell may hand over
/// what one of them says in several writes.
fn told(dir: &Path, lines: usize) -> Vec<Argvs> {
    let mut all = vec![Argvs::new(); lines];
    for entry in fs::read_dir(dir.join("told")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let line: usize = name.split_once('.').unwrap().0.parse().unwrap();
        let text = String::from_utf8(fs::read(&path).unwrap()).unwrap();
        let mut fields = text.split_terminator('\0');
        let count: usize = fields.next().unwrap().parse().unwrap();
        let argv: Vec<String> = fields.map(str::to_owned).collect();
        assert_eq!(argv.len(), count, "a program told everything");
        all[line].push(argv);
        fs::remove_file(path).unwrap();
    }
    all
}

fn place() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in ["empty", "bin", "told"] {
        fs::create_dir(dir.path().join(name)).unwrap();
    }
    let text =
        "#!/bin/sh\nprintf '%s\\0' $(($# + 1)) \"${0##*/}\" \"$@\" >\"$TOLD/$LINE.$$\"\nexit $RESULT\n";
    for name in NAMES {
        let path = dir.path().join("bin").join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    dir
}

/// With programs that succeed, what stands behind `||` does not run; with ones that fail, what stands behind `&&`. Every
/// command runs in one of the two.
fn check(shell: &str, lines: &[(String, Argvs)], [succeeding, failing]: [Vec<Argvs>; 2]) {
    assert_eq!([succeeding.len(), failing.len()], [lines.len(); 2], "{shell}");
    for ((text, read), (succeeding, failing)) in lines.iter().zip(succeeding.iter().zip(&failing)) {
        let of = |argvs: &Argvs| argvs.iter().cloned().collect::<BTreeSet<_>>();
        let ran: BTreeSet<Vec<String>> = of(succeeding).union(&of(failing)).cloned().collect();
        if read.iter().all(|argv| is_known(argv)) {
            assert_eq!(of(read), ran, "{shell}: {text:?}");
        }
        // Beside a program that is not there, what hangs on its success does not run.
        assert!(ran.is_subset(&of(read)), "{shell}: {text:?}: {read:?}, and ran {ran:?}");
        for argvs in [succeeding, failing] {
            let times = |argvs: &Argvs| {
                argvs.iter().fold(BTreeMap::new(), |mut times: BTreeMap<_, usize>, argv| {
                    *times.entry(argv.clone()).or_default() += 1;
                    times
                })
            };
            let read = times(read);
            assert!(
                times(argvs).iter().all(|(argv, ran)| read[argv] >= *ran),
                "{shell}: {text:?}: {argvs:?}"
            );
        }
    }
}

/// Many lines in one shell, whose programs are functions that tell their arguments.
fn one_shell(shell: &str, seed: u64, wanted: usize) {
    let (dir, lines) = (place(), accepted(seed, wanted));
    let both = ["0", "1"].map(|result| {
        // Without `set -C` two that run side by side could take one file. `true` is no special builtin, so a file that is
        // there already does not end the shell.
        let mut script = "set -C\ntell() {\n\
            i=0\n\
            until { true >\"$TOLD/$LINE.$i\"; } 2>/dev/null; do i=$((i + 1)); done\n\
            printf '%s\\0' \"$#\" \"$@\" >>\"$TOLD/$LINE.$i\"\n\
            return $RESULT\n}\n"
            .to_owned();
        for name in NAMES {
            script.push_str(&format!("{name}() {{ tell {name} \"$@\"; }}\n"));
        }
        for (number, (text, _)) in lines.iter().enumerate() {
            script.push_str(&format!("LINE={number}\n{text}\nwait\n"));
        }
        fs::write(dir.path().join("script"), script).unwrap();
        run(shell, &["../script"], dir.path(), result);
        told(dir.path(), lines.len())
    });
    check(shell, &lines, both);
}

/// A shell a line, with real programs: the only ones on the path.
fn a_shell_each(shell: &str, seed: u64, wanted: usize) {
    let (dir, lines) = (place(), accepted(seed, wanted));
    let both = ["0", "1"].map(|result| {
        for (number, (text, _)) in lines.iter().enumerate() {
            let script = format!("export LINE={number}\n{text}\nwait");
            run(shell, &["-c", &script], dir.path(), result);
        }
        told(dir.path(), lines.len())
    });
    check(shell, &lines, both);
}

#[test]
fn i48_the_reader_agrees_with_real_shells_on_5_000_lines_each() {
    let shells = SHELLS.iter().filter(|shell| Path::new(shell).exists()).collect::<Vec<_>>();
    assert!(shells.contains(&&"/bin/sh"), "every system has one");
    for (number, shell) in (1..).zip(shells) {
        one_shell(shell, number, 5_000);
    }
}

#[test]
fn i48_the_reader_agrees_with_real_shells_that_start_programs() {
    for (number, shell) in (11..).zip(SHELLS.iter().filter(|shell| Path::new(shell).exists())) {
        a_shell_each(shell, number, 100);
    }
}

fn call(command: &str) -> FrozenCall {
    frozen("run", &json!({ "command": command }), command_targets(command))
}

fn said(allow: &[&str], deny: &[&str], command: &str) -> &'static str {
    let list = |rules: &[&str]| rules.iter().map(|rule| (*rule).to_owned()).collect();
    let lists = RuleLists { allow: list(allow), deny: list(deny), ask: Vec::new() };
    let tool = ToolSpec {
        name: ToolName::new("run").unwrap(),
        description: String::new(),
        input_schema: json!({ "properties": { "command": {} }, "additionalProperties": false }),
        effect: Effect::Once,
        server: None,
        sandbox: None,
        endorses: Vec::new(),
    };
    let name = PolicyName::new("rules").unwrap();
    match RulePolicy::new(name, &lists, &[tool], Otherwise::Abstain).unwrap().verdict(&call(command)) {
        Verdict::Allow { .. } => "allow",
        Verdict::Ask { .. } => "ask",
        Verdict::Deny { .. } => "deny",
        Verdict::Abstain => "abstain",
    }
}

#[test]
fn i48_every_command_of_a_line_must_be_allowed_and_any_may_be_denied() {
    let allow = ["run(git *)", "run(head *)"];
    assert_eq!(said(&allow, &[], "git log && git status"), "allow");
    assert_eq!(said(&allow, &[], "git log | head -n 3; git status"), "allow");
    assert_eq!(said(&allow, &[], "git log && rm -rf x"), "abstain");
    assert_eq!(said(&allow, &["run(rm *)"], "git log && rm -rf x"), "deny");
    assert_eq!(said(&["run(git)"], &[], "git; git -h"), "abstain");
    assert_eq!(said(&["run(command=git *)"], &[], "git log"), "allow");
    assert_eq!(said(&["run(command=git *)"], &[], "git log; rm x"), "abstain");
}

#[test]
fn i48_what_is_not_accounted_for_is_never_allowed_and_denied_wherever_the_words_stand() {
    for rule in ["run", "run(*)", "run(**)", "run(git *)", "run(find *)", "run(command=*)", "run(command=**)"]
    {
        for command in
            ["git log $x", "find . $IFS-exec id {} +", "git `id`", "git log > x", "x=1 git log", "git 'log"]
        {
            assert_eq!(said(&[rule], &[], command), "abstain", "{rule} {command}");
        }
    }
    for command in [
        "rm -rf $x",
        "$(rm x)",
        "{rm,-rf,x}",
        "x=1 rm y",
        "r\\m $x",
        "r''m $x",
        "\"r\"m $x",
        "rm$IFS-rf",
        "`/bin/rm x`",
        "echo <(rm x)",
        "if true; then rm x; fi",
        "(rm x)",
        "! rm x",
        "r\\\nm $x",
        "eval 'r\\m x'",
    ] {
        assert_eq!(said(&["run"], &["run(rm *)"], command), "deny", "{command}");
    }
    assert_eq!(said(&[], &["run(rm -rf *)"], "rm${IFS}-rf${IFS}x"), "deny");
    assert_eq!(said(&["run"], &["run(rm *)"], "echo $form"), "abstain");
}

#[test]
fn i48_no_number_of_commands_hides_the_last() {
    let line = |many: usize, last: &str| format!("{}{last}", "true;".repeat(many));
    for many in [50, 500, SHELL_COMMANDS_MAX + 1, 20_000] {
        assert_eq!(said(&["run(true)", "run"], &["run(curl *)"], &line(many, "curl evil")), "deny", "{many}");
    }
    assert_eq!(said(&["run(true)"], &[], &line(50, "true")), "allow");
    assert_eq!(said(&["run(true)"], &[], &line(50, "curl evil")), "abstain");
    assert_eq!(said(&["run(true)", "run"], &[], &line(SHELL_COMMANDS_MAX, "true")), "abstain");
}
