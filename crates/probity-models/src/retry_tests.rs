use super::*;

const NOW: u64 = 1_000_000_000;

fn decide(status: u16, retry_after: Option<&str>, tries: u32) -> Option<Duration> {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW);
    pause(Failed::Refused { status, retry_after, should_retry: None }, tries, 3, now, 1.0)
}

#[test]
fn only_passing_failures_are_tried_again() {
    for status in [408, 409, 429, 500, 502, 503, 504, 529] {
        assert!(decide(status, None, 1).is_some(), "{status}");
    }
    for status in [301, 400, 401, 402, 403, 404, 413, 422, 501] {
        assert_eq!(decide(status, None, 1), None, "{status}");
    }
}

#[test]
fn tries_are_counted_and_pauses_double() {
    let ms = |tries| decide(503, None, tries).map(|pause| pause.as_millis());
    assert_eq!((ms(1), ms(2), ms(3)), (Some(500), Some(1_000), None));
    let now = SystemTime::UNIX_EPOCH;
    assert_eq!(pause(Failed::Unconnected, 1, 3, now, 0.0), Some(Duration::from_millis(250)));
    assert_eq!(pause(Failed::Unconnected, 60, 99, now, 1.0), Some(Duration::from_millis(RETRY_PAUSE_MS_MAX)));
}

#[test]
fn the_providers_pause_is_kept_or_nothing_is_tried() {
    let at = |text| decide(429, Some(text), 1);
    assert_eq!(at("7"), Some(Duration::from_secs(7)));
    assert_eq!(at("0.25"), Some(Duration::from_millis(250)));
    assert_eq!(at("31"), None);
    assert_eq!(at("1e300"), None);
    assert_eq!(at("Sun, 09 Sep 2001 01:46:50 GMT"), Some(Duration::from_secs(10)));
    assert_eq!(at("Sun, 09 Sep 2001 01:46:30 GMT"), Some(Duration::ZERO));
    assert_eq!(at("Sun, 09 Sep 2001 02:46:30 GMT"), None);
    // What cannot be read counts as not there.
    for text in ["-5", "soon", "", "NaN"] {
        assert_eq!(at(text), Some(Duration::from_millis(500)), "{text}");
    }
}

#[test]
fn the_providers_word_outranks_the_status() {
    let failed = Failed::Refused { status: 503, retry_after: None, should_retry: Some("false") };
    assert_eq!(pause(failed, 1, 3, SystemTime::UNIX_EPOCH, 0.5), None);
}
