use std::sync::{Arc, LazyLock};

use probity_contract::{
    Bench, Content, ContentSetting, DenialDetail, Label, Limits, ModelName, ModelParams, Origin, PrincipalId,
    Roster, RunId, ToolChoice,
};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::run::{FirstItem, RunSpec};

fn key(seed: u8) -> String {
    KeyRing::written(&[seed; 32]).as_str().to_owned()
}

fn ring(seeds: &[u8]) -> KeyRing {
    let keys: Vec<String> = seeds.iter().map(|seed| key(*seed)).collect();
    KeyRing::parse(&keys.join("\n")).unwrap()
}

fn run(id: &str) -> Run {
    let content = Content::Person(Arc::from("say hello"));
    Run::new(RunSpec {
        run: RunId::new(id).unwrap(),
        title: "a test".to_owned(),
        principal: PrincipalId::new("ada").unwrap(),
        model: ModelName::new("test/none").unwrap(),
        prices: None,
        params: Arc::new(ModelParams::default()),
        tools: Arc::from([]),
        first_tool_choice: ToolChoice::Auto,
        principals_above: Vec::new(),
        parent: None,
        delegates: std::collections::BTreeMap::new(),
        bench: Bench::of(Roster::new(Vec::new()).unwrap()),
        limits: Limits::default(),
        denial_detail: DenialDetail::default(),
        boundary: crate::boundary::BoundarySettings::default(),
        content: ContentSetting::Full,
        items: vec![FirstItem { origin: Origin::Principal, label: Label::person(), content }],
        started_at_unix_ms: 0,
    })
    .unwrap()
}

const TTL_S: u64 = 60;
const MADE_AT_UNIX_MS: u64 = 1_000_000;

fn sealed(ring: &KeyRing, run: &Run, generation: u64) -> Vec<u8> {
    let host = json!({"file": "task.toml"});
    let making = Making {
        generation,
        made_at_unix_ms: MADE_AT_UNIX_MS,
        ttl_s: TTL_S,
        host: &host,
        nonce: [u8::try_from(generation).unwrap(); NONCE_BYTES],
    };
    Checkpoint::seal(ring, &run.snapshot().unwrap(), &making).unwrap()
}

fn open(ring: &KeyRing, sealed: &[u8]) -> Result<Checkpoint, CheckpointError> {
    Checkpoint::open(ring, sealed, MADE_AT_UNIX_MS, 0)
}

#[test]
fn what_is_sealed_is_opened_as_it_was() {
    let (ring, run) = (ring(&[1]), run("r1"));
    let opened = open(&ring, &sealed(&ring, &run, 3)).unwrap();
    assert_eq!(serde_json::to_value(&opened.run).unwrap(), serde_json::to_value(&run).unwrap());
    assert_eq!(opened.host, json!({"file": "task.toml"}));
    assert_eq!((opened.head.generation, opened.head.run.as_str()), (3, "r1"));
}

/// All bytes, each changed in three ways, and every length.
#[test]
fn i28_a_checkpoint_with_any_changed_byte_is_refused() {
    let (ring, run) = (ring(&[1]), run("r1"));
    let sealed = sealed(&ring, &run, 1);
    for at in 0..sealed.len() {
        for change in [1, 0x20, 0x80] {
            let mut changed = sealed.clone();
            *changed.get_mut(at).unwrap() ^= change;
            assert!(open(&ring, &changed).is_err(), "byte {at} by {change}");
        }
        assert!(open(&ring, sealed.get(..at).unwrap()).is_err(), "cut at {at}");
    }
    let mut longer = sealed;
    longer.push(0);
    assert_eq!(open(&ring, &longer).unwrap_err(), CheckpointError::Altered);
}

#[test]
fn i28_no_part_of_one_checkpoint_fits_another() {
    let ring = ring(&[1]);
    let (one, two) = (sealed(&ring, &run("r1"), 1), sealed(&ring, &run("r2"), 2));
    let secret_of = |sealed: &[u8]| CheckpointHead::split(sealed).unwrap().3.to_vec();
    let written_of = |sealed: &[u8]| CheckpointHead::split(sealed).unwrap().2.to_vec();
    let spliced = [written_of(&one), secret_of(&two)].concat();
    assert_eq!(open(&ring, &spliced).unwrap_err(), CheckpointError::Altered);
    // The head of one with the nonce and the secret of the other.
    let head_of = |sealed: &[u8]| {
        let written = written_of(sealed);
        written.get(..written.len() - NONCE_BYTES).unwrap().to_vec()
    };
    let rest_of = |sealed: &[u8]| sealed.get(head_of(sealed).len()..).unwrap().to_vec();
    assert_eq!(open(&ring, &[head_of(&one), rest_of(&two)].concat()).unwrap_err(), CheckpointError::Altered);
}

