//! A ceiling has one maker, the driver.

fn made_anew() -> probity_core::Ceiling {
    probity_core::Ceiling::new()
}

fn made_by_default() -> probity_core::Ceiling {
    Default::default()
}

fn main() {
    let _ = (made_anew, made_by_default);
}
