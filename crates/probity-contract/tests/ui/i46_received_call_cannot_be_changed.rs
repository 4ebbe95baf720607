use probity_contract::{Arguments, FrozenCall, PendingCall, PrincipalId, Target};

fn change_targets(call: &FrozenCall, target: Target) {
    call.targets().push(target);
}

fn change_principal(call: &FrozenCall, principal: PrincipalId) {
    call.facts().principal = principal;
}

fn change_arguments(call: &FrozenCall, arguments: Arguments) {
    *call.arguments() = arguments;
}

fn change_question(question: &PendingCall) {
    question.facts().expires_at_ms += 1;
}

fn main() {}
