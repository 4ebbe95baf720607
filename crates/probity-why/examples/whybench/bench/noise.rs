//! The model of a case with seeded noise around it.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::stream;
use probity_contract::{
    BoxStream, Model, ModelContext, ModelError, ModelEvent, ModelName, ModelReply, ModelRequest, ReplyPart,
    ReplyPartKind,
};
use probity_models::RulesModel;

use super::chance::Chance;
use super::world::says;

/// Answers as the rules do, and in a share of its answers with other words than they.
pub(crate) struct Noisy {
    pub(crate) rules: Arc<RulesModel>,
    /// The reply that is asked about, as it was recorded.
    pub(crate) recorded: Vec<ReplyPart>,
    /// The words of it that are asked about, then what may stand in their place.
    pub(crate) words: Vec<String>,
    /// The chance, and the share in percent.
    pub(crate) chance: Mutex<(Chance, u32)>,
}

impl Noisy {
    /// Begins anew.
    pub(crate) fn start(&self, chance: Chance, percent: u32) {
        *self.chance.lock().unwrap_or_else(PoisonError::into_inner) = (chance, percent);
    }

    /// What comes in place of what the rules say: with the share that was set, another plausible answer.
    pub(crate) fn blur(&self, quiet: ModelReply) -> ModelReply {
        let mut guard = self.chance.lock().unwrap_or_else(PoisonError::into_inner);
        let (chance, percent) = &mut *guard;
        if !chance.percent(*percent) {
            return quiet;
        }
        let said = all_words(&quiet.parts);
        let plausible: Vec<&String> = self.words.iter().filter(|words| !says(&said, words)).collect();
        if plausible.is_empty() {
            return quiet;
        }
        let other = *chance.pick(&plausible);
        let swapped = |text: &str| text.replace(&self.words[0], other);
        let parts = self.recorded.iter().map(|part| match &part.kind {
            ReplyPartKind::Text(text) => ReplyPart::text(swapped(text)),
            ReplyPartKind::Call(call) => {
                ReplyPart::call(call.provider_id.clone(), call.name.clone(), swapped(&call.arguments))
            }
            ReplyPartKind::Reasoning(_) | ReplyPartKind::Opaque => part.clone(),
        });
        ModelReply { parts: parts.collect(), ..quiet }
    }
}

impl Model for Noisy {
    fn name(&self) -> &ModelName {
        self.rules.name()
    }

    fn call(
        &self,
        request: ModelRequest,
        _cx: ModelContext,
    ) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let answer =
            self.rules.decide(&request).map(|decided| ModelEvent::Finished(self.blur(decided.reply)));
        Box::pin(stream::iter([answer]))
    }
}

/// The words of a reply, those of its calls among them.
pub(crate) fn all_words(parts: &[ReplyPart]) -> String {
    let words = parts.iter().map(|part| match &part.kind {
        ReplyPartKind::Text(text) => text.as_str(),
        ReplyPartKind::Call(call) => call.arguments.as_str(),
        ReplyPartKind::Reasoning(_) | ReplyPartKind::Opaque => "",
    });
    words.collect::<Vec<_>>().join("\n")
}
