use probity_egress::{Egress, SamePrincipal};

fn main() {
    let _: Egress<SamePrincipal> = String::from("raw").into();
}
