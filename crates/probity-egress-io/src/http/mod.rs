mod body;
mod error;
mod headers;
mod layer;

pub use body::RedactedBody;
pub use error::ExitError;
pub use layer::{EgressFuture, EgressLayer, EgressService};
