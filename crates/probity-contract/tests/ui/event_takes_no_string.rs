use probity_contract::{Event, ModelCallId};

fn tell(delta: String) -> Event {
    Event::Text { call: ModelCallId(1), delta }
}

fn main() {}
