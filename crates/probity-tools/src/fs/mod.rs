//! The file tools: `fs_list`, `fs_read`, `fs_search`, `fs_write`, `fs_edit`.
//!
//! The decision: what a call touches is resolved once for the judges and once more when it runs; only when both agree
//! does the tool act, and then through directory handles opened part by part without following links. A link that is
//! swapped in after the judgement changes the resolution or fails the walk; it never redirects the act.

mod content;
mod edit;
mod list;
mod nearest;
mod read;
mod search;
mod write;

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use probity_contract::{
    Access, Arguments, BoxFuture, Effect, Operand, Permit, Target, Tool, ToolContext, ToolError,
    ToolErrorClass, ToolOutput, ToolSpec,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::root::{Resolved, Root, Roots, refused};
use crate::schema;
use crate::setup::ToolSetupError;
use crate::stop::{Stop, blocking};

/// The file tools over these roots.
///
/// Always `fs_list`, `fs_read` and `fs_search`; `fs_write` and `fs_edit` only where some root may be written. A root is
/// opened here, once; what later happens to its path does not matter.
///
/// # Errors
/// When there is no root, one cannot be opened, or names repeat or do not follow their rule.
pub fn fs_tools(roots: &[Root]) -> Result<Vec<Arc<dyn Tool>>, ToolSetupError> {
    let roots = Roots::open("fs", roots)?;
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        FsTool::<list::List>::over(&roots)?,
        FsTool::<read::Read>::over(&roots)?,
        FsTool::<search::Search>::over(&roots)?,
    ];
    if roots.all().iter().any(|root| root.write) {
        tools.push(FsTool::<write::Write>::over(&roots)?);
        tools.push(FsTool::<edit::Edit>::over(&roots)?);
    }
    Ok(tools)
}

/// What one file tool is and does.
trait FsAct: 'static {
    type Args: DeserializeOwned + JsonSchema + Send + 'static;
    const NAME: &'static str;
    const DESCRIPTION: &'static str;
    const EFFECT: Effect;
    const ACCESS: Access;

    fn path(args: &Self::Args) -> &str;

    /// Whether the call also touches what lies below its path.
    fn is_recursive(_: &Self::Args) -> bool {
        false
    }

    /// Whether it changes the file, so that an approval is bound to what is in it.
    fn changes() -> bool {
        Self::ACCESS == Access::Write
    }

    /// Acts on a resolved path, on a thread that may block; at most `bytes_max` bytes of output count.
    fn act(path: &Resolved, args: Self::Args, stop: &Stop, bytes_max: usize)
    -> Result<ToolOutput, ToolError>;
}

struct FsTool<A> {
    roots: Arc<Roots>,
    spec: ToolSpec,
    act: PhantomData<fn(A)>,
}

impl<A: FsAct> FsTool<A> {
    fn over(roots: &Arc<Roots>) -> Result<Arc<dyn Tool>, ToolSetupError> {
        let description = format!("{} {}", A::DESCRIPTION, roots.describe());
        let spec = schema::spec::<A::Args>(A::NAME, description, A::EFFECT)?;
        Ok(Arc::new(Self { roots: Arc::clone(roots), spec, act: PhantomData }))
    }
}

impl<A: FsAct> Tool for FsTool<A> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn targets<'a>(&'a self, arguments: &'a Arguments) -> BoxFuture<'a, Result<Vec<Target>, ToolError>> {
        Box::pin(async move {
            let args: A::Args = read_arguments(arguments)?;
            let roots = Arc::clone(&self.roots);
            let resolving = tokio::task::spawn_blocking(move || {
                resolve(&roots, A::path(&args), A::ACCESS)?.target(A::ACCESS, A::is_recursive(&args))
            });
            let target = resolving.await.unwrap_or_else(|_| {
                Err(ToolError::new(ToolErrorClass::Panicked, "the path could not be resolved"))
            })?;
            Ok(vec![target])
        })
    }

    fn operands<'a>(&'a self, arguments: &'a Arguments) -> BoxFuture<'a, Result<Vec<Operand>, ToolError>> {
        Box::pin(async move {
            if !A::changes() {
                return Ok(Vec::new());
            }
            let args: A::Args = read_arguments(arguments)?;
            let roots = Arc::clone(&self.roots);
            let reading = tokio::task::spawn_blocking(move || {
                resolve(&roots, A::path(&args), A::ACCESS)?
                    .operand()
                    .map(|operand| operand.into_iter().collect())
            });
            reading.await.unwrap_or_else(|_| {
                Err(ToolError::new(ToolErrorClass::Panicked, "the file could not be looked into"))
            })
        })
    }

    fn run<'a>(&'a self, permit: Permit, cx: ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let roots = Arc::clone(&self.roots);
            let (call, was_asked) = (Arc::clone(permit.call()), permit.redeems().is_some());
            let bytes_max = cx.output_bytes_max;
            blocking(&cx, Duration::ZERO, move |stop| {
                let args: A::Args = read_arguments(call.arguments())?;
                let path = resolve(&roots, A::path(&args), A::ACCESS)?;
                as_judged(call.targets(), &[path.target(A::ACCESS, A::is_recursive(&args))?])?;
                if was_asked && A::changes() {
                    as_approved(call.operands(), &path.operand()?.into_iter().collect::<Vec<_>>())?;
                }
                A::act(&path, args, stop, bytes_max)
            })
            .await
        })
    }
}

pub(crate) fn read_arguments<T: DeserializeOwned>(arguments: &Arguments) -> Result<T, ToolError> {
    arguments.read().map_err(|error| ToolError::new(ToolErrorClass::InvalidArguments, error.to_string()))
}

fn resolve(roots: &Arc<Roots>, path: &str, access: Access) -> Result<Resolved, ToolError> {
    let path = roots.resolve(path)?;
    let root = path.root()?;
    if access == Access::Write && !root.write {
        return Err(refused(format!("the root `{}` is read only", root.name)));
    }
    Ok(path)
}

/// Refuses to act on a file that is not what it was when a person approved the call. Where nobody was asked, another call of
/// the same reply may have changed it on purpose.
pub(crate) fn as_approved(approved: &[Operand], now: &[Operand]) -> Result<(), ToolError> {
    if approved == now {
        return Ok(());
    }
    Err(refused("a file that the call names has changed since a person approved it; make the call again"))
}

/// Refuses to act where the call would now touch something else than what was judged.
pub(crate) fn as_judged(judged: &[Target], now: &[Target]) -> Result<(), ToolError> {
    if judged == now {
        return Ok(());
    }
    Err(refused(
        "what the call would touch has changed since it was judged (a link moved); make the call again",
    ))
}
