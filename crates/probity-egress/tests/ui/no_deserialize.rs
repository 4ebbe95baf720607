use probity_egress::{Egress, SamePrincipal};

fn main() {
    let _: Egress<SamePrincipal> = serde_json::from_str("\"raw\"").unwrap();
}
