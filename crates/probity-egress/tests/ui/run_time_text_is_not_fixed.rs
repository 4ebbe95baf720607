use probity_egress::{Egress, SamePrincipal};

fn main() {
    let raw = String::from("raw");
    let _ = Egress::<SamePrincipal>::fixed(&raw);
}
