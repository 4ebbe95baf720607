//! Emissions of every kind, by hand and by chance.

use std::sync::Arc;

use probity_contract::{
    Access, AnswerKind, Body, CallId, ContentSetting, Denial, DenialCode, Digest, Effect, Emission, Ending,
    Entry, Fact, ForeignTo, ItemId, Kept, Label, Level, LimitKind, Limits, ModelCallId, ModelErrorClass,
    ModelName, ModelParams, Opinion, Origin, Part, PartId, PolicyName, Prices, PrincipalId, RECORD_VERSION,
    Readers, RunId, RunStarted, Said, Seat, Stop, Target, ToolChoice, ToolErrorClass, ToolName,
    ToolOutcomeKind, ToolSpec, Usage, Verdict, WindowDelta,
};
use probity_trace::{encode_frame, encode_header};
use proptest::prelude::*;

/// Builds a record entry by entry.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) emissions: Vec<Emission>,
    seq: u64,
}

impl Script {
    pub(crate) fn started() -> Self {
        let mut script = Self::default();
        script.fact(run_started());
        script
    }

    pub(crate) fn fact(&mut self, fact: Fact) -> &mut Self {
        self.emissions.push(Emission::Entry(Entry { seq: self.seq, at_ms: self.seq * 10, fact }));
        self.seq += 1;
        self
    }

    pub(crate) fn part(&mut self, text: &str) -> PartId {
        let id = PartId::of(text);
        self.emissions.push(Emission::Part(Part { id, kept: Kept::Full(text.into()) }));
        id
    }

    pub(crate) fn item(&mut self, item: u32, origin: Origin, body: Body) -> &mut Self {
        self.fact(Fact::ItemAdded { item: ItemId(item), origin, label: Label::system(), body })
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        bytes_of(&self.emissions)
    }
}

pub(crate) fn bytes_of(emissions: &[Emission]) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_header(&mut bytes);
    emissions.iter().for_each(|emission| encode_frame(emission, &mut bytes).unwrap());
    bytes
}

/// A frame made by hand, for what our writer would not write.
pub(crate) fn raw_frame(kind: u8, payload: &[u8]) -> Vec<u8> {
    raw_frame_of_length(u32::try_from(payload.len()).unwrap(), kind, payload)
}

pub(crate) fn raw_frame_of_length(length: u32, kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&[kind]);
    sum.update(payload);
    let mut frame = length.to_le_bytes().to_vec();
    frame.push(kind);
    frame.extend(sum.finalize().to_le_bytes());
    frame.extend(crc32fast::hash(&frame).to_le_bytes());
    frame.extend(payload);
    frame
}

pub(crate) fn run_started() -> Fact {
    Fact::RunStarted(Box::new(RunStarted {
        version: RECORD_VERSION,
        run: RunId::new("run-1").unwrap(),
        title: "check the expense".into(),
        principal: PrincipalId::new("ada").unwrap(),
        parent: None,
        imported: None,
        model: ModelName::new("rules/desk.toml").unwrap(),
        prices: Some(Prices { input_usd: 0.1, cached_input_usd: None, output_usd: 0.3 }),
        params: ModelParams { temperature: Some(0.1 + 0.2), ..ModelParams::default() },
        tools: vec![ToolSpec {
            name: ToolName::new("fs_read").unwrap(),
            description: "reads".into(),
            input_schema: serde_json::json!({"type": "object", "x": [1, -2.5, null]}),
            effect: Effect::Pure,
            server: None,
            sandbox: None,
            endorses: Vec::new(),
        }],
        policies: vec![policy()],
        inherited: Vec::new(),
        limits: Limits::default(),
        content: ContentSetting::Full,
        output_schema: None,
        started_at_unix_ms: 1_700_000_000_000,
    }))
}

pub(crate) fn policy() -> PolicyName {
    PolicyName::new("house rules").unwrap()
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z ]{0,12}", "\\PC{0,8}", any::<String>()]
}