#[test]
fn i28_a_checkpoint_is_refused_with_a_foreign_key_when_old_and_when_expired() {
    let (ring_1, run) = (ring(&[1]), run("r1"));
    let bytes = sealed(&ring_1, &run, 4);
    let refused = |ring: &KeyRing, now, least| Checkpoint::open(ring, &bytes, now, least).unwrap_err();
    assert!(matches!(refused(&ring(&[2]), MADE_AT_UNIX_MS, 0), CheckpointError::ForeignKey(_)));
    assert_eq!(refused(&ring_1, MADE_AT_UNIX_MS, 5), CheckpointError::Older { found: 4, last: 5 });
    let expires_at_unix_ms = MADE_AT_UNIX_MS + TTL_S * 1_000;
    assert_eq!(refused(&ring_1, expires_at_unix_ms, 0), CheckpointError::Expired);
    assert!(Checkpoint::open(&ring_1, &bytes, expires_at_unix_ms - 1, 4).is_ok());
}

#[test]
fn a_key_that_was_replaced_still_opens_and_does_not_seal() {
    let run = run("r1");
    let (before, after) = (ring(&[1]), ring(&[2, 1]));
    assert!(open(&after, &sealed(&before, &run, 1)).is_ok());
    let new = sealed(&after, &run, 2);
    assert!(matches!(open(&before, &new).unwrap_err(), CheckpointError::ForeignKey(_)));
    assert_eq!(CheckpointHead::read(&new).unwrap().key, after.ids().next().unwrap().to_string());
}

#[test]
fn another_version_is_told_apart_from_a_damaged_file() {
    let ring = ring(&[1]);
    let bytes = sealed(&ring, &run("r1"), 1);
    let of_version = |version: &str| {
        let line = bytes.iter().position(|byte| *byte == b'\n').unwrap();
        let rest = bytes.get(line..).unwrap();
        [format!("probity-checkpoint {version}").as_bytes(), rest].concat()
    };
    assert_eq!(open(&ring, &of_version("2")).unwrap_err(), CheckpointError::Version(2));
    for other in ["01", "+1", "1 ", "", "x", "-1", "4294967296"] {
        assert_eq!(open(&ring, &of_version(other)).unwrap_err(), CheckpointError::NotOne, "{other}");
    }
    assert_eq!(open(&ring, b"").unwrap_err(), CheckpointError::NotOne);
}

#[test]
fn keys_are_read_as_they_are_written() {
    let both = format!("# since spring\n{} , {}  # the old one\n", key(1), key(2));
    assert_eq!(KeyRing::parse(&both).unwrap().ids().count(), 2);
    assert_eq!(KeyRing::parse(" \n# none\n").unwrap_err(), KeyError::None);
    assert_eq!(KeyRing::parse(&format!("{0} {0}", key(1))).unwrap_err(), KeyError::Twice(2));
    let bad =
        [key(1).replace("key-1", "key-2"), key(1) + "A", key(1).split_at(30).0.to_owned(), "x".to_owned()];
    for text in bad {
        assert_eq!(KeyRing::parse(&format!("{} {text}", key(3))).unwrap_err(), KeyError::Malformed(2));
    }
    let many: Vec<String> = (0..17).map(key).collect();
    assert_eq!(KeyRing::parse(&many.join(" ")).unwrap_err(), KeyError::TooMany);
}

#[test]
fn keys_show_themselves_nowhere() {
    let text = key(7);
    let shown = format!("{:?}", KeyRing::parse(&text).unwrap());
    assert!(!shown.contains(text.strip_prefix("probity-key-1:").unwrap()), "{shown}");
    let passed = probity_egress::egress_text::<probity_egress::SamePrincipal>(&format!("it is {text}."));
    assert_eq!(passed.as_str(), "it is [REDACTED:registered].");
}

// A ring tells the passes of its keys, which takes a while.
static GOOD: LazyLock<(KeyRing, Vec<u8>)> = LazyLock::new(|| {
    let ring = ring(&[1]);
    let sealed = sealed(&ring, &run("r1"), 1);
    (ring, sealed)
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    /// Whatever comes, opening says no and does not panic.
    #[test]
    fn i28_bytes_of_any_kind_are_no_checkpoint(bytes in any::<Vec<u8>>(), beginning in 0_usize..200) {
        let (ring, good) = &*GOOD;
        let begun = [good.get(..beginning.min(good.len())).unwrap(), &bytes].concat();
        prop_assume!(begun != *good);
        prop_assert!(open(ring, &begun).is_err());
    }
}
