//! What a task below may do is permitted there: a permit of the task above is not handed down.

use probity_contract::Permit;
use probity_core::{Ceiling, ChildProfile};

async fn hand_down(ceiling: &Ceiling, profile: &ChildProfile, permit: Permit) {
    let _ = ceiling.start(profile, permit).await;
}

fn twice(permit: Permit) -> (Permit, Permit) {
    (permit.clone(), permit)
}

fn main() {
    let _ = (hand_down, twice);
}
