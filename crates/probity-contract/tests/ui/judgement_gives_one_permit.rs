use probity_contract::{Denial, Judgement, Permit};

fn two(judgement: Judgement) -> [Result<Permit, Denial>; 2] {
    [judgement.permit(0), judgement.permit(0)]
}

fn main() {}
