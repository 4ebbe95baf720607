use probity_egress::{Egress, Human, SamePrincipal, egress_text};

fn screen(_: Egress<Human>) {}

fn main() {
    screen(egress_text::<SamePrincipal>("/home/a"));
}
