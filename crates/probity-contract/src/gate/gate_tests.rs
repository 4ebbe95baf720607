use proptest::prelude::*;
use serde_json::{Value, json};

use std::sync::Arc;

use super::*;
use crate::digest::Digest;
use crate::ids::{CallId, ItemId, PolicyName, PrincipalId, RunId, ToolName};
use crate::json::Arguments;
use crate::label::Label;
use crate::label::{Integrity, Readers};
use crate::policy::Verdict;
use crate::tool::{Access, Effect, Holds, Operand, Target, ToolSpec};

const SEAT: Seat = Seat::Adjudicate;

fn policy(at: usize) -> PolicyName {
    PolicyName::new(format!("p{at}")).unwrap()
}

/// Everything that one policy can say.
fn all_said() -> Vec<Said> {
    let reason = || "because".to_owned();
    vec![
        Said::Verdict(Verdict::Abstain),
        Said::Verdict(Verdict::Allow { reason: reason() }),
        Said::Verdict(Verdict::Ask { reason: reason() }),
        Said::Verdict(Verdict::Deny { reason: reason() }),
        Said::Failed("broken".to_owned()),
        Said::Cancelled,
    ]
}

/// All that rosters of 0 to 3 policies can say together: 1 + 6 + 36 + 216 cases.
fn all_hearings() -> Vec<Vec<Said>> {
    let mut all = vec![Vec::new()];
    let mut longest = vec![Vec::new()];
    for _ in 0..3 {
        longest = longest
            .iter()
            .flat_map(|said: &Vec<Said>| {
                all_said().into_iter().map(|next| said.iter().cloned().chain([next]).collect::<Vec<_>>())
            })
            .collect();
        all.extend(longest.iter().cloned());
    }
    all
}

fn roster_of(opinions: &[Opinion]) -> Roster {
    Roster::new(opinions.iter().map(|opinion| opinion.policy.clone()).collect()).unwrap()
}

fn opinions(said: &[Said]) -> Vec<Opinion> {
    said.iter().enumerate().map(|(at, said)| Opinion::own(policy(at), said.clone())).collect()
}

fn orders<T: Clone>(values: &[T]) -> Vec<Vec<T>> {
    if values.is_empty() {
        return vec![Vec::new()];
    }
    (0..values.len())
        .flat_map(|at| {
            let mut rest = values.to_vec();
            let first = rest.remove(at);
            orders(&rest).into_iter().map(move |order| [vec![first.clone()], order].concat())
        })
        .collect()
}

/// The decision alone, the more permissive the higher.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Deny,
    Ask,
    Allow,
}

fn level(ruling: &Ruling) -> Level {
    match ruling {
        Ruling::Deny(_) => Level::Deny,
        Ruling::Ask(_) => Level::Ask,
        Ruling::Allow => Level::Allow,
    }
}

fn decide(said: &[Said]) -> Level {
    let opinions = opinions(said);
    level(&rule(SEAT, &roster_of(&opinions), &opinions))
}

/// What the rule says in plain words, written a second time.
fn expected(said: &[Said]) -> Level {
    let verdict = |said: &Said| match said {
        Said::Verdict(verdict) => Some(verdict.clone()),
        Said::Failed(_) | Said::Cancelled => None,
    };
    let verdicts: Option<Vec<Verdict>> = said.iter().map(verdict).collect();
    let Some(verdicts) = verdicts else { return Level::Deny };
    let any = |wanted: fn(&Verdict) -> bool| verdicts.iter().any(wanted);
    if any(|verdict| matches!(verdict, Verdict::Deny { .. })) {
        Level::Deny
    } else if any(|verdict| matches!(verdict, Verdict::Ask { .. })) {
        Level::Ask
    } else if any(|verdict| matches!(verdict, Verdict::Allow { .. })) {
        Level::Allow
    } else {
        Level::Deny
    }
}

#[test]
fn the_rule_is_deny_over_ask_over_allow_and_nobody_speaking_denies() {
    for said in all_hearings() {
        assert_eq!(decide(&said), expected(&said), "{said:?}");
    }
}

