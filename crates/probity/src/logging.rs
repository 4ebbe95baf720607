//! What the program and its dependencies log: one passed line a record, on standard error.

use std::sync::Arc;

use probity_egress::{Egress, SamePrincipal};
use probity_egress_io::RedactedLayer;
use tracing_log::{AsLog, LogTracer};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;

use crate::render::Screen;
use crate::settings;

/// Installs the only subscriber of the process: warnings and errors, or what `PROBITY_LOG` asks for, such as `debug` or
/// `warn,hyper=trace`. Records of the `log` crate go the same way.
pub(crate) fn start(screen: &Arc<Screen>) {
    let filter = match settings::log_filter().map(|text| text.parse::<Targets>()) {
        None => Targets::new().with_default(LevelFilter::WARN),
        Some(Ok(filter)) => filter,
        Some(Err(_)) => {
            screen.tell(&Egress::fixed(
                "PROBITY_LOG is not understood and is ignored; write a level such as `debug`, or `warn,hyper=trace`",
            ));
            Targets::new().with_default(LevelFilter::WARN)
        }
    };
    // What no target asks for does not cross the bridge at all.
    let levels = filter.iter().map(|(_, level)| level).chain(filter.default_level());
    let most = levels.max().unwrap_or(LevelFilter::OFF);
    let sink = Arc::clone(screen);
    let layer = RedactedLayer::new(move |line: &Egress<SamePrincipal>| sink.tell(line)).with_filter(filter);
    // Nothing else installs either; should it ever, it was first, and this process logs nothing unpassed by itself.
    let _other = tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer));
    let _other = LogTracer::builder().with_max_level(most.as_log()).init();
}
