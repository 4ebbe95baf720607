//! Permits, contexts and directories for the tests.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use probity_contract::{
    Arguments, Bench, CallFacts, CallId, Cancel, FrozenCall, Judgement, Label, Opinion, Permit, PolicyName,
    PrincipalId, Roster, Ruling, RunId, Said, Seat, Target, Tool, ToolContext, ToolError, ToolErrorClass,
    Verdict,
};
use probity_tools::{Root, fs_tools};
use serde_json::Value;

/// How a call went: its text, or the class and words of its error.
pub(crate) type Went = Result<String, (ToolErrorClass, String)>;

pub(crate) fn context() -> ToolContext {
    ToolContext {
        cancel: Cancel::new(),
        timeout: Duration::from_secs(60),
        output_bytes_max: 256 * 1024,
        idempotency_key: "key".to_owned(),
    }
}

pub(crate) fn arguments(value: &Value) -> Arguments {
    Arguments::from_value(value).unwrap()
}

/// Freezes the call with these targets and takes it through the gate, past a policy that allows.
pub(crate) fn permit(tool: &dyn Tool, arguments: Arguments, targets: Vec<Target>) -> Permit {
    let facts = CallFacts {
        run: RunId::new("test").unwrap(),
        call: CallId(1),
        principal: PrincipalId::new("tester").unwrap(),
        tool: tool.spec().name.clone(),
        tool_digest: tool.spec().digest(),
        arguments,
        targets,
        label: Label::trusted(),
    };
    let policy = PolicyName::new("allow").unwrap();
    let bench = Bench::of(Roster::new(vec![policy.clone()]).unwrap());
    let mut judgement = Judgement::open(Arc::new(FrozenCall::freeze(facts).unwrap()), bench);
    let said = Said::Verdict(Verdict::Allow { reason: "test".to_owned() });
    let opinions = [Opinion::own(policy, said)];
    assert_eq!(judgement.hear(Seat::Adjudicate, &opinions), Ruling::Allow);
    assert_eq!(judgement.hear(Seat::ExecuteRecheck, &opinions), Ruling::Allow);
    judgement.permit(0).unwrap()
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
