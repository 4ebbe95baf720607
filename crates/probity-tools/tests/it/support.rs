//! Permits, contexts and directories for the tests.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use probity_contract::{
    Arguments, Bench, CallFacts, CallId, Cancel, Digest, FrozenCall, Judgement, Label, Operand, Opinion,
    PendingCall, Permit, PolicyName, PrincipalId, QuestionFacts, RedeemError, Redeemer, Redemption, Roster,
    Ruling, RunId, Said, Seat, Target, Tool, ToolContext, ToolError, ToolErrorClass, Verdict,
};
use probity_tools::{Root, ShellConfig, ShellTool, fs_tools};
use serde_json::Value;

/// How a call went: its text, or the class and words of its error.
pub(crate) type Went = Result<String, (ToolErrorClass, String)>;

pub(crate) fn context() -> ToolContext {
    ToolContext {
        cancel: Cancel::new(),
        timeout: Duration::from_secs(60),
        output_bytes_max: 256 * 1024,
        idempotency_key: "key".to_owned(),
        lineage: probity_contract::Lineage::NONE,
    }
}

pub(crate) fn arguments(value: &Value) -> Arguments {
    Arguments::from_value(value).unwrap()
}

/// Freezes the call with these targets and takes it through the gate, past a policy that allows.
pub(crate) fn permit(tool: &dyn Tool, arguments: Arguments, targets: Vec<Target>) -> Permit {
    let call = frozen(tool, arguments, targets, Vec::new());
    let mut judgement = open(call);
    let said = Said::Verdict(Verdict::Allow { reason: "test".to_owned() });
    assert_eq!(hear(&mut judgement, &said), Ruling::Allow);
    judgement.permit(0).unwrap()
}

/// Freezes the call as it is now and takes it through the gate, past a policy that asks and a person who approves.
pub(crate) async fn approved(tool: &dyn Tool, arguments: Arguments) -> Permit {
    let targets = tool.targets(&arguments).await.unwrap();
    let operands = tool.operands(&arguments).await.unwrap();
    let call = frozen(tool, arguments, targets, operands);
    let mut judgement = open(Arc::clone(&call));
    hear(&mut judgement, &Said::Verdict(Verdict::Ask { reason: "test".to_owned() }));
    let question = PendingCall::put(QuestionFacts {
        call,
        seat: Seat::Adjudicate,
        askers: judgement.askers(),
        epochs: Vec::new(),
        principals: vec![PrincipalId::new("tester").unwrap()],
        number: 1,
        not_before_ms: 0,
        expires_at_ms: 1,
    });
    let grant = question.approve(PrincipalId::new("person").unwrap());
    let run = RunId::new("test").unwrap();
    judgement.redeem(Redemption::claim(&Once, &run, grant.binding()).unwrap());
    judgement.grant(grant);
    judgement.permit(0).unwrap()
}

/// Says of every use that it is the first.
struct Once;

impl Redeemer for Once {
    fn redeem(&self, _run: &RunId, _binding: Digest) -> Result<(), RedeemError> {
        Ok(())
    }
}

fn open(call: Arc<FrozenCall>) -> Judgement {
    Judgement::open(call, Bench::of(Roster::new(vec![PolicyName::new("policy").unwrap()]).unwrap()))
}

fn hear(judgement: &mut Judgement, said: &Said) -> Ruling {
    let opinions = [Opinion::own(PolicyName::new("policy").unwrap(), said.clone())];
    judgement.hear(Seat::Adjudicate, &opinions);
    judgement.hear(Seat::ExecuteRecheck, &opinions)
}

fn frozen(
    tool: &dyn Tool,
    arguments: Arguments,
    targets: Vec<Target>,
    operands: Vec<Operand>,
) -> Arc<FrozenCall> {
    let facts = CallFacts {
        run: RunId::new("test").unwrap(),
        call: CallId(1),
        principal: PrincipalId::new("tester").unwrap(),
        tool: tool.spec().name.clone(),
        tool_digest: tool.spec().digest(),
        arguments,
        targets,
        operands,
        arguments_from: Vec::new(),
        label: Label::system(),
    };
    Arc::new(FrozenCall::freeze(facts).unwrap())
}

pub(crate) fn went(result: Result<probity_contract::ToolOutput, ToolError>) -> Went {
    result.map(|output| output.text).map_err(|error| (error.class, error.message))
}

/// Tells the targets, then runs.
pub(crate) async fn call_in(tool: &dyn Tool, value: Value, cx: ToolContext) -> Went {
    let arguments = arguments(&value);
    let targets = tool.targets(&arguments).await.map_err(|error| (error.class, error.message))?;
    went(tool.run(permit(tool, arguments, targets), cx).await)
}

pub(crate) async fn call(tool: &dyn Tool, value: Value) -> Went {
    call_in(tool, value, context()).await
}

/// A directory that is gone after the test, with a root in it and something outside.
pub(crate) struct Scene {
    place: tempfile::TempDir,
    pub(crate) tools: Vec<Arc<dyn Tool>>,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("work");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(place.path().join("outside.txt"), "outside\n").unwrap();
        let tools = fs_tools(&[Root { name: "work".to_owned(), path: root, write: true }]).unwrap();
        Self { place, tools }
    }

    /// A shell over the same root.
    pub(crate) fn shell(&self) -> ShellTool {
        ShellTool::new(self.shell_config()).unwrap()
    }

    pub(crate) fn shell_config(&self) -> ShellConfig {
        let root = Root { name: "work".to_owned(), path: self.root(), write: true };
        let mut config = ShellConfig::new(vec![root]);
        config.helper = Some(std::path::PathBuf::from(env!("CARGO_BIN_EXE_sandbox-helper")));
        config
    }

    pub(crate) fn root(&self) -> std::path::PathBuf {
        self.place.path().canonicalize().unwrap().join("work")
    }

    pub(crate) fn outside(&self) -> std::path::PathBuf {
        self.place.path().canonicalize().unwrap().join("outside.txt")
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root().join(path)).unwrap()
    }

    pub(crate) fn tool(&self, name: &str) -> &dyn Tool {
        self.tools.iter().find(|tool| tool.spec().name.as_str() == name).unwrap().as_ref()
    }

    pub(crate) async fn call(&self, name: &str, value: Value) -> Went {
        call(self.tool(name), value).await
    }

    pub(crate) fn link(&self, goal: impl AsRef<Path>, link: &str) {
        std::os::unix::fs::symlink(goal, self.root().join(link)).unwrap();
    }
}

/// The class of the error that a call must end in.
pub(crate) fn class(went: &Went) -> ToolErrorClass {
    match went {
        Err((class, _)) => *class,
        Ok(text) => panic!("expected an error, got: {text}"),
    }
}
