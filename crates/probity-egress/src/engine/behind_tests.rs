use super::super::cursor::Cursor;
use super::Behind;

#[test]
fn what_is_read_backwards_is_what_is_read_forwards() {
    let hidden = [
        "",
        "\u{200b}",
        "\u{200b}\u{200f}",
        "\u{ad}",
        "\u{1b}[31m",
        "\u{1b}[m\u{200b}",
        "\u{200b}\u{1b}[0;1m",
    ];
    for (first, second) in hidden.iter().flat_map(|first| hidden.iter().map(move |second| (*first, *second)))
    {
        for visible in ["gh_", "[m", "1m", "[0m", "\u{1b}m", "é;", "漢1", " -"] {
            let text: String =
                visible.chars().flat_map(|c| [c.to_string(), first.into(), second.into()]).collect();
            let text = text.repeat(3);
            let (mut at, mut read) = (0, Vec::new());
            loop {
                let mut behind = Behind::open(&text, at, 0);
                let backwards: Vec<char> = std::iter::from_fn(|| behind.next()).collect();
                let forwards: Vec<char> = read.iter().rev().copied().collect();
                assert_eq!(backwards, forwards, "before {at} of {text:?}");
                let mut ahead = Cursor::open(&text, at, true);
                match ahead.hidden() {
                    Ok(0) => match ahead.next_raw() {
                        Ok(Some(c)) => read.push(c),
                        Ok(None) | Err(_) => break,
                    },
                    Ok(len) => ahead = ahead.after(len),
                    Err(_) => break,
                }
                at = ahead.offset();
            }
        }
    }
}
