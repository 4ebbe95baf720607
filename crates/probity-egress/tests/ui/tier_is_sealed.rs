use probity_egress::Tier;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Anything;

impl Tier for Anything {
    const NAME: &'static str = "anything";
    const REMOVES_LOCATIONS: bool = false;
}

fn main() {}
