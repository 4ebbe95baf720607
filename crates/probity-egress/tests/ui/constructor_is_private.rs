use probity_egress::{Egress, SamePrincipal};

fn main() {
    let _ = Egress::<SamePrincipal>::passed("raw");
}
