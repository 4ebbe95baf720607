use std::marker::PhantomData;

use probity_egress::{Egress, Tier};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use super::line::{Fields, line};

/// Where lines of a log go: anything that takes `&Egress<T>`.
pub trait LineSink<T: Tier>: Send + Sync + 'static {
    /// Takes one line, without its line feed.
    fn line(&self, line: &Egress<T>);
}

impl<T: Tier, F: Fn(&Egress<T>) + Send + Sync + 'static> LineSink<T> for F {
    fn line(&self, line: &Egress<T>) {
        self(line);
    }
}

/// A whole layer for `tracing`: each event becomes one passed line for a sink.
///
/// The line has the level, the spans with their fields, the target, the message and the fields. A field with a
/// credential's name is a marker whole, every other name and value is passed, an error with its sources; then the line is
/// passed as a whole, folded and bounded ([`LOG_LINE_CHARS_MAX`](crate::LOG_LINE_CHARS_MAX)). It carries no time: the sink
/// has the clock.
///
/// A layer cannot rewrite an event for others: a subscriber that shall say nothing unpassed has no layer that writes but
/// this one.
///
/// ```
/// use probity_egress::{Egress, SamePrincipal};
/// use tracing_subscriber::layer::SubscriberExt;
///
/// let layer = probity_egress_io::RedactedLayer::new(|line: &Egress<SamePrincipal>| eprintln!("{line}"));
/// let subscriber = tracing_subscriber::registry().with(layer);
/// # drop(subscriber);
/// ```
#[derive(Debug, Clone)]
pub struct RedactedLayer<S, T: Tier> {
    sink: S,
    tier: PhantomData<T>,
}

impl<S: LineSink<T>, T: Tier> RedactedLayer<S, T> {
    /// A layer that writes to `sink`.
    pub const fn new(sink: S) -> Self {
        Self { sink, tier: PhantomData }
    }
}

impl<S: LineSink<T>, T: Tier, U> Layer<U> for RedactedLayer<S, T>
where
    U: Subscriber + for<'lookup> LookupSpan<'lookup>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, U>) {
        if let Some(span) = context.span(id) {
            let mut fields = Fields::<T>::default();
            attributes.record(&mut fields);
            span.extensions_mut().replace(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, U>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields<T>>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, U>) {
        let mut fields = Fields::<T>::default();
        event.record(&mut fields);
        let mut spans = String::new();
        for span in context.event_scope(event).into_iter().flat_map(|scope| scope.from_root()) {
            let extensions = span.extensions();
            let pairs = extensions.get::<Fields<T>>().map(Fields::pairs).unwrap_or_default();
            spans.push_str(span.name());
            spans.push_str(&if pairs.is_empty() { ": ".to_owned() } else { format!("{{ {pairs} }}: ") });
        }
        let target = fields.log_target.as_deref().unwrap_or_else(|| event.metadata().target());
        let target = format!("{target}:");
        let level = event.metadata().level().as_str();
        self.sink.line(&line(&[level, spans.trim_end(), &target, &fields.message, &fields.pairs()]));
    }
}
