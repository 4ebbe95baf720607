use probity_egress::{Human, SamePrincipal, Words, egress_text};

fn main() {
    let part = egress_text::<SamePrincipal>("/home/a");
    let _ = Words::<Human>::new().passed(&part);
}
