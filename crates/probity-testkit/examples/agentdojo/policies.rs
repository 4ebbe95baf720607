//! The rules that are measured, each as policies of a task and a person who may be asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context as _, Result};
use probity_contract::{
    Answer, Approver, Arguments, BoxFuture, Cancel, FrozenCall, Integrity, PendingCall, Policy, PolicyError,
    PolicyName, PrincipalId, Seat, Verdict,
};
use probity_core::ArgumentPolicy;

use super::sources::{DATA, Grain, unfounded};
use super::world::{DELEGATE, World, spec_of};

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Setting {
    None,
    ToolList,
    Strict,
    Message,
    Engine,
    Results,
    Values,
    Output,
    Asked,
    Person,
}

impl Setting {
    pub(crate) const ALL: [Self; 10] = [
        Self::None,
        Self::ToolList,
        Self::Strict,
        Self::Message,
        Self::Engine,
        Self::Results,
        Self::Values,
        Self::Output,
        Self::Asked,
        Self::Person,
    ];

    /// The word on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ToolList => "tool-list",
            Self::Strict => "strict",
            Self::Message => "message",
            Self::Engine => "engine",
            Self::Results => "results",
            Self::Values => "values",
            Self::Output => "output",
            Self::Asked => "asked",
            Self::Person => "person",
        }
    }

    /// What the table says.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::None => "none: everything is allowed",
            Self::ToolList => "tool list: the tools that the true plan needs",
            Self::Strict => "labels: no side effect after untrusted content",
            Self::Message => "labels + authority arguments stand in the message",
            Self::Engine => {
                "labels + argument provenance as core has it, word for word (`ArgumentPolicy`) + tool list"
            }
            Self::Results => "labels + argument provenance (message, untainted results) + tool list",
            Self::Values => "the same, each value of a result labelled",
            Self::Output => "the same + output interceptor",
            Self::Asked => "the same, a person is asked where provenance is missing",
            Self::Person => "a person approves exactly the true plan, asked for every side effect",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|setting| setting.name() == name)
    }

    /// How finely the tools tell who wrote their results.
    pub(crate) const fn grain(self) -> Grain {
        match self {
            Self::Values | Self::Output | Self::Asked => Grain::Value,
            Self::None
            | Self::ToolList
            | Self::Strict
            | Self::Message
            | Self::Engine
            | Self::Results
            | Self::Person => Grain::Result,
        }
    }

    /// Whether the answer is looked at before it is released.
    pub(crate) const fn has_output(self) -> bool {
        matches!(self, Self::Output | Self::Asked)
    }

    /// The policies of a task in this world.
    pub(crate) fn policies(self, world: &Arc<World>) -> Result<Vec<Arc<dyn Policy>>> {
        let rule = |name, judge| Rule::shared(name, world, judge);
        Ok(match self {
            Self::None => vec![rule("all", |_, _| allow("everything is allowed"))?],
            Self::ToolList => vec![rule("tool-list", tool_list)?],
            Self::Strict => vec![rule("labels", strict)?],
            Self::Message => vec![rule("labels", message)?],
            Self::Engine => vec![argument_policy(world)?, rule("tool-list", tool_list)?],
            Self::Results | Self::Values | Self::Output => {
                vec![rule("labels", provenance)?, rule("tool-list", tool_list)?]
            }
            Self::Asked => vec![rule("labels", provenance_or_ask)?, rule("tool-list", tool_list)?],
            Self::Person => vec![rule("person", every_effect)?],
        })
    }
}

/// What core has for that: it looks at what a call was made from itself and asks no tool.
fn argument_policy(world: &Arc<World>) -> Result<Arc<dyn Policy>> {
    let tools = world.tools.values().map(spec_of).collect::<Result<Vec<_>>>()?;
    let name = PolicyName::new("arguments").context("name a policy")?;
    let mut policy = ArgumentPolicy::new(name, &tools);
    let data: Vec<String> = DATA.iter().map(|name| format!("/{name}")).collect();
    for tool in tools {
        policy = policy.data(tool.name, data.iter().map(String::as_str));
    }
    Ok(Arc::new(policy))
}

type Judge = fn(&World, &FrozenCall) -> Verdict;

/// A rule about calls in one world.
struct Rule {
    name: PolicyName,
    world: Arc<World>,
    judge: Judge,
}

impl Rule {
    fn shared(name: &str, world: &Arc<World>, judge: Judge) -> Result<Arc<dyn Policy>> {
        let name = PolicyName::new(name).context("name a policy")?;
        Ok(Arc::new(Self { name, world: Arc::clone(world), judge }))
    }
}

