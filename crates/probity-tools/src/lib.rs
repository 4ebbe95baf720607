//! Built-in tools: files inside declared roots, a sandboxed shell, allow-listed HTTP, and any async function. And interceptors
//! that are other programs: a child process, or a server.
//!
//! Every tool here acts only on the arguments inside a permit, tells its targets before it is judged, and refuses to act
//! when what it would touch is no longer what was judged. The decisions stand in `docs/design/tools.md`.

mod clip;
mod follow;
mod fs;
mod function;
mod hook;
mod http;
mod path;
mod root;
mod sandbox;
mod schema;
mod setup;
mod shell;
mod stop;

pub use fs::fs_tools;
pub use function::FnTool;
pub use hook::{HookSetupError, HttpHook, HttpInterceptor, ProcessHook, ProcessInterceptor};
pub use http::{AllowedHost, AllowedHostError, HttpConfig, HttpGetTool};
pub use root::Root;
pub use sandbox::{SandboxSupport, maybe_run_sandbox_helper, sandbox_helper_main, sandbox_support};
pub use setup::ToolSetupError;
pub use shell::{ShellConfig, ShellTool};
