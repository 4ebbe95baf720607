use probity_contract::Failure;
use probity_egress::{Egress, SamePrincipal};

fn report(who: Egress<SamePrincipal>, text: String) -> Failure {
    Failure { phase: "hook", seat: None, call: None, tool: None, who, class: "error", text }
}

fn main() {}
