//! Cedar policies as judges of tool calls.

mod context;
mod depth;
mod error;
pub mod limits;
mod policy;
mod resource;
mod rules;
mod said;
mod schema;
mod shape;
mod value;
mod vocabulary;

pub use error::CedarError;
pub use policy::CedarPolicy;
pub use rules::CedarSource;
