use probity_contract::{Event, ModelCallId};
use probity_egress::{Egress, Human};

fn tell(delta: Egress<Human>) -> Event {
    Event::Text { call: ModelCallId(1), delta }
}

fn main() {}
