//! An approval of one call does not become one of another, of another run or for somebody else.

fn carried_over(grant: probity_contract::Grant, other: probity_contract::Digest) -> probity_contract::Grant {
    probity_contract::Grant { call: other, ..grant }
}

fn readdressed(permit: probity_contract::Permit, call: std::sync::Arc<probity_contract::FrozenCall>) {
    let _ = probity_contract::Permit { call, redeems: permit.redeems() };
}

fn main() {
    let _ = (carried_over, readdressed);
}
