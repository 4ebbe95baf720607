mod layer;
mod line;
mod make_writer;

pub use layer::{LineSink, RedactedLayer};
pub use line::LOG_LINE_CHARS_MAX;
pub use make_writer::{RecordWriter, RedactingMakeWriter};
