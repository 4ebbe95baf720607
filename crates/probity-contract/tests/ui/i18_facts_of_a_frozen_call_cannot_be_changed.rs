use probity_contract::{Arguments, FrozenCall};

fn change(call: &mut FrozenCall, arguments: Arguments) {
    call.facts().arguments = arguments;
}

fn main() {}
