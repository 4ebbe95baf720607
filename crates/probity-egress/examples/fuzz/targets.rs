//! The promises, each as a check of one text.

mod known;
mod value;

use std::panic::{AssertUnwindSafe, catch_unwind};

use probity_egress::{
    Human, Redactor, Report, STREAM_HOLDBACK_BYTES_MAX, SamePrincipal, Tier, egress_text,
    egress_text_reporting,
};
use probity_testkit::removed_by_pass;

use crate::draw::Draw;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Text,
    Stream,
    Value,
    Known,
}

impl Target {
    pub(crate) const ALL: [Self; 4] = [Self::Text, Self::Stream, Self::Value, Self::Known];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Stream => "stream",
            Self::Value => "value",
            Self::Known => "known",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.name() == name)
    }

    /// What has to be so before the first check.
    pub(crate) fn prepare(self) {
        // Panics are findings here and are told as such.
        std::panic::set_hook(Box::new(|_| ()));
        if self == Self::Known {
            known::register();
        }
    }

    /// Changes a text so that it is worth checking.
    pub(crate) fn season(self, text: &mut String, draw: &mut Draw) {
        if self == Self::Known {
            known::season(text, draw);
        }
    }

    /// What does not hold for this text; `seed` chooses what a check leaves open, such as where a stream is cut.
    pub(crate) fn check(self, text: &str, seed: u64) -> Result<(), String> {
        let checked = catch_unwind(AssertUnwindSafe(|| match self {
            Self::Text => text_holds::<SamePrincipal>(text).and_then(|()| text_holds::<Human>(text)),
            Self::Stream => {
                stream_holds::<SamePrincipal>(text, seed).and_then(|()| stream_holds::<Human>(text, seed))
            }
            Self::Value => value::holds(text),
            Self::Known => known::holds(text),
        }));
        checked.unwrap_or_else(|payload| {
            let words = payload.downcast_ref::<String>().cloned();
            let words = words.or_else(|| payload.downcast_ref::<&str>().map(|words| (*words).to_owned()));
            Err(format!("panic: {}", words.unwrap_or_default()))
        })
    }
}

fn text_holds<T: Tier>(text: &str) -> Result<(), String> {
    // Panics where the report does not fit what was done.
    drop(removed_by_pass::<T>(text));
    let once = egress_text::<T>(text);
    let twice = egress_text::<T>(once.as_str());
    if twice != once {
        return Err(format!("a second pass changes {:?} to {:?}", once.as_str(), twice.as_str()));
    }
    Ok(())
}

/// As single characters, and cut three ways at random.
fn stream_holds<T: Tier>(text: &str, seed: u64) -> Result<(), String> {
    let mut draw = Draw::new(seed);
    let mut report = Report::new();
    let whole = egress_text_reporting::<T>(text, &mut report);
    for longest in [1, 8, 64, 1 + text.len()] {
        let mut redactor = Redactor::<T>::new();
        let (mut out, mut from) = (String::new(), 0);
        while from < text.len() {
            let to = text.ceil_char_boundary((from + 1 + draw.below(longest)).min(text.len()));
            out.push_str(redactor.push(&text[from..to]).as_str());
            from = to;
            let held = redactor.held_back_bytes();
            if held > STREAM_HOLDBACK_BYTES_MAX {
                return Err(format!("{held} bytes are held back"));
            }
        }
        let (rest, streamed) = redactor.finish_reporting();
        out.push_str(rest.as_str());
        if out != whole.as_str() {
            return Err(format!("in chunks of up to {longest} it gives {out:?}, whole {:?}", whole.as_str()));
        }
        if streamed != report {
            return Err(format!("in chunks of up to {longest} the report is {streamed:?}, whole {report:?}"));
        }
    }
    Ok(())
}