#[test]
fn i02_any_deny_denies_in_every_order() {
    for said in all_hearings() {
        if said.iter().any(|said| matches!(said, Said::Verdict(Verdict::Deny { .. }))) {
            for order in orders(&said) {
                assert_eq!(decide(&order), Level::Deny, "{order:?}");
            }
        }
    }
}

#[test]
fn i03_permuting_or_duplicating_policies_never_changes_the_decision() {
    for said in all_hearings() {
        let decided = decide(&said);
        for order in orders(&said) {
            assert_eq!(decide(&order), decided, "{order:?}");
        }
        for at in 0..said.len() {
            let mut with_twin = said.clone();
            with_twin.push(said[at].clone());
            assert_eq!(decide(&with_twin), decided, "{with_twin:?}");
        }
    }
}

/// The one way up is the policy that speaks where nobody spoke: that is what writing a first rule means.
#[test]
fn i04_adding_a_policy_never_makes_a_decision_more_permissive() {
    for said in all_hearings().iter().filter(|said| said.len() < 3) {
        let nobody_spoke = said.iter().all(|said| *said == Said::Verdict(Verdict::Abstain));
        for more in all_said() {
            let first_word =
                nobody_spoke && matches!(more, Said::Verdict(Verdict::Allow { .. } | Verdict::Ask { .. }));
            let mut with_more = said.clone();
            with_more.push(more);
            if !first_word {
                assert!(decide(&with_more) <= decide(said), "{with_more:?}");
            }
        }
    }
}

#[test]
fn i05_order_of_registration_never_lets_an_allow_beat_a_deny_or_an_ask() {
    for said in all_hearings() {
        let opinions = opinions(&said);
        for names in orders(roster_of(&opinions).names()) {
            let roster = Roster::new(names).unwrap();
            assert_eq!(level(&rule(SEAT, &roster, &opinions)), expected(&said), "{roster:?} {said:?}");
        }
    }
}

#[test]
fn i06_absence_of_opinion_denies() {
    let check = |said: &[Said], code| {
        let opinions = opinions(said);
        let Ruling::Deny(denial) = rule(SEAT, &roster_of(&opinions), &opinions) else { panic!("not denied") };
        assert_eq!((denial.code, denial.by), (code, None));
        assert!(!denial.reason.is_empty());
    };
    check(&[], DenialCode::NoPolicy);
    for size in 1..4 {
        check(&vec![Said::Verdict(Verdict::Abstain); size], DenialCode::NotCovered);
    }
}

#[test]
fn i07_whatever_is_not_a_verdict_denies() {
    for said in all_hearings() {
        if said.iter().any(|said| matches!(said, Said::Failed(_) | Said::Cancelled)) {
            assert_eq!(decide(&said), Level::Deny, "{said:?}");
        }
    }
}

#[test]
fn an_opinion_that_is_missing_foreign_or_doubled_denies() {
    let allow = Said::Verdict(Verdict::Allow { reason: "yes".to_owned() });
    for size in 1..4 {
        let whole = opinions(&vec![allow.clone(); size]);
        let roster = roster_of(&whole);
        assert_eq!(rule(SEAT, &roster, &whole), Ruling::Allow);
        for at in 0..size {
            let mut missing = whole.clone();
            missing.remove(at);
            let mut foreign = whole.clone();
            foreign[at].policy = policy(9);
            let mut doubled = whole.clone();
            doubled.push(whole[at].clone());
            let mut added = whole.clone();
            added.push(Opinion::own(policy(9), allow.clone()));
            let mut in_place_of_another = whole.clone();
            in_place_of_another[at].policy = policy((at + 1) % size);
            let mut cases = vec![missing, foreign, doubled, added];
            if size > 1 {
                cases.push(in_place_of_another);
            }
            for opinions in cases {
                let ruling = rule(SEAT, &roster, &opinions);
                let Ruling::Deny(denial) = ruling else { panic!("allowed by {opinions:?}") };
                assert_eq!(denial.code, DenialCode::Incomplete);
            }
        }
    }
}

