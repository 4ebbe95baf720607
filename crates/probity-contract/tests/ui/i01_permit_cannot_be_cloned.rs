use probity_contract::Permit;

fn twice(permit: &Permit) -> Permit {
    Permit::clone(permit)
}

fn main() {}
