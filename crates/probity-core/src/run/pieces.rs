//! What a model is writing: put before interceptors in pieces, and let out as far as all of them permit.

use std::collections::VecDeque;

use probity_contract::{HostError, ModelCallId, ModelError, ModelReply, Point, ReplyPart, Window};

use super::messages;
use super::passing::Then;
use super::turns::reply_text;
use super::{Phase, Release, Run, RunState, Step, Unexpected};
use crate::boundary::{Releases, Scene, Upshot};

/// What a model has written so far where it is looked at in pieces.
///
/// Not stored: a model call that nobody owes any more is made again from its start.
#[derive(Default)]
pub(super) struct Written {
    text: String,
    // Where pieces end that were not looked at yet.
    ends: VecDeque<usize>,
    released: usize,
    // A transform of a piece: from here on the rest waits for the whole.
    held: bool,
    // The end of the model call, which came before the pieces were looked at.
    pub(super) end: Option<Box<(ModelCallId, Result<ModelReply, ModelError>)>>,
}

impl Run {
    /// Where the pieces of a reply under way are looked at, in order.
    fn looks_at_pieces(&self) -> impl Iterator<Item = Point> {
        let boundary = &self.state.spec.boundary;
        let points = match boundary.releases {
            Releases::AllAgreed => [Point::PostModelCall, Point::Output].as_slice(),
            Releases::AfterModelCall => [Point::PostModelCall].as_slice(),
        };
        points.iter().copied().filter(|point| boundary.is_heard_at(*point))
    }

    /// What becomes of the deltas of a model call.
    pub(super) fn release(&self) -> Release {
        let boundary = &self.state.spec.boundary;
        if ![Point::PostModelCall, Point::Output].into_iter().any(|point| boundary.is_heard_at(point)) {
            return Release::AsItComes;
        }
        let places = self.looks_at_pieces().flat_map(|point| boundary.seats_at(point));
        let seats = places.filter_map(|place| boundary.seats.get(place as usize));
        let windows: Option<Vec<Window>> = seats.map(|seat| seat.window).collect();
        match windows.filter(|windows| !windows.is_empty()) {
            Some(windows) => Release::Pieces(windows),
            None => Release::Held,
        }
    }

    /// Takes more of what the model writes.
    pub(super) fn model_wrote(&mut self, call: ModelCallId, text: &str) -> Result<(), Unexpected> {
        match self.state.phase {
            Phase::Model { call: waiting, sent: true, .. } if waiting == call => {
                self.written.text.push_str(text);
                if !self.written.held {
                    self.written.ends.push_back(self.written.text.len());
                }
                self.look_at_pieces();
                Ok(())
            }
            Phase::Opening { .. }
            | Phase::Turn { .. }
            | Phase::Model { .. }
            | Phase::Calls
            | Phase::Closing
            | Phase::Ended(_) => Err(Unexpected),
        }
    }

    fn look_at_pieces(&mut self) {
        if self.state.passing.is_some() {
            return;
        }
        let Some(ends) = self.written.ends.pop_front() else {
            if let Some(end) = self.written.end.take() {
                let (call, result) = *end;
                self.take_model_end(call, result);
            }
            return;
        };
        let first = self.looks_at_pieces().next();
        if let Some(first) = first {
            self.look_at_piece(first, ends);
        }
    }

    fn look_at_piece(&mut self, point: Point, ends: usize) {
        let written = std::mem::take(&mut self.written);
        let so_far = written.text.get(..ends).unwrap_or_default();
        let fold = self.fold(|state, envelope| {
            if point == Point::Output {
                return Scene::Output { content: so_far }.stage(envelope);
            }
            unfinished(state, Some(so_far), "incremental").stage(envelope)
        });
        self.written = written;
        self.pass(fold, Then::Piece { ends });
    }

    /// Takes the end of a model call: at once, or when the pieces before it were looked at.
    pub(super) fn take_or_keep_model_end(
        &mut self,
        call: ModelCallId,
        result: Result<ModelReply, ModelError>,
    ) {
        self.written.end = Some(Box::new((call, result)));
        self.look_at_pieces();
    }

    /// A model call that broke off while its text was looked at in pieces leaves a rest that nobody has judged.
    pub(super) fn deny_rest(&mut self, call: ModelCallId) {
        if let Release::Pieces(_) = self.release() {
            let fold = self.fold(|state, envelope| unfinished(state, None, "error").stage(envelope));
            if let Some(upshot) = fold.refused(&self.state.spec.boundary, HostError::StreamingUnsupported) {
                self.record_row(&upshot, None, Some(call));
            }
        }
        self.release_text(call, String::new(), true);
    }

    /// A piece was looked at: it goes to whoever looks next, or out.
    pub(super) fn passed_piece(&mut self, upshot: &Upshot, ends: usize) {
        let Phase::Model { call, .. } = self.state.phase else { return };
        self.record_row(upshot, None, Some(call));
        if !upshot.proceeds {
            self.release_text(call, String::new(), true);
            return self.deny_message(upshot);
        }
        let next = self.looks_at_pieces().skip_while(|point| *point != upshot.row.point).nth(1);
        if upshot.is_changed {
            self.written.held = true;
            self.written.ends.clear();
        } else if let Some(next) = next {
            return self.look_at_piece(next, ends);
        } else {
            let from = std::mem::replace(&mut self.written.released, ends);
            let text = self.written.text.get(from..ends).unwrap_or_default().to_owned();
            self.release_text(call, text, false);
        }
        self.look_at_pieces();
    }

    /// Has a text let out, where texts are held.
    pub(super) fn release_text(&mut self, call: ModelCallId, text: String, last: bool) {
        if self.release() != Release::AsItComes {
            self.releases.push_back(Step::Release { call, text, last });
        }
    }

    /// Lets the text of a reply out that stands in the window now, or what of it was not let out in pieces.
    ///
    /// A text beside calls is no answer, so nobody has looked at it at `output`: where somebody is heard there, it stays.
    pub(super) fn release_reply(&mut self, call: ModelCallId, parts: &[ReplyPart]) {
        let Written { text: written, released, .. } = std::mem::take(&mut self.written);
        let is_out = written.get(..released).unwrap_or_default();
        let looked_at = self.state.spec.boundary.releases == Releases::AfterModelCall
            || !messages::proposes_calls(parts)
            || !self.is_heard_at(Point::Output);
        let rest = match reply_text(parts) {
            _ if !looked_at => String::new(),
            // One that does not go on from what is out was changed, and stands for itself.
            text if is_out.is_empty() => text,
            text => text.strip_prefix(is_out).map(str::to_owned).unwrap_or(text),
        };
        self.release_text(call, rest, true);
    }
}

/// A reply that is not whole: what there is of it, and why it is shown.
fn unfinished<'a>(state: &'a RunState, content: Option<&'a str>, finish_reason: &'a str) -> Scene<'a> {
    Scene::PostModelCall { model: state.spec.model.as_str(), content, calls: Vec::new(), finish_reason }
}
