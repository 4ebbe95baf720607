use proptest::prelude::*;

/// A token in the shape of a code host's, made at run time.
pub(crate) fn token() -> String {
    let random: String = (0..36_u32).filter_map(|n| char::from_digit(n * 11 % 36, 36)).collect();
    ["gh", "p_", &random].concat()
}

/// Words, more than a pass holds back, and then the beginning of a token.
pub(crate) fn cut_off() -> (String, String) {
    let words = "one line of words\n".repeat(600);
    (format!("{words}{}", token().split_at(20).0), words)
}

/// Bytes with credentials, words, broken sequences, and places to cut them.
pub(crate) fn cut_bytes() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let piece = prop_oneof![
        Just(token().into_bytes()),
        Just(b"password=hunter22 ".to_vec()),
        Just("\n-----BEGIN PRIVATE KEY-----\nMIIB".as_bytes().to_vec()),
        "[a-zé漢😀 \n]{0,12}".prop_map(String::into_bytes),
        proptest::collection::vec(any::<u8>(), 0..4),
    ];
    (proptest::collection::vec(piece, 0..8), proptest::collection::vec(1_usize..9, 1..20)).prop_map(
        |(pieces, sizes)| {
            let (whole, mut chunks, mut at) = (pieces.concat(), Vec::new(), 0);
            for size in sizes.iter().cycle() {
                let Some(rest) = whole.get(at..).filter(|rest| !rest.is_empty()) else { break };
                let chunk = rest.get(..*size).unwrap_or(rest);
                chunks.push(chunk.to_vec());
                at += chunk.len();
            }
            chunks
        },
    )
}

/// The pass over the whole.
pub(crate) fn whole(chunks: &[Vec<u8>]) -> String {
    let text = String::from_utf8_lossy(&chunks.concat()).into_owned();
    probity_egress::egress_text::<probity_egress::SamePrincipal>(&text).as_str().to_owned()
}
