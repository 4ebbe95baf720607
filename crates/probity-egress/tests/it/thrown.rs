use std::error::Error;
use std::fmt;

use probity_egress::{ERROR_BYTES_MAX, SamePrincipal, egress_error, egress_panic};

#[derive(Debug)]
struct Failure(&'static str, Option<Box<Failure>>);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.1.as_deref().map(|source| source as &dyn Error)
    }
}

#[test]
fn an_error_says_its_chain_once() {
    let inner = Failure("password=hunter22 was refused", None);
    let middle = Failure("connect", Some(Box::new(inner)));
    let outer = Failure("open the store: connect", Some(Box::new(middle)));
    let out = egress_error::<SamePrincipal>(&outer);
    assert_eq!(out.as_str(), "open the store: connect: password=[REDACTED:password] was refused");
}

#[test]
fn a_panic_says_its_text() {
    let text = egress_panic::<SamePrincipal>(Box::new(String::from("token=x9Kq2LmZ7pR4")));
    assert_eq!(text.as_str(), "token=[REDACTED:token]");
    assert_eq!(egress_panic::<SamePrincipal>(Box::new("plain")).as_str(), "plain");
    assert_eq!(egress_panic::<SamePrincipal>(Box::new(7_u8)).as_str(), "panic with a non-text payload");
}

/// An error whose words are written by a function.
struct Said(fn(&mut fmt::Formatter<'_>) -> fmt::Result);

impl fmt::Debug for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Said")
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0(f)
    }
}

impl Error for Said {}

#[test]
fn an_error_that_cannot_say_its_words_is_passed_as_far_as_it_came() {
    let refuses = Said(|f| {
        f.write_str("password=hunter22 and")?;
        Err(fmt::Error)
    });
    assert_eq!(egress_error::<SamePrincipal>(&refuses).as_str(), "password=[REDACTED:password] and");
    let silent = Said(|_| Err(fmt::Error));
    assert_eq!(egress_error::<SamePrincipal>(&silent).as_str(), "(an error without words)");
}

#[test]
fn an_error_that_does_not_end_is_cut_after_the_pass() {
    let endless = Said(|f| {
        loop {
            f.write_str("x9Kq2LmZ7pR4 password=x9Kq2LmZ7pR4x9Kq2LmZ7pR4\n")?;
        }
    });
    let out = egress_error::<SamePrincipal>(&endless);
    assert!(out.len() <= ERROR_BYTES_MAX + 100, "{}", out.len());
    assert!(out.as_str().ends_with("[REDACTED:limit]"), "{}", out.len());
    assert!(!out.as_str().contains("password=x9"));
    for lead in 0..60 {
        let text: &'static str = Box::leak(
            format!("{} password=x9Kq2LmZ7pR4x9Kq2LmZ7pR4 end", "a".repeat(ERROR_BYTES_MAX - lead))
                .into_boxed_str(),
        );
        let out = egress_error::<SamePrincipal>(&Failure(text, None));
        assert!(!out.as_str().contains("x9K"), "{lead}: {}", &out.as_str()[ERROR_BYTES_MAX - 100..]);
    }
}

#[test]
fn a_panic_of_any_kind_says_its_text() {
    let secret = "token=x9Kq2LmZ7pR4";
    let boxed: Box<dyn Error + Send + Sync> = secret.into();
    let payloads: Vec<Box<dyn std::any::Any + Send>> = vec![
        Box::new(secret),
        Box::new(secret.to_owned()),
        Box::new(secret.to_owned().into_boxed_str()),
        Box::new(std::sync::Arc::<str>::from(secret)),
        Box::new(std::borrow::Cow::Borrowed(secret)),
        Box::new(boxed),
        Box::new(std::io::Error::other(secret)),
        Box::new(Box::new(secret.to_owned()) as Box<dyn std::any::Any + Send>),
    ];
    for payload in payloads {
        assert_eq!(egress_panic::<SamePrincipal>(payload).as_str(), "token=[REDACTED:token]");
    }
}

#[test]
fn a_payload_that_panics_when_read_or_dropped_is_survived() {
    struct Trap;
    impl Drop for Trap {
        fn drop(&mut self) {
            std::panic::panic_any(Trap);
        }
    }
    let out = egress_panic::<SamePrincipal>(Box::new(Trap));
    assert_eq!(out.as_str(), "panic with a non-text payload");
    let error: Box<dyn Error + Send> = Box::new(Said(|_| std::panic::panic_any(Trap)));
    assert_eq!(egress_panic::<SamePrincipal>(Box::new(error)).as_str(), "(an error without words)");
}
