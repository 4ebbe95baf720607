//! What a test of suspects came to, for a terminal.

use probity_egress::{Egress, SamePrincipal, Words, egress_text};

use crate::why::{ShownConfirmed, ShownVerdict};

type Passed = Egress<SamePrincipal>;

/// Suspects without a conviction that have lines of their own; `--json` has all.
const OTHERS_MAX: usize = 8;

pub(crate) fn confirmed_lines(confirmed: &ShownConfirmed<SamePrincipal>) -> Vec<Passed> {
    let words = Words::new().text("tested: ").passed(&confirmed.about).text(", in forks of the run with ");
    let words = words.passed(&confirmed.model).text(", compared by ");
    let words = words.text(confirmed.compared_by);
    let words = if confirmed.is_exact {
        words
    } else {
        words.text(" (fuzzy: equal meanings may compare as different)")
    };
    let mut lines = vec![words.done()];
    let convicted = confirmed.verdicts.iter().filter(|verdict| verdict.is_conviction);
    lines.extend(convicted.map(|verdict| verdict_line('!', verdict)));
    lines.extend(confirmed.without_conviction().map(|words| Words::new().text("  ").text(words).done()));
    let others: Vec<_> = confirmed.verdicts.iter().filter(|verdict| !verdict.is_conviction).collect();
    lines.extend(others.iter().take(OTHERS_MAX).map(|verdict| verdict_line('-', verdict)));
    if let Some(more) = others.len().checked_sub(OTHERS_MAX).filter(|more| *more > 0) {
        lines.push(Words::new().text("  and ").number(more as u64).text(" more without a conviction").done());
    }
    lines.push(Words::new().text("  ").passed(&egress_text(&confirmed.spent())).done());
    if let Some([tool, arguments]) = &confirmed.diverged_at {
        let words = Words::new().text("diverged at ").passed(tool).text(" ").passed(arguments);
        lines.push(words.text(": a call that was never made; nothing was run").done());
    }
    if let Some(failure) = &confirmed.failure {
        lines.push(Words::new().text("the model failed: ").passed(failure).done());
    }
    lines.extend(confirmed.cut_short().map(Egress::fixed));
    lines
}

fn verdict_line(sign: char, verdict: &ShownVerdict<SamePrincipal>) -> Passed {
    let words = Words::new().text(if sign == '!' { "  ! " } else { "  - " });
    let words = words.text(verdict.verdict);
    let with = Egress::join(verdict.with.iter().cloned(), ", ");
    let words = if with.is_empty() { words } else { words.text(" ").passed(&with) };
    let words = words.text(": ").passed(&verdict.id).text(" ").passed(&verdict.what);
    let words = if verdict.is_sufficient { words.text(" (sufficient)") } else { words };
    if verdict.changed.of == 0 && verdict.changed.without_outcome == 0 {
        return words.text("; not tested on its own").done();
    }
    let words =
        words.text("; with it changed the answer stayed in ").passed(&egress_text(&verdict.changed.words()));
    words.text(", unchanged in ").passed(&egress_text(&verdict.unchanged.words())).done()
}
