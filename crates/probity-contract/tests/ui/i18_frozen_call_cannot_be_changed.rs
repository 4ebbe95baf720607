use probity_contract::{CallFacts, Digest, FrozenCall};

fn change_facts(call: &mut FrozenCall, facts: CallFacts) {
    call.facts = facts;
}

fn change_digest(call: &mut FrozenCall, digest: Digest) {
    call.digest = digest;
}

fn main() {}
