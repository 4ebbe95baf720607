use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use probity_egress::{Egress, SamePrincipal};
use probity_egress_io::{RedactedLayer, RedactingMakeWriter};
use tracing::subscriber::with_default;
use tracing_subscriber::layer::SubscriberExt;

use crate::texts::token;

fn lines(act: impl FnOnce()) -> Vec<String> {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&lines);
    let layer = RedactedLayer::new(move |line: &Egress<SamePrincipal>| {
        sink.lock().unwrap().push(line.as_str().to_owned());
    });
    with_default(tracing_subscriber::registry().with(layer), act);
    let lines = lines.lock().unwrap();
    lines.clone()
}

fn check(act: impl FnOnce(), expected: &str) {
    let got = lines(act);
    assert_eq!(got, [expected]);
}

#[test]
fn a_record_is_one_line_of_level_spans_target_message_and_fields() {
    check(
        || {
            let span = tracing::info_span!(target: "t", "run", id = 7, later = tracing::field::Empty);
            let _in = span.enter();
            span.record("later", "two words");
            tracing::warn!(target: "t", n = 3, at = ?"x\ny", "it\nfailed");
        },
        r#"WARN run{ id=7 later="two words" }: t: it failed n=3 at="\"x\\ny\"""#,
    );
}

#[test]
fn a_field_with_a_credentials_name_is_a_marker_whole() {
    check(
        || tracing::info!(target: "t", password = "correct horse", http.authorization = "Basic x", "in"),
        "INFO t: in password=[REDACTED:password] http.authorization=[REDACTED:authorization]",
    );
}

#[test]
fn a_credential_comes_out_of_no_part() {
    let token = token();
    let error = io::Error::other(format!("refused {token}"));
    let got = lines(|| {
        let _in = tracing::info_span!("s", value = token.as_str()).entered();
        tracing::info!(value = %token, "with {token}");
        tracing::info!(error = &error as &(dyn std::error::Error + 'static), "an error");
        tracing::info!("password={}", "hunter22");
    });
    assert_eq!(got.len(), 3);
    let all = got.concat();
    assert!(!all.contains(&token) && !all.contains("hunter22") && all.contains("refused [REDACTED"), "{all}");
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<Vec<u8>>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().push(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_record_of_fmt_is_passed_whole_and_written_at_once() {
    let (shared, token) = (Shared::default(), token());
    let maker = shared.clone();
    let writer = RedactingMakeWriter::<_, SamePrincipal>::new(move || maker.clone());
    let subscriber = tracing_subscriber::fmt().without_time().with_ansi(false).with_writer(writer).finish();
    with_default(subscriber, || tracing::info!(target: "t", value = %token, "said"));
    let records = shared.0.lock().unwrap();
    assert_eq!(records.len(), 1, "one write a record");
    let text = String::from_utf8(records.concat()).unwrap();
    assert!(text.starts_with(" INFO t: said value=[REDACTED") && !text.contains(&token), "{text}");
}
