//! Redaction passes and the checked text type that every exit demands.
//!
//! Whatever leaves a run (an error, an answer, a log line, an event, a page) leaves as [`Egress<T>`]: a text that went
//! through the one pass of tier `T`. A sink that takes `Egress<Human>` cannot be handed a `String`, nor a text that was
//! passed for somebody else; that is a fact of the compiler, and `tests/ui` holds the programs that must not compile.
//!
//! # Tiers
//!
//! | tier | who reads it | removed |
//! |---|---|---|
//! | [`SamePrincipal`] | the principal that launched the work: its model, its script, its host | credentials |
//! | [`Human`] | a person's screen, or an export beyond the launching principal | credentials, every URL, every absolute path |
//!
//! Paths and URLs survive the first tier because they are the principal's own, and because "return the file you wrote"
//! must be answerable. What tenants may see of each other is access control, not string surgery.
//!
//! # Doors
//!
//! - a text: [`egress_text`]; with a [`Report`] on what was removed and why, never what: [`egress_text_reporting`];
//! - a stream: [`Redactor`], which gives the same bytes however the text is cut;
//! - an error with its sources, a panic's payload: [`egress_error`], [`egress_panic`];
//! - a value: [`egress_value`], a detached snapshot; a JSON text, in its own order and notation: [`egress_json`];
//! - one line of foreign origin: [`one_line_untrusted`], [`extension_words`]; foreign text in a fence:
//!   [`fenced_for_human`]; a bounded summary of what was passed: [`bounded_summary`];
//! - a sentence of ours around passed parts: [`Words`], [`Egress::join`], [`Egress::fixed`].
//!
//! Secrets that the host knows are added with [`register_secret`].
//!
//! ```
//! use probity_egress::{Human, SamePrincipal, egress_text};
//!
//! let line = "DB_PASSWORD=hunter22 was refused, see /var/log/db.log";
//! assert_eq!(
//!     egress_text::<SamePrincipal>(line).as_str(),
//!     "DB_PASSWORD=[REDACTED:password] was refused, see /var/log/db.log",
//! );
//! assert_eq!(
//!     egress_text::<Human>(line).as_str(),
//!     "DB_PASSWORD=[REDACTED:password] was refused, see [REDACTED:path]",
//! );
//! ```
//!
//! # What holds
//!
//! - A removed text is replaced by `[REDACTED:kind]`, `kind` in `a-z`, `0-9` and `-`. A marker is never matched again:
//!   passing what was passed changes nothing, but for the cases below.
//! - A pass comes before a cut, and no cut falls inside a marker or a grapheme.
//! - Any chunking of a stream gives byte for byte the pass over the whole; at most [`STREAM_HOLDBACK_BYTES_MAX`] bytes
//!   are held back, ordinary prose by about a hundred. It follows from how the input is read: a decision that was reached has not
//!   looked at anything a later chunk could change.
//! - The work is linear in the text, nothing backtracks, and no input panics. A secret of any length is swallowed in
//!   constant memory once its marker is out.
//! - In doubt it is removed: a candidate that the input cuts off, a key block without an end, a value beyond a limit.
//! - A name decides more than a look: forty hexadecimal digits are a commit until they stand under `password`.
//! - Matching looks through colour sequences and zero-width characters, around and inside.
//!
//! # What is not promised
//!
//! - That every secret is found. A credential without a known shape, name, place or registration is text like any other.
//!   What the corpus of published fixtures measures is asserted in `tests/it/corpus/floors.rs`; the figures must not fall.
//! - Every encoding. Percent, entity and `\u` encoding are undone, base64 and hexadecimal looked into (their first 3,600
//!   characters, two deep); compression and encryption are not. Registered secrets are found in their own encodings.
//! - That a control sequence is one: a letter that a terminal would take for its end is not seen as text, except where a
//!   registered secret begins with it.
//! - A proof that no second pass ever changes anything: no text is known for which it does, and what was looked at stands
//!   in `docs/design/egress.md`.
//! - That a text which already holds our markers is ours: one in a value says that the value has been dealt with.
//! - That passed text is true or harmless. Text of foreign origin goes through [`one_line_untrusted`] or
//!   [`fenced_for_human`], which make it inert to terminals and keep it inside its frame; they do not make it obedient.
//! - Relative paths, host names without a scheme and IP addresses stay in the [`Human`] tier.
//!
//! # Names elsewhere
//!
//! Two published interfaces of a TypeScript agent core name the same ideas; a reader who comes from there finds them here.
//!
//! | there | here | what differs |
//! |---|---|---|
//! | `Egress<T>`, a branded string | [`Egress<T>`](Egress) | a type of its own: no `From`, no `Deserialize`; what must not compile is tested |
//! | `EgressTier`: `"same-principal"`, `"human"` | [`Tier`]: [`SamePrincipal`], [`Human`] | types, sealed; a tier is chosen at compile time |
//! | `egressText(tier, text, report?)` | [`egress_text`], [`egress_text_reporting`]; for a stream [`Redactor`] | one pass for both tiers; any chunking gives the bytes of the whole |
//! | `redactSecrets(s, report?)` | `egress_text::<SamePrincipal>` | |
//! | `redactHostLeaks(s, report?)` | `egress_text::<Human>` | |
//! | `egressThrownText(tier, err)` | [`egress_error`], [`egress_panic`] | the chain of sources in one text, bounded by [`ERROR_CHAIN_MAX`] and [`ERROR_BYTES_MAX`]; a panic's payload of any usual type |
//! | `egressValue(tier, value)` | [`egress_value`], [`EgressValue`] | always plain data, an error included; a member with a credential name is replaced whole, objects and arrays too; limits in depth, members and bytes; a value that refers to itself ends at the depth |
//! | `extensionWords(s, max)` | [`extension_words`] | |
//! | `boundedRedactedSummary(value, max)` | [`bounded_summary`] over what [`egress_text`] or [`egress_value`] returned | takes passed text only, so that a cut before the pass does not compile |
//! | `untrustedEgressForHuman(value, { label, max })` | [`fenced_for_human`] | the label is cleaned and bounded too; every line carries the fence's bar |
//! | `inlineUntrusted` | [`one_line_untrusted`] | stable when repeated |
//! | `summarizeRedactions` | [`summarize`], [`ReportSummary`] | |
//! | `RedactionReport`, `RedactionFinding`, `SummarizableFinding` | [`Report`], [`Finding`] | spans in the input and in the output, a keyed fingerprint; never the text |
//! | `RedactionConfidence`, `RedactionSource` | [`Confidence`], [`Source`] | |
//! | secrets that the host registers | [`register_secret`] | found in their encodings too |
//! | `policyThrowLine(err)` | `one_line_untrusted(egress_error(err).as_str(), max)` | the engine's, where a policy is asked: passed, then one line, then cut |
//! | `failedJudgmentDeny`, `policyCheckAbortedDeny`, `reportPolicyThrow` | none in this crate | the engine denies with its code for a failed policy, tells a cancellation by the task's signal, and reports a failure once, as passed words without a cause |