fn usage() -> impl Strategy<Value = Usage> {
    (any::<Option<u64>>(), any::<Option<u64>>(), any::<Option<u64>>())
        .prop_map(|(input, output, cached_input)| Usage { input, output, cached_input, ..Usage::default() })
}

fn label() -> impl Strategy<Value = Label> {
    prop_oneof![
        Just(Label::system()),
        proptest::collection::btree_set(words(), 0..3)
            .prop_map(|set| Label { readers: Readers::Only(set), ..Label::untrusted() }),
    ]
}

fn part_id() -> impl Strategy<Value = PartId> {
    "[a-c]{1}".prop_map(|text| PartId::of(&text))
}

fn digest() -> impl Strategy<Value = Digest> {
    any::<[u8; 4]>().prop_map(|bytes| Digest::of("test", &[&bytes]))
}

fn body() -> impl Strategy<Value = Body> {
    prop_oneof![
        part_id().prop_map(|text| Body::Person { text }),
        (words(), part_id()).prop_map(|(name, text)| Body::Context { name, text }),
        proptest::collection::vec(part_id(), 0..4).prop_map(|parts| Body::Reply { parts }),
        (any::<u32>(), words(), words(), part_id(), any::<bool>()).prop_map(
            |(call, provider_id, tool, text, is_error)| {
                Body::ToolResult { call: CallId(call), provider_id, tool, text, is_error }
            }
        ),
    ]
}

fn ending() -> impl Strategy<Value = Ending> {
    prop_oneof![
        Just(Ending::Answered),
        Just(Ending::Cancelled),
        Just(Ending::WrappedUp { limit: LimitKind::Turns }),
        words().prop_map(|error| Ending::ModelFailed { class: ModelErrorClass::TimedOut, error }),
    ]
}

fn outcome() -> impl Strategy<Value = ToolOutcomeKind> {
    prop_oneof![
        Just(ToolOutcomeKind::Succeeded),
        Just(ToolOutcomeKind::Failed(ToolErrorClass::NotFound)),
        Just(ToolOutcomeKind::Unknown(ToolErrorClass::TimedOut)),
    ]
}

fn call() -> impl Strategy<Value = CallId> {
    (1_u32..5).prop_map(CallId)
}

fn fact_of_a_call() -> impl Strategy<Value = Fact> {
    prop_oneof![
        (call(), words(), words(), part_id()).prop_map(|(call, provider_id, tool, arguments)| {
            Fact::CallProposed { call, by: ModelCallId(1), provider_id, tool, arguments }
        }),
        (call(), words()).prop_map(|(call, reason)| Fact::CallRejected { call, reason }),
        (call(), digest(), part_id(), label(), words()).prop_map(|(call, digest, arguments, label, path)| {
            let root = "w".to_owned();
            let recursive = path.len() % 2 == 1;
            let path = Target::Path { root, resolved: path.clone(), path, access: Access::Write, recursive };
            let targets = vec![path, Target::Command { argv: vec!["ls".into()] }];
            Fact::CallFrozen {
                call,
                digest,
                tool_digest: digest,
                arguments,
                targets,
                operands: Vec::new(),
                arguments_from: Vec::new(),
                label,
            }
        }),
        (call(), words()).prop_map(|(call, reason)| {
            let said = Said::Verdict(Verdict::Ask { reason });
            let opinions =
                vec![Opinion::own(policy(), said), Opinion::own(policy(), Said::Failed("late".into()))];
            Fact::Judged { call, seat: Seat::ExecuteRecheck, opinions }
        }),
        (call(), words()).prop_map(|(call, reason)| {
            let denial = Denial {
                code: DenialCode::Policy,
                seat: Seat::Adjudicate,
                by: Some(policy()),
                level: Level::OWN,
                reason,
            };
            Fact::Denied { call, denial }
        }),
        (call(), digest(), any::<u64>()).prop_map(|(call, digest, expires_at_ms)| {
            Fact::Asked { call, digest, binding: Some(digest), askers: vec![policy()], expires_at_ms }
        }),
        (call(), digest()).prop_map(|(call, digest)| {
            Fact::Answered { call, digest, answer: AnswerKind::Void, by: PrincipalId::new("bob").ok() }
        }),
        call().prop_map(|call| Fact::ToolStarted { call, effect: Effect::Once, redeems: None }),
        (call(), outcome(), part_id(), any::<u64>()).prop_map(|(call, outcome, output, output_bytes)| {
            Fact::ToolFinished {
                call,
                outcome,
                output,
                output_bytes,
                ran_ms: 3,
                readers: Default::default(),
                vouched: Vec::new(),
            }
        }),
    ]
}

