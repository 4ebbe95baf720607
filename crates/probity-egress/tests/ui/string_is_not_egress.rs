use probity_egress::{Egress, SamePrincipal};

fn exit(_: Egress<SamePrincipal>) {}

fn main() {
    exit(String::from("raw"));
}
