use probity_contract::Occasion;
use serde_json::{Value, json};

fn index(occasion: Occasion) {
    occasion.target()["content"] = json!("something else");
}

fn keep(occasion: Occasion) -> &'static Value {
    occasion.context()
}

fn mutate(mut occasion: Occasion) {
    let target: &mut Value = occasion.target();
    *target = json!(null);
}

fn swap(mut occasion: Occasion) {
    occasion.context = std::sync::Arc::new(json!(null));
}

fn main() {}
