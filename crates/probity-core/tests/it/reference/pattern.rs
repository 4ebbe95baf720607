//! Patterns over text and over the words of commands, by recursion.

/// `*` and `?` stay within a directory unless they cross; `**` as a whole part stands for any number of parts.
fn like(pattern: &[char], text: &[char], at_start: bool, crosses: bool) -> bool {
    let any_rest =
        |from: usize, rest: &[char]| (from..=text.len()).any(|at| like(rest, &text[at..], false, crosses));
    match pattern {
        [] => text.is_empty(),
        ['*', '*'] if at_start => true,
        ['*', '*', '/', rest @ ..] if at_start => {
            like(rest, text, false, crosses)
                || (0..text.len()).any(|at| text[at] == '/' && like(rest, &text[at + 1..], false, crosses))
        }
        ['/', '*', '*'] => text.first() == Some(&'/'),
        ['/', '*', '*', '/', rest @ ..] => {
            text.first() == Some(&'/')
                && (0..text.len()).any(|at| text[at] == '/' && like(rest, &text[at + 1..], false, crosses))
        }
        ['*', rest @ ..] if crosses => any_rest(0, rest),
        ['*', rest @ ..] => {
            let end = text.iter().position(|c| *c == '/').unwrap_or(text.len());
            (0..=end).any(|at| like(rest, &text[at..], false, crosses))
        }
        ['?', rest @ ..] => {
            text.first().is_some_and(|c| crosses || *c != '/') && like(rest, &text[1..], false, crosses)
        }
        [first, rest @ ..] => text.first() == Some(first) && like(rest, &text[1..], false, crosses),
    }
}

pub(super) fn exactly(pattern: &str, text: &str) -> bool {
    let [pattern, text] = [pattern, text].map(|text| text.chars().collect::<Vec<_>>());
    like(&pattern, &text, true, false)
}

pub(super) fn loosely(pattern: &str, text: &str) -> bool {
    let folded = |text: &str| text.to_ascii_lowercase().chars().collect::<Vec<_>>();
    let stem = pattern.strip_suffix("/**").or_else(|| pattern.strip_suffix("/*"));
    let stem = stem.filter(|stem| !stem.is_empty());
    exactly(pattern, text)
        || like(&folded(pattern), &folded(text), true, true)
        || stem.is_some_and(|stem| like(&folded(stem), &folded(text), true, true))
}

/// Whether something below a directory could match: one of the two begins with the other, up to the first wildcard.
pub(super) fn loosely_below(pattern: &str, dir: &str) -> bool {
    let dir = if dir == "." { String::new() } else { format!("{}/", dir.to_ascii_lowercase()) };
    let start: String = pattern.to_ascii_lowercase().chars().take_while(|c| !"*?".contains(*c)).collect();
    start.starts_with(&dir) || (start.len() < pattern.len() && dir.starts_with(&start))
}

pub(super) fn words(pattern: &str) -> (Vec<&str>, bool) {
    let mut words: Vec<&str> = pattern.split(' ').collect();
    let is_open = words.len() > 1 && words.last() == Some(&"*");
    if is_open {
        words.pop();
    }
    (words, is_open)
}

/// Whether a command with these words stands anywhere in the arguments.
pub(super) fn is_among(pattern: &str, argv: &[&str]) -> bool {
    let wanted = words(pattern).0;
    let cut = |text: &str, at: &str| {
        let parts = text.split(|c: char| c == ' ' || at.contains(c));
        parts.filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    let whole: Vec<String> = argv.iter().map(|arg| (*arg).to_owned()).collect();
    let pieces: Vec<String> = argv.iter().flat_map(|arg| cut(arg, ";|&()<>'\"`$")).collect();
    let plain = |arg: &&str| {
        let arg = arg.replace("${IFS}", " ").replace("$IFS", " ");
        cut(&arg.chars().filter(|c| !"'\"\\".contains(*c)).collect::<String>(), ";|&()<>`${},")
    };
    let plain: Vec<String> = argv.iter().flat_map(plain).collect();
    let bare = |words: &[String]| -> Vec<String> {
        words.iter().map(|word| word.rsplit('/').next().unwrap().to_owned()).collect()
    };
    [whole, bare(&pieces), pieces, bare(&plain), plain].iter().any(|line| {
        line.windows(wanted.len())
            .any(|window| wanted.iter().zip(window).all(|(glob, word)| loosely(glob, word)))
    })
}
