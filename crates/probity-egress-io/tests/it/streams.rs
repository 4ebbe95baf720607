use futures_util::{FutureExt, StreamExt, stream};
use probity_egress::SamePrincipal;
use probity_egress_io::RedactedStream;
use proptest::prelude::*;

use crate::texts::{cut_bytes, token, whole};

type Passed<S, E> = RedactedStream<S, SamePrincipal, E>;

fn all(items: Vec<Result<String, u8>>) -> Vec<Result<String, u8>> {
    let passed = Passed::<_, u8>::new(stream::iter(items));
    let texts = passed.map(|item| item.map(|text| text.as_str().to_owned()));
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(texts.collect())
}

proptest! {
    #[test]
    fn a_stream_gives_the_whole_whatever_the_cuts(chunks in cut_bytes()) {
        let text = String::from_utf8_lossy(&chunks.concat()).into_owned();
        let items = text.chars().map(|c| Ok(c.to_string())).collect();
        let joined: String = all(items).into_iter().map(Result::unwrap).collect();
        prop_assert_eq!(joined, whole(&chunks));
    }
}

#[test]
fn an_error_comes_after_what_was_held_back_and_ends_the_stream() {
    let token = token();
    let (first, rest) = token.split_at(20);
    let got = all(vec![Ok(format!("it is {first}")), Err(7), Ok(rest.to_owned())]);
    let words: String = got.iter().flatten().cloned().collect();
    assert!(words.starts_with("it is "), "{words}");
    assert!(!words.contains(first) && !words.contains(rest), "{words}");
    assert_eq!(got.last(), Some(&Err(7)));
}

#[test]
fn a_stream_in_which_nothing_is_decided_yields() {
    let endless = stream::repeat_with(|| Ok::<_, ()>(""));
    let mut passed = Passed::<_, ()>::new(endless);
    assert!(passed.next().now_or_never().is_none());
}
