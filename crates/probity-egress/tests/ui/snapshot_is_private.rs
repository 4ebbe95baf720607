use std::marker::PhantomData;

use probity_egress::{EgressValue, SamePrincipal};

fn main() {
    let _ = EgressValue::<SamePrincipal> { value: serde_json::Value::Null, tier: PhantomData };
}