#[test]
fn a_denial_names_the_policy_that_denied() {
    let deny = Said::Verdict(Verdict::Deny { reason: "no".to_owned() });
    for (said, code) in [(deny, DenialCode::Policy), (Said::Failed("x".to_owned()), DenialCode::PolicyFailed)]
    {
        let opinions = opinions(&[Said::Verdict(Verdict::Abstain), said]);
        let Ruling::Deny(denial) = rule(Seat::ExecuteRecheck, &roster_of(&opinions), &opinions) else {
            panic!("not denied")
        };
        assert_eq!((denial.code, denial.by, denial.seat), (code, Some(policy(1)), Seat::ExecuteRecheck));
    }
}

#[test]
fn a_roster_has_no_name_twice_not_even_read_back() {
    assert!(Roster::new(vec![policy(1), policy(2), policy(1)]).is_err());
    assert!(serde_json::from_str::<Roster>(r#"["p1","p1"]"#).is_err());
    assert!(serde_json::from_str::<Roster>(r#"["p1","p2"]"#).is_ok());
}

fn facts() -> CallFacts {
    CallFacts {
        run: RunId::new("r1").unwrap(),
        call: CallId(1),
        principal: PrincipalId::new("ada").unwrap(),
        tool: ToolName::new("fs_write").unwrap(),
        tool_digest: Digest::of("test", &[b"tool"]),
        arguments: Arguments::parse(r#"{"path":"a.txt","n":1}"#).unwrap(),
        targets: vec![Target::Path {
            root: "work".to_owned(),
            path: "a.txt".to_owned(),
            resolved: "a.txt".to_owned(),
            access: Access::Write,
            recursive: false,
        }],
        label: Label::system(),
        operands: Vec::new(),
        arguments_from: Vec::new(),
    }
}

fn frozen(facts: CallFacts) -> Arc<FrozenCall> {
    Arc::new(FrozenCall::freeze(facts).unwrap())
}

/// What can be known of a seat when the permit is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heard {
    Not,
    Allows,
    Asks,
    Denies,
}

const ALL_HEARD: [Heard; 4] = [Heard::Not, Heard::Allows, Heard::Asks, Heard::Denies];

fn hear(judgement: &mut Judgement, seat: Seat, heard: Heard) {
    let reason = "because".to_owned();
    let verdict = match heard {
        Heard::Not => return,
        Heard::Allows => Verdict::Allow { reason },
        Heard::Asks => Verdict::Ask { reason },
        Heard::Denies => Verdict::Deny { reason },
    };
    judgement.hear(seat, &[Opinion::own(policy(0), Said::Verdict(verdict))]);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Approved {
    No,
    ThisCall,
    AnotherCall,
    AnotherAsker,
    TooLong,
}

const EXPIRES_AT_MS: u64 = 1_000;

/// Says of every use that it is the first.
struct Forgetful;

impl Redeemer for Forgetful {
    fn redeem(&self, _run: &RunId, _binding: Digest) -> Result<(), RedeemError> {
        Ok(())
    }
}

pub(super) fn redeemed(grant: &Grant) -> Redemption {
    Redemption::claim(&Forgetful, &RunId::new("run").unwrap(), grant.binding()).unwrap()
}

fn question(call: Arc<FrozenCall>, asker: usize, expires_at_ms: u64) -> PendingCall {
    let asker = Asker { level: super::Level::OWN, policy: policy(asker), reason: "because".to_owned() };
    PendingCall::put(QuestionFacts {
        call,
        seat: SEAT,
        askers: vec![asker],
        epochs: Vec::new(),
        principals: vec![PrincipalId::new("ada").unwrap()],
        number: 1,
        not_before_ms: 0,
        expires_at_ms,
    })
}

fn judgement(adjudicated: Heard, rechecked: Heard, approved: Approved) -> Judgement {
    let call = frozen(facts());
    let other = frozen(CallFacts { call: CallId(2), ..facts() });
    let bench = Bench::of(Roster::new(vec![policy(0)]).unwrap());
    let mut judgement = Judgement::open(Arc::clone(&call), bench);
    hear(&mut judgement, Seat::Adjudicate, adjudicated);
    hear(&mut judgement, Seat::ExecuteRecheck, rechecked);
    let grant_to = |asker, call, expires_at_ms| {
        question(call, asker, expires_at_ms).approve(PrincipalId::new("eve").unwrap())
    };
    let grant = |call, expires_at_ms| grant_to(0, call, expires_at_ms);
    let mut approve = |grant: Grant| {
        judgement.redeem(redeemed(&grant));
        judgement.grant(grant);
    };
    match approved {
        Approved::No => {}
        Approved::ThisCall => approve(grant(call, EXPIRES_AT_MS)),
        Approved::AnotherCall => approve(grant(other, EXPIRES_AT_MS)),
        Approved::AnotherAsker => approve(grant_to(1, call, EXPIRES_AT_MS)),
        Approved::TooLong => approve(grant(call, EXPIRES_AT_MS / 2)),
    }
    judgement
}

/// All 80 combinations of what two seats and a person can have said.
#[test]
fn i01_a_permit_needs_both_seats_and_a_grant_for_this_very_call_where_one_asked() {
    let all_approved =
        [Approved::No, Approved::ThisCall, Approved::AnotherCall, Approved::AnotherAsker, Approved::TooLong];
    let mut permitted = 0;
    for adjudicated in ALL_HEARD {
        for rechecked in ALL_HEARD {
            for approved in all_approved {
                let permit = judgement(adjudicated, rechecked, approved).permit(EXPIRES_AT_MS - 1);
                let seats = [adjudicated, rechecked];
                let nobody_objects = seats.iter().all(|heard| matches!(heard, Heard::Allows | Heard::Asks));
                let covered = !seats.contains(&Heard::Asks) || approved == Approved::ThisCall;
                assert_eq!(permit.is_ok(), nobody_objects && covered, "{seats:?} {approved:?}");
                if let Ok(permit) = permit {
                    permitted += 1;
                    assert_eq!(permit.call().facts(), &facts());
                }
            }
        }
    }
    assert_eq!(permitted, 5 + 3);
}

#[test]
fn a_refused_permit_says_why() {
    let check = |judgement: Judgement, now_ms, code, seat| {
        let denial = judgement.permit(now_ms).unwrap_err();
        assert_eq!((denial.code, denial.seat), (code, seat));
        assert!(!denial.reason.is_empty());
    };
    let (adjudicate, recheck) = (Seat::Adjudicate, Seat::ExecuteRecheck);
    use Approved::{AnotherAsker, AnotherCall, No, ThisCall};
    use Heard::{Allows, Asks, Denies, Not};
    check(judgement(Not, Allows, No), 0, DenialCode::Incomplete, adjudicate);
    check(judgement(Allows, Not, No), 0, DenialCode::Incomplete, recheck);
    check(judgement(Denies, Allows, ThisCall), 0, DenialCode::Policy, adjudicate);
    check(judgement(Allows, Denies, ThisCall), 0, DenialCode::Policy, recheck);
    check(judgement(Asks, Allows, No), 0, DenialCode::NobodyToAsk, adjudicate);
    check(judgement(Allows, Asks, AnotherCall), 0, DenialCode::NobodyToAsk, recheck);
    check(judgement(Allows, Asks, AnotherAsker), 0, DenialCode::NobodyToAsk, recheck);
    check(judgement(Asks, Asks, ThisCall), EXPIRES_AT_MS, DenialCode::Expired, adjudicate);
}

#[test]
fn i21_a_grant_ends_exactly_at_its_expiry() {
    let permit_at = |now_ms| judgement(Heard::Asks, Heard::Asks, Approved::ThisCall).permit(now_ms).is_ok();
    assert!(permit_at(EXPIRES_AT_MS - 1));
    for now_ms in [EXPIRES_AT_MS, EXPIRES_AT_MS + 1, u64::MAX] {
        assert!(!permit_at(now_ms), "{now_ms}");
    }
}

#[test]
fn i20_an_approval_that_was_not_redeemed_gives_no_permit() {
    let approved = |redeem: Option<&Grant>| {
        let mut judgement = judgement(Heard::Asks, Heard::Asks, Approved::No);
        let grant = question(frozen(facts()), 0, EXPIRES_AT_MS).approve(PrincipalId::new("eve").unwrap());
        judgement.grant(grant.clone());
        match redeem {
            None => {}
            Some(other) => judgement.redeem(redeemed(other)),
        }
        (judgement.permit(0), grant)
    };
    let (refused, grant) = approved(None);
    assert_eq!(refused.unwrap_err().code, DenialCode::Redeemed);
    let other = question(frozen(facts()), 0, EXPIRES_AT_MS / 2).approve(PrincipalId::new("eve").unwrap());
    assert_eq!(approved(Some(&other)).0.unwrap_err().code, DenialCode::Redeemed);
    assert!(approved(Some(&grant)).0.is_ok());
}

#[test]
fn a_seat_heard_twice_keeps_the_stricter_ruling_in_either_order() {
    use Heard::{Allows, Asks, Denies};
    let strictness = |heard| [Allows, Asks, Denies].iter().position(|level| *level == heard).unwrap();
    for first in [Allows, Asks, Denies] {
        for second in [Allows, Asks, Denies] {
            for approved in [Approved::No, Approved::ThisCall] {
                let stricter = if strictness(first) > strictness(second) { first } else { second };
                let mut twice = judgement(Allows, first, approved);
                hear(&mut twice, Seat::ExecuteRecheck, second);
                let expected = judgement(Allows, stricter, approved).permit(0).is_ok();
                assert_eq!(twice.permit(0).is_ok(), expected, "{first:?} {second:?} {approved:?}");
            }
        }
    }
}

#[test]
fn whoever_judges_at_the_targets_seat_denies() {
    let mut judgement = judgement(Heard::Allows, Heard::Allows, Approved::No);
    hear(&mut judgement, Seat::Targets, Heard::Allows);
    assert_eq!(judgement.permit(0).unwrap_err().seat, Seat::Targets);
}

fn operand() -> Operand {
    Operand {
        root: "work".to_owned(),
        path: "a.txt".to_owned(),
        device: "1".to_owned(),
        inode: "1".to_owned(),
        bytes: 4,
        holds: Holds::Content(Digest::of_content(b"text")),
    }
}

fn source() -> ArgumentSource {
    ArgumentSource {
        at: "/path".to_owned(),
        integrity: Integrity::Endorsed,
        item: Some(ItemId(2)),
        part: None,
    }
}

#[test]
fn i22_another_server_or_sandbox_is_another_tool() {
    let spec = |server: Option<&str>, sandbox: Option<&[u8]>| ToolSpec {
        name: ToolName::new("send").unwrap(),
        description: "Sends.".to_owned(),
        input_schema: json!({"type": "object"}),
        effect: Effect::Once,
        server: server.map(str::to_owned),
        sandbox: sandbox.map(Digest::of_content),
        endorses: Vec::new(),
    };
    let specs = [spec(None, None), spec(Some("a"), None), spec(Some("b"), None), spec(None, Some(b"x"))];
    let digests: std::collections::BTreeSet<Digest> = specs.iter().map(ToolSpec::digest).collect();
    assert_eq!(digests.len(), specs.len());
}

/// Facts that differ from `facts()` in one bound field each, every field at least once.
fn one_field_changed() -> Vec<CallFacts> {
    let below = |root: &str, path: &str, resolved: &str, access, recursive| {
        let (root, path, resolved) = (root.to_owned(), path.to_owned(), resolved.to_owned());
        vec![Target::Path { root, path, resolved, access, recursive }]
    };
    let path = |root: &str, path: &str, resolved: &str, access| below(root, path, resolved, access, false);
    let readers = |names: &[&str]| Readers::Only(names.iter().map(|name| (*name).to_owned()).collect());
    let changes: Vec<fn(&mut CallFacts)> = vec![
        |facts| facts.run = RunId::new("r2").unwrap(),
        |facts| facts.call = CallId(2),
        |facts| facts.principal = PrincipalId::new("bob").unwrap(),
        |facts| facts.tool = ToolName::new("fs_edit").unwrap(),
        |facts| facts.tool_digest = Digest::of("test", &[b"other"]),
        |facts| facts.arguments = Arguments::parse(r#"{"path":"a.txt","n":2}"#).unwrap(),
        |facts| facts.arguments = Arguments::parse(r#"{"path":"a.txt","n":"1"}"#).unwrap(),
        |facts| facts.arguments = Arguments::parse(r#"{"path":"a.txt "}"#).unwrap(),
        |facts| facts.targets = Vec::new(),
        |facts| facts.targets.push(Target::Command { argv: vec!["a b".to_owned()] }),
        |facts| facts.targets.push(Target::Command { argv: vec!["a".to_owned(), "b".to_owned()] }),
        |facts| facts.targets.push(Target::Other { what: "table".to_owned(), value: "t".to_owned() }),
        |facts| {
            facts.targets.push(Target::Url {
                url: "https://h.example/".to_owned(),
                host: "h.example".to_owned(),
                port: 443,
                method: "GET".to_owned(),
            });
        },
        |facts| facts.label = Label::untrusted(),
        |facts| facts.arguments_from.push(source()),
        |facts| facts.arguments_from.push(ArgumentSource { at: "/n".to_owned(), ..source() }),
        |facts| facts.arguments_from.push(ArgumentSource { integrity: Integrity::Person, ..source() }),
        |facts| facts.arguments_from.push(ArgumentSource { item: None, ..source() }),
        |facts| facts.arguments_from.push(ArgumentSource { part: Some("x".to_owned()), ..source() }),
        |facts| facts.operands.push(operand()),
        |facts| facts.operands.push(Operand { root: "other".to_owned(), ..operand() }),
        |facts| facts.operands.push(Operand { path: "b.txt".to_owned(), ..operand() }),
        |facts| facts.operands.push(Operand { device: "2".to_owned(), ..operand() }),
        |facts| facts.operands.push(Operand { inode: "2".to_owned(), ..operand() }),
        |facts| facts.operands.push(Operand { bytes: 5, ..operand() }),
        |facts| {
            let holds = Holds::Content(Digest::of_content(b"other"));
            facts.operands.push(Operand { holds, ..operand() });
        },
        |facts| facts.operands.push(Operand { holds: Holds::ChangedAt("1".to_owned()), ..operand() }),
    ];
    let mut all: Vec<CallFacts> = changes
        .iter()
        .map(|change| {
            let mut changed = facts();
            change(&mut changed);
            changed
        })
        .collect();
    for targets in [
        path("other", "a.txt", "a.txt", Access::Write),
        path("work", "b.txt", "a.txt", Access::Write),
        path("work", "a.txt", "b.txt", Access::Write),
        path("work", "a.txt", "a.txt", Access::Read),
        below("work", "a.txt", "a.txt", Access::Write, true),
    ] {
        all.push(CallFacts { targets, ..facts() });
    }
    for names in [&[][..], &["ada"], &["ada", "bob"]] {
        all.push(CallFacts {
            label: Label { integrity: Integrity::System, readers: readers(names) },
            ..facts()
        });
    }
    all
}

#[test]
fn i22_changing_any_bound_field_changes_the_digest() {
    let all: Vec<CallFacts> = [facts()].into_iter().chain(one_field_changed()).collect();
    let digests: std::collections::BTreeSet<Digest> =
        all.iter().map(|facts| frozen(facts.clone()).digest()).collect();
    assert_eq!(digests.len(), all.len());
}

#[test]
fn i23_equal_meanings_have_equal_digests() {
    let spelt_otherwise = Arguments::parse(" { \"n\" : 1.0, \"p\\u0061th\" : \"a.txt\" } ").unwrap();
    let digest = frozen(CallFacts { arguments: spelt_otherwise, ..facts() }).digest();
    assert_eq!(digest, frozen(facts()).digest());
}

fn some_text() -> impl Strategy<Value = String> {
    // Few letters, and those that a sloppy encoding would stumble over, so that near misses are frequent.
    proptest::collection::vec(
        proptest::sample::select(vec!["a", "b", "\"", ",", ":", "\\", "\u{0}", "é"]),
        1..4,
    )
    .prop_map(|letters| letters.concat())
}

fn some_target() -> impl Strategy<Value = Target> {
    prop_oneof![
        (some_text(), some_text()).prop_map(|(what, value)| Target::Other { what, value }),
        proptest::collection::vec(some_text(), 1..3).prop_map(|argv| Target::Command { argv }),
    ]
}

fn some_facts() -> impl Strategy<Value = CallFacts> {
    let arguments = proptest::collection::btree_map(some_text(), some_text(), 0..3);
    let targets = proptest::collection::vec(some_target(), 0..3);
    (1_u32..3, proptest::sample::select(vec!["ada", "bob"]), arguments, targets, any::<bool>()).prop_map(
        |(call, principal, arguments, targets, trusted)| CallFacts {
            call: CallId(call),
            principal: PrincipalId::new(principal).unwrap(),
            arguments: Arguments::from_value(&json!(arguments)).unwrap(),
            targets,
            label: if trusted { Label::system() } else { Label::untrusted() },
            ..facts()
        },
    )
}

proptest! {
    #[test]
    fn i23_digests_are_injective(a in some_facts(), b in some_facts()) {
        prop_assert_eq!(frozen(a.clone()).digest() == frozen(b.clone()).digest(), a == b);
    }

    #[test]
    fn i28_a_stored_call_reads_back_and_keeps_its_digest(facts in some_facts()) {
        let call = frozen(facts);
        let stored = serde_json::to_string(&call).unwrap();
        prop_assert_eq!(serde_json::from_str::<FrozenCall>(&stored).unwrap(), call.as_ref().clone());
    }
}

#[test]
fn i28_a_stored_call_with_an_altered_byte_is_refused() {
    let stored = serde_json::to_string(&frozen(facts())).unwrap();
    assert!(serde_json::from_str::<FrozenCall>(&stored).is_ok());
    let mut tried = 0;
    for at in 0..stored.len() {
        for byte in [b' ', b'0', b'1', b'a', b'"', b'}', b'\\'] {
            let mut altered = stored.clone().into_bytes();
            if altered[at] != byte {
                altered[at] = byte;
                tried += 1;
                let read = serde_json::from_slice::<FrozenCall>(&altered);
                assert!(read.is_err(), "{}", String::from_utf8_lossy(&altered));
            }
        }
    }
    assert!(tried > 1_000);
}

#[test]
fn i28_a_stored_call_with_a_changed_field_or_a_field_twice_is_refused() {
    let stored = serde_json::to_value(frozen(facts())).unwrap();
    let others: Vec<Value> =
        one_field_changed().into_iter().map(|facts| serde_json::to_value(frozen(facts)).unwrap()).collect();
    for other in &others {
        for (name, value) in other.as_object().unwrap() {
            let mut mixed = stored.clone();
            mixed[name] = value.clone();
            let whole = mixed == stored;
            assert_eq!(serde_json::from_value::<FrozenCall>(mixed).is_ok(), whole, "{name}");
        }
    }
    let twice = stored.to_string().replacen('{', r#"{"call":2,"#, 1);
    assert!(serde_json::from_str::<FrozenCall>(&twice).is_err());
}

/// What one policy of a level says; the strictness of what the level concludes from it.
fn said_at(level: usize, choice: u8) -> (Opinion, u8) {
    let reason = "because".to_owned();
    let (said, strictness) = match choice {
        0 => (Said::Verdict(Verdict::Allow { reason }), 0),
        1 => (Said::Verdict(Verdict::Ask { reason }), 1),
        2 => (Said::Verdict(Verdict::Deny { reason }), 2),
        3 => (Said::Verdict(Verdict::Abstain), 2),
        _ => (Said::Failed(reason), 2),
    };
    let level = Level(u8::try_from(level).unwrap());
    (Opinion { level, policy: policy(0), epoch: None, said }, strictness)
}

fn concluded(choices: &[u8]) -> u8 {
    let roster = || Roster::new(vec![policy(0)]).unwrap();
    let bench = Bench::try_from(choices.iter().map(|_| roster()).collect::<Vec<_>>()).unwrap();
    let opinions: Vec<Opinion> =
        choices.iter().enumerate().map(|(level, choice)| said_at(level, *choice).0).collect();
    match bench.rule(Seat::ExecuteRecheck, &opinions) {
        Ruling::Allow => 0,
        Ruling::Ask(_) => 1,
        Ruling::Deny(_) => 2,
    }
}

proptest! {
    /// What levels conclude together is the strictest of what each concludes: so their order, their grouping and a level that
    /// stands there twice do not matter, and one more never allows more.
    #[test]
    fn i32_levels_compose_as_the_strictest_of_them(choices in proptest::collection::vec(0_u8..5, 1..=5)) {
        let strictest = choices.iter().map(|choice| said_at(0, *choice).1).max().unwrap();
        prop_assert_eq!(concluded(&choices), strictest);
    }
}