fn fact_of_the_run() -> impl Strategy<Value = Fact> {
    prop_oneof![
        (any::<u32>(), label(), body()).prop_map(|(item, label, body)| {
            Fact::ItemAdded { item: ItemId(item), origin: Origin::Model(ModelCallId(7)), label, body }
        }),
        (1_u32..9, 0_u32..9, proptest::collection::vec((0_u32..99).prop_map(ItemId), 0..5)).prop_map(
            |(call, keep, added)| Fact::ModelCalled {
                call: ModelCallId(call),
                window: WindowDelta { keep, added },
                tool_choice: ToolChoice::Named(ToolName::new("fs_read").unwrap()),
                tools_offered: true,
                output_tokens_max: None,
            }
        ),
        (usage(), words()).prop_map(|(usage, stop)| Fact::ModelReplied {
            call: ModelCallId(1),
            item: ItemId(2),
            stop: Stop::Other(stop),
            usage,
            model: Some("m".into()),
            response_id: None,
        }),
        words().prop_map(|error| Fact::ModelFailed {
            call: ModelCallId(1),
            class: ModelErrorClass::Malformed,
            error
        }),
        words().prop_map(|error| Fact::FailureReported {
            call: None,
            seat: Some(Seat::Targets),
            who: "hook".into(),
            error
        }),
        Just(Fact::LimitHit { limit: LimitKind::Cost }),
        (words(), part_id(), 1_u32..9).prop_map(|(at, json, call)| Fact::Foreign {
            about: ForeignTo::Call(CallId(call)),
            at,
            json
        }),
        proptest::collection::vec(words(), 0..3)
            .prop_map(|errors| Fact::OutputRejected { item: ItemId(1), errors }),
        (ending(), usage(), proptest::option::of(0.0..1e6_f64)).prop_map(|(ending, usage, cost_usd)| {
            Fact::Ended { ending, answer: Some(ItemId(3)), usage, cost_usd }
        }),
    ]
}

fn fact() -> impl Strategy<Value = Fact> {
    prop_oneof![fact_of_a_call(), fact_of_the_run()]
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        prop_oneof!["[a-c]{1}", any::<String>()]
            .prop_map(|text| Part { id: PartId::of(&text), kept: Kept::Full(Arc::from(text)) }),
        (part_id(), words()).prop_map(|(id, text)| Part { id, kept: Kept::Redacted(text.into()) }),
        (part_id(), any::<u64>()).prop_map(|(id, bytes)| Part { id, kept: Kept::Length(bytes) }),
    ]
}

/// A record as a run could have written it: started, in order, with texts between the entries.
pub(crate) fn emissions() -> impl Strategy<Value = Vec<Emission>> {
    let step = prop_oneof![fact().prop_map(Ok), part().prop_map(Err)];
    proptest::collection::vec(step, 0..24).prop_map(|steps| {
        let mut script = Script::started();
        for step in steps {
            match step {
                Ok(fact) => {
                    script.fact(fact);
                }
                Err(part) => script.emissions.push(Emission::Part(part)),
            }
        }
        script.emissions
    })
}
