//! The record format of a run, read and written without I/O.
//!
//! Bytes become frames ([`FrameReader`]), frames a checked [`Record`], and everything that is shown of a run is computed
//! from that. The layout, what it costs to change it and what lost stand in `docs/design/record.md`. This crate knows
//! nothing of files: whoever reads one hands over its bytes.

mod atoms;
mod copies;
mod facts;
mod frame;
mod graph;
mod line;
mod order;
mod record;
mod story;
mod summary;
mod text;
mod timeline;
mod window;

pub use atoms::{
    Atom, AtomKind, AtomValue, CalendarDate, ClockTime, Decimal, Unit, atoms_of_json, atoms_of_text,
};
pub use copies::{
    Chance, Computation, Computed, Copies, CopyIndex, CopySource, HOLDERS_MAX, Holder, INDEX_BYTES_MAX,
    Operand, Operands, Operation, Sameness, VERBATIM_BYTES_MIN, VerbatimIndex, VerbatimSpan,
};
pub use frame::{
    EncodeError, FORMAT_VERSION, FRAME_BYTES_MAX, FRAME_HEAD_BYTES, Frame, FrameError, FrameReader,
    HEADER_BYTES, KIND_ENTRY, KIND_PART, MAGIC, TornTail, encode_frame, encode_header,
};
pub use graph::{
    Author, Authorship, ComparedCall, DIFFERENCES_MAX, Difference, Differs, Divergence, Edge, EdgeKind,
    Follow, Form, FormStage, Graph, LetIn, NodeId, NodeKind, Provenance, RunAt, SeenItem, SeenWindow, Slice,
    Step, UnknownNode, UnknownReason, WINDOW_SEPARATOR, WINDOW_TEXT_BYTES_MAX, first_divergence,
};
pub use line::{Line, Noted, Start};
pub use order::{EntryOrder, OrderError};
pub use record::{Dangling, ReadRecord, Record, RecordError, RecordErrorKind};
pub use story::{
    Answered, Attempt, AttemptEnd, CallStory, FrozenForm, Hearing, Proposal, Question, Shadowed,
};
pub use summary::{RunSummary, ToolCallCounts};
pub use text::{Fidelity, RecordedItem, RecordedText};
pub use timeline::{MOMENT_CHARS_MAX, Moment};
pub use window::WindowError;
