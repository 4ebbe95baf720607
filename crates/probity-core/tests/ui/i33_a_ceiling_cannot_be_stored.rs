//! A ceiling is of one call of one process: it is neither written down nor copied out of its place.

fn stored(ceiling: &probity_core::Ceiling) -> String {
    serde_json::to_string(ceiling).unwrap()
}

fn copied(ceiling: &probity_core::Ceiling) -> probity_core::Ceiling {
    ceiling.clone()
}

fn main() {
    let _ = (stored, copied);
}
