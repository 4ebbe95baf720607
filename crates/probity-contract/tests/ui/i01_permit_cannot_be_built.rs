use std::sync::Arc;

use probity_contract::{FrozenCall, Permit};

fn forge(call: Arc<FrozenCall>) -> Permit {
    Permit { call }
}

fn main() {}
