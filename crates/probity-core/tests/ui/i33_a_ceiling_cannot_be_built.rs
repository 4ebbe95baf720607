//! A ceiling has one maker, the driver.

fn made_up(other: probity_core::Ceiling) -> probity_core::Ceiling {
    probity_core::Ceiling { ..other }
}

fn made_anew() -> probity_core::Ceiling {
    probity_core::Ceiling::new()
}

fn made_by_default() -> probity_core::Ceiling {
    Default::default()
}

fn main() {
    let _ = (made_up, made_anew, made_by_default);
}
