use std::error::Error;
use std::fmt;

use probity_egress::{SamePrincipal, egress_error, egress_panic};

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
