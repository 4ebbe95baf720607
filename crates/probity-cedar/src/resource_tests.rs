use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(argv: &[&str], expected: &str) {
    let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
    assert_eq!(line(&argv), expected);
}

#[test]
fn a_line_quotes_what_a_shell_would_read_otherwise() {
    check(&[], "");
    check(&["git", "log", "-p"], "git log -p");
    check(&["git", "log -p"], "git 'log -p'");
    check(&["a", ""], "a ''");
    check(&["a'b"], r"'a'\''b'");
    check(&["a\nb", "$x", "*", "é"], "'a\nb' '$x' '*' 'é'");
    check(&["/usr/bin/env", "A=b", "x@y:1,2%+_."], "/usr/bin/env A=b x@y:1,2%+_.");
}

/// The words of a line, read as a POSIX shell reads them that knows words and single quotes.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), None::<String>, false);
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        match char {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => words.extend(word.take()),
            '\\' if !quoted => word.get_or_insert_default().extend(chars.next()),
            char => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    words
}

proptest! {
    #[test]
    fn a_line_has_the_words_that_were_given(argv in proptest::collection::vec("[ab '\\\\\"$*\n]{0,5}", 0..5)) {
        prop_assert_eq!(words(&line(&argv)), argv);
    }
}
