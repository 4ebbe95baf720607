//! What the pass finds in the redaction corpus, and what holds for every row of it. `cargo xtask redaction-report` shows
//! the same figures in full.

mod floors;
mod splits;

use probity_egress::{Human, SamePrincipal, Tier, egress_text};
use probity_testkit::{
    RedactionRow, RedactionScore, RedactionTarget, redaction_figures, redaction_rows, removed_by_pass,
};

const DEV: &str = "dev.jsonl.gz";
const VARIANTS: &str = "transforms.jsonl.gz";

/// Every row there is, of both files.
fn all_rows() -> Vec<RedactionRow> {
    [DEV, VARIANTS].into_iter().filter_map(redaction_rows).flatten().collect()
}

#[test]
fn corpus_redaction_figures_do_not_fall() {
    let (Some(dev), Some(variants)) = (redaction_rows(DEV), redaction_rows(VARIANTS)) else { return };
    let dev = RedactionScore::of(&dev, removed_by_pass::<SamePrincipal>);
    let variants = RedactionScore::of(&variants, removed_by_pass::<SamePrincipal>);
    let figures = redaction_figures(&dev, &variants);
    let mut fallen = Vec::new();
    for figure in &figures {
        let (part, of, ratio) = (figure.share.part, figure.share.of, figure.share.ratio());
        println!("{}: {part} of {of} ({ratio:.4})", figure.name);
        let Some(floor) = floors::of(figure.id) else { continue };
        let holds = match figure.target {
            RedactionTarget::AtLeast(_) => ratio >= floor,
            RedactionTarget::AtMost(_) => ratio <= floor,
        };
        if !holds {
            fallen.push(format!("{}: {part} of {of} ({ratio:.4}), the bound is {floor:.4}", figure.name));
        }
    }
    assert!(fallen.is_empty(), "worse than it was:\n{}", fallen.join("\n"));
    let unknown = floors::ids().find(|id| figures.iter().all(|figure| figure.id != *id));
    assert_eq!(unknown, None, "a bound for a figure that is not measured");
}

#[test]
fn corpus_redaction_twice_changes_nothing() {
    for row in &all_rows() {
        twice_changes_nothing::<SamePrincipal>(row);
        twice_changes_nothing::<Human>(row);
    }
}

fn twice_changes_nothing<T: Tier>(row: &RedactionRow) {
    let once = egress_text::<T>(&row.text);
    assert_eq!(egress_text::<T>(once.as_str()), once, "passing twice changed {:?}", row.text);
}
