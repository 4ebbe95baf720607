use std::marker::PhantomData;

use probity_egress::{Egress, SamePrincipal};

fn main() {
    let _ = Egress::<SamePrincipal> { text: "raw".into(), tier: PhantomData };
}
