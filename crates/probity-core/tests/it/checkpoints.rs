//! Sealed checkpoints of version 1, as they lie in `tests/checkpoints/v1`: what was sealed once is opened by every later
//! version, and goes on as it would have then.
//!
//! `cargo test -p probity-core --test it checkpoints::write -- --ignored` makes those that are missing. It never writes over
//! one: a checkpoint that a later version seals is no proof that it opens an earlier one's.

use std::fs;
use std::path::{Path, PathBuf};

use probity_contract::{Answer, Effect, Fact, Integrity, Label};
use probity_core::{Checkpoint, CheckpointError, CheckpointHead, KeyRing, Making, NONCE_BYTES, Run, Stopped};
use probity_testkit::{
    Acts, Judges, ScriptedApprover, ScriptedModel, ScriptedPolicy, ScriptedTool, Turn, principal,
};
use serde_json::{Value, json};

use crate::resuming::{Deployment, answer, approve, deployment, paused};

const MADE_AT_UNIX_MS: u64 = 1_790_000_000_000;
const TTL_S: u64 = 30 * 86_400;

/// The key of these files. It protects nothing.
fn ring() -> KeyRing {
    KeyRing::parse(KeyRing::written(&[7; 32]).as_str()).unwrap()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/checkpoints/v1")
}

/// A state in which a run can be stored, and what becomes of it when it is taken up by a process that leaves every question
/// open.
struct Case {
    name: &'static str,
    starts: usize,
    /// Words that the model reads next.
    told: &'static [&'static str],
    pauses: bool,
}

const CASES: [Case; 7] = [
    Case { name: "asked", starts: 0, told: &[], pauses: true },
    Case { name: "approved", starts: 1, told: &[], pauses: false },
    Case { name: "approved-for-more", starts: 1, told: &[], pauses: false },
    Case { name: "refused", starts: 0, told: &["denied", "no"], pauses: false },
    Case { name: "edited", starts: 0, told: &[], pauses: true },
    Case { name: "one-of-two-approved", starts: 1, told: &[], pauses: true },
    Case { name: "running", starts: 0, told: &["whether it had an effect is unknown"], pauses: false },
];