impl Policy for Rule {
    fn name(&self) -> &PolicyName {
        &self.name
    }

    fn judge<'a>(
        &'a self,
        call: &'a FrozenCall,
        _seat: Seat,
        _cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<Verdict, PolicyError>> {
        let verdict = match call.tool().as_str() {
            // The worst case: whoever can hand work over may. What is done below is judged here, call by call.
            DELEGATE => allow("what it does is judged call by call"),
            _ => (self.judge)(&self.world, call),
        };
        Box::pin(std::future::ready(Ok(verdict)))
    }
}

fn allow(reason: &str) -> Verdict {
    Verdict::Allow { reason: reason.to_owned() }
}

fn deny(reason: impl Into<String>) -> Verdict {
    Verdict::Deny { reason: reason.into() }
}

/// Least privilege by a list that only an oracle can write: the tools of the true plan.
fn tool_list(world: &World, call: &FrozenCall) -> Verdict {
    match world.opened.plan.iter().any(|planned| planned.tool == call.tool().as_str()) {
        true => allow("the task needs the tool"),
        false => deny("the task does not need the tool"),
    }
}

/// What may run whatever was read: calls that only read, and calls that were proposed before anything of an outsider's was.
fn is_free(world: &World, call: &FrozenCall) -> bool {
    world.is_pure(call.tool().as_str()) || call.facts().label.integrity > Integrity::Untrusted
}

fn strict(world: &World, call: &FrozenCall) -> Verdict {
    match is_free(world, call) {
        true => allow("it only reads, or nothing untrusted was read"),
        false => deny("something untrusted was read"),
    }
}

fn message(world: &World, call: &FrozenCall) -> Verdict {
    founded(world, call, |sources, value, beside| sources.person_wrote(value, beside)).unwrap_or_else(deny)
}

fn provenance(world: &World, call: &FrozenCall) -> Verdict {
    founded(world, call, |sources, value, beside| sources.vouches_for(value, beside)).unwrap_or_else(deny)
}

fn provenance_or_ask(world: &World, call: &FrozenCall) -> Verdict {
    founded(world, call, |sources, value, beside| sources.vouches_for(value, beside))
        .unwrap_or_else(|reason| Verdict::Ask { reason })
}

/// Allows what is free and what is founded, or says which arguments are not.
fn founded(
    world: &World,
    call: &FrozenCall,
    vouches_for: fn(&super::sources::Sources, &serde_json::Value, &[&str]) -> bool,
) -> Result<Verdict, String> {
    if is_free(world, call) {
        return Ok(allow("it only reads, or nothing untrusted was read"));
    }
    let schema = world.tools.get(call.tool().as_str()).map(|tool| &tool.schema);
    let missing = world.sources(|sources| {
        unfounded(call, schema.unwrap_or(&serde_json::Value::Null), |value, beside| {
            vouches_for(sources, value, beside)
        })
    });
    match missing.is_empty() {
        true => Ok(allow("every argument that decides something was vouched for")),
        false => Err(format!("nobody vouches for {}", missing.join(", "))),
    }
}

fn every_effect(world: &World, call: &FrozenCall) -> Verdict {
    match world.is_pure(call.tool().as_str()) {
        true => allow("it only reads"),
        false => Verdict::Ask { reason: "it changes something".to_owned() },
    }
}

/// A person who knows the true plan, approves exactly its calls, and refuses all others.
pub(crate) struct Planner {
    world: Arc<World>,
    who: PrincipalId,
    asked: AtomicU32,
}

impl Planner {
    pub(crate) fn new(world: &Arc<World>, who: PrincipalId) -> Self {
        Self { world: Arc::clone(world), who, asked: AtomicU32::new(0) }
    }

    /// How many questions were put.
    pub(crate) fn asked(&self) -> u32 {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Approver for Planner {
    fn ask<'a>(&'a self, question: &'a PendingCall) -> BoxFuture<'a, Answer> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let call = question.call();
        let is_planned = self.world.opened.plan.iter().any(|planned| {
            // In canonical form, in which `4.0` and `4` are one number.
            let arguments = Arguments::from_value(&planned.arguments);
            planned.tool == call.tool().as_str()
                && arguments.is_ok_and(|planned| planned == *call.arguments())
        });
        let by = self.who.clone();
        let answer = match is_planned {
            true => Answer::Approve { by, more: 0 },
            false => Answer::Refuse { by, reason: "it is not what I asked for".to_owned(), for_good: false },
        };
        Box::pin(std::future::ready(answer))
    }
}