mod clean;
mod egress;
mod engine;
mod fence;
mod fingerprint;
mod imitation;
mod json_node;
mod json_text;
mod known;
mod limits;
mod line;
mod pass;
mod redactor;
mod report;
mod sight;
mod snapshot;
mod snapshot_serializer;
mod snapshot_structure;
mod snapshot_tree;
mod summary;
mod thrown;
mod tier;
mod vocabulary;
mod words;

pub use egress::Egress;
pub use fence::fenced_for_human;
pub use json_text::{JsonFinding, egress_json};
pub use known::register_secret;
pub use limits::{
    ERROR_BYTES_MAX, ERROR_CHAIN_MAX, KNOWN_SECRET_BYTES_MIN, STREAM_HOLDBACK_BYTES_MAX, VALUE_BYTES_MAX,
    VALUE_DEPTH_MAX, VALUE_MEMBERS_MAX,
};
pub use line::{extension_words, one_line_untrusted};
pub use pass::{egress_text, egress_text_reporting};
pub use redactor::Redactor;
pub use report::{Confidence, Finding, REPORT_FINDINGS_MAX, Report, ReportSummary, Source, summarize};
pub use sight::{is_hard_to_see, look_alike_letters};
pub use snapshot::{EgressValue, egress_value};
pub use summary::bounded_summary;
pub use thrown::{egress_error, egress_panic};
pub use tier::{Human, SamePrincipal, Tier};
pub use words::Words;