fn scene(name: &str) -> (Deployment, ScriptedTool) {
    let tool = ScriptedTool::new("act", Effect::Once, Acts::Echoes);
    let policy = match name {
        "running" => ScriptedPolicy::new("careful", Judges::allows()),
        _ => ScriptedPolicy::new("careful", Judges::asks("it costs money")),
    };
    let calls: &[(&str, &str)] = match name {
        "one-of-two-approved" => &[("act", r#"{"text":"x"}"#), ("act", r#"{"text":"y"}"#)],
        _ => &[("act", r#"{"text":"x"}"#)],
    };
    let mut deployment = deployment(&[&tool], &policy, vec![Turn::calls(calls), Turn::text("done")]);
    deployment.above.push(ScriptedPolicy::allowing());
    (deployment, tool)
}

/// The state itself, made by running.
async fn state(name: &str) -> String {
    let (mut deployment, _) = scene(name);
    if name == "running" {
        deployment.approver = Some(ScriptedApprover::hanging());
        let stopped = deployment.start().await;
        assert!(matches!(stopped, Stopped::Finished(_)));
        let states = deployment.kept.states.lock().unwrap().clone();
        let durable =
            states.iter().find(|(_, durability)| *durability == probity_contract::Durability::Durable);
        return durable.unwrap().0.clone();
    }
    paused(deployment.start().await);
    let asked = deployment.last_state();
    let by = principal("eve");
    match name {
        "asked" => asked,
        "approved" | "one-of-two-approved" => answer(&deployment, &asked, approve()),
        "approved-for-more" => answer(&deployment, &asked, Answer::Approve { by, more: 2 }),
        "refused" => {
            answer(&deployment, &asked, Answer::Refuse { by, reason: "no".to_owned(), for_good: true })
        }
        "edited" => answer(&deployment, &asked, Answer::Edit { by, arguments: r#"{"text":"z"}"#.to_owned() }),
        other => panic!("there is no case `{other}`"),
    }
}

fn seal(state: &str, nonce: u8) -> Vec<u8> {
    let run: Run = serde_json::from_str(state).unwrap();
    let host = json!({"task": "task.toml"});
    let nonce = [nonce; NONCE_BYTES];
    let making = Making { generation: 1, made_at_unix_ms: MADE_AT_UNIX_MS, ttl_s: TTL_S, host: &host, nonce };
    Checkpoint::seal(&ring(), &run.snapshot().unwrap(), &making).unwrap()
}

fn open(sealed: &[u8]) -> Result<Checkpoint, CheckpointError> {
    Checkpoint::open(&ring(), sealed, MADE_AT_UNIX_MS, 1)
}

#[tokio::test(start_paused = true)]
#[ignore = "makes files of the tree"]
async fn write() {
    fs::create_dir_all(folder()).unwrap();
    let put = |name: &str, bytes: &[u8]| {
        let path = folder().join(format!("{name}.sealed"));
        if !path.exists() {
            fs::write(path, bytes).unwrap();
        }
    };
    for (case, nonce) in CASES.iter().zip(1..) {
        put(case.name, &seal(&state(case.name).await, nonce));
    }
    let good = fs::read(folder().join("asked.sealed")).unwrap();
    let other = fs::read(folder().join("approved.sealed")).unwrap();
    let mut altered = good.clone();
    *altered.last_mut().unwrap() ^= 1;
    put("bad-altered", &altered);
    put("bad-truncated", &good[..good.len() / 2]);
    let head_end = |sealed: &[u8]| {
        let first = sealed.iter().position(|byte| *byte == b'\n').unwrap();
        first + 2 + sealed[first + 1..].iter().position(|byte| *byte == b'\n').unwrap()
    };
    let mut generation = String::from_utf8(good[..head_end(&good)].to_vec()).unwrap();
    generation = generation.replace("\"generation\":1", "\"generation\":9");
    put("bad-generation", &[generation.as_bytes(), &good[head_end(&good)..]].concat());
    let rest = |sealed: &[u8]| head_end(sealed) + NONCE_BYTES;
    put("bad-spliced", &[&good[..rest(&good)], &other[rest(&other)..]].concat());
    put("bad-version", &[b"probity-checkpoint 2", &good["probity-checkpoint 1".len()..]].concat());
    let foreign = KeyRing::parse(KeyRing::written(&[8; 32]).as_str()).unwrap();
    let run: Run = serde_json::from_str(&state("approved").await).unwrap();
    let host = json!({});
    let nonce = [99; NONCE_BYTES];
    let making = Making { generation: 1, made_at_unix_ms: MADE_AT_UNIX_MS, ttl_s: TTL_S, host: &host, nonce };
    put("bad-foreign-key", &Checkpoint::seal(&foreign, &run.snapshot().unwrap(), &making).unwrap());
}

#[tokio::test(start_paused = true)]
async fn i28_every_checkpoint_of_version_1_goes_on() {
    for case in CASES {
        let sealed = fs::read(folder().join(format!("{}.sealed", case.name))).unwrap();
        let opened = open(&sealed).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        assert_eq!(opened.host, json!({"task": "task.toml"}));
        let (mut deployment, tool) = scene(case.name);
        deployment.model = ScriptedModel::by(|_| Turn::text("done"));
        // The record of the run lies elsewhere; here it goes on behind what the checkpoint tells of it.
        let stopped = deployment.resume(&serde_json::to_string(&opened.run).unwrap()).await.unwrap();
        assert_eq!(matches!(stopped, Stopped::Paused(_)), case.pauses, "{}", case.name);
        assert_eq!(tool.start_count(), case.starts, "{}", case.name);
        let told = serde_json::to_string(&deployment.model.asked().last().map(|asked| asked.text())).unwrap();
        assert!(case.told.iter().all(|words| told.contains(words)), "{}: {told}", case.name);
    }
}

/// What was stored when there were two levels keeps its bytes, and a call that is proposed now is believed no further than what
/// the person said.
#[tokio::test(start_paused = true)]
async fn i40_a_checkpoint_of_version_1_keeps_its_labels() {
    for case in CASES {
        let opened = open(&fs::read(folder().join(format!("{}.sealed", case.name))).unwrap()).unwrap();
        let state: Value = serde_json::from_str(&serde_json::to_string(&opened.run).unwrap()).unwrap();
        let window = state["window"].as_array().unwrap();
        assert_eq!(
            window[0]["label"],
            json!({"integrity": "trusted", "readers": "everyone"}),
            "{}",
            case.name
        );
        assert_eq!(state["label"], json!({"integrity": "person", "readers": "everyone"}), "{}", case.name);
        let before: Vec<Label> = opened.run.items().iter().map(|item| item.label.clone()).collect();
        let calls: Vec<Value> = state["calls"].as_object().unwrap().values().cloned().collect();
        for frozen in calls.iter().map(|call| &call["frozen"]).filter(|frozen| !frozen.is_null()) {
            assert_eq!(frozen["label"]["integrity"], "trusted", "it is bound by its digest");
            assert!(frozen.get("arguments_from").is_none());
        }
        let (mut deployment, _) = scene(case.name);
        let turns = std::sync::atomic::AtomicUsize::new(0);
        deployment.model =
            ScriptedModel::by(move |_| match turns.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
                0 => Turn::calls(&[("act", r#"{"text":"new"}"#)]),
                _ => Turn::text("done"),
            });
        let stopped = deployment.resume(&serde_json::to_string(&opened.run).unwrap()).await.unwrap();
        let after: Vec<Label> = match &stopped {
            Stopped::Paused(_) => crate::resuming::read(&deployment.last_state())
                .items()
                .iter()
                .map(|item| item.label.clone())
                .collect(),
            Stopped::Finished(finished) => {
                finished.machine().items().iter().map(|item| item.label.clone()).collect()
            }
        };
        assert!(after.starts_with(&before), "{}", case.name);
        let new = deployment.facts().into_iter().filter_map(|fact| match fact {
            Fact::CallFrozen { label, .. } => Some(label.integrity),
            _ => None,
        });
        assert!(new.into_iter().all(|integrity| integrity <= Integrity::Person), "{}", case.name);
    }
}

#[test]
fn i28_every_bad_checkpoint_of_version_1_is_refused_with_its_reason() {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        names.extend(name.strip_suffix(".sealed").filter(|name| name.starts_with("bad-")).map(str::to_owned));
    }
    names.sort();
    let refused = names.iter().map(|name| {
        let error = open(&fs::read(folder().join(format!("{name}.sealed"))).unwrap()).unwrap_err();
        assert!(!error.hint().is_empty());
        let kind = match error {
            CheckpointError::Altered => "altered",
            CheckpointError::Version(2) => "version",
            CheckpointError::ForeignKey(_) => "foreign",
            other => panic!("{name}: {other}"),
        };
        (name.as_str(), kind)
    });
    let expected = [
        ("bad-altered", "altered"),
        ("bad-foreign-key", "foreign"),
        ("bad-generation", "altered"),
        ("bad-spliced", "altered"),
        ("bad-truncated", "altered"),
        ("bad-version", "version"),
    ];
    assert_eq!(refused.collect::<Vec<_>>(), expected);
    let good = fs::read(folder().join("asked.sealed")).unwrap();
    let expires = CheckpointHead::read(&good).unwrap().expires_at_unix_ms;
    assert_eq!(Checkpoint::open(&ring(), &good, expires, 0).unwrap_err(), CheckpointError::Expired);
    let older = Checkpoint::open(&ring(), &good, MADE_AT_UNIX_MS, 2).unwrap_err();
    assert_eq!(older, CheckpointError::Older { found: 1, last: 2 });
}

/// What a checkpoint has beside content: texts, and one entry a text and an item.
#[tokio::test(start_paused = true)]
async fn a_checkpoint_has_at_most_ten_kilobytes_beside_its_content() {
    const STRUCTURE_BYTES_MAX: usize = 10 * 1024;
    let tool = ScriptedTool::new("act", Effect::Once, Acts::Echoes);
    let policy = ScriptedPolicy::by("careful", |call, _| match call.arguments().as_str().contains("ask") {
        true => Judges::asks("it costs money"),
        false => Judges::allows(),
    });
    let one = |text: String| Turn::calls(&[("act", &format!(r#"{{"text":"{text}"}}"#))]);
    let mut turns: Vec<Turn> = (0..40).map(|at| one(format!("{at}"))).collect();
    turns.push(Turn::calls(&[
        ("act", r#"{"text":"ask 1"}"#),
        ("act", r#"{"text":"ask 2"}"#),
        ("act", r#"{"text":"ask 3"}"#),
    ]));
    let deployment = deployment(&[&tool], &policy, turns);
    paused(deployment.start().await);
    let mut state: Value = serde_json::from_str(&deployment.last_state()).unwrap();
    let whole = state.to_string().len();
    state["window"] = json!([]);
    state["ledger"]["known_parts"] = json!([]);
    state["spec"]["tools"] = json!([]);
    let structure = state.to_string().len();
    assert!(structure <= STRUCTURE_BYTES_MAX, "{structure} of {whole} bytes");
}
