//! `probity diff`: where two runs first differ, and what differs then.

use probity_egress::{Human, SamePrincipal, egress_value};
use probity_why::TwoRuns;

use crate::cli::{Cli, DiffArgs, TierName};
use crate::command::runs::{find, open};
use crate::command::why::{read, write_page};
use crate::exit::{Code, Fatal};
use crate::html::two_page;
use crate::render::{Screen, two_lines};
use crate::why::ShownTwo;

pub(crate) async fn run(cli: &Cli, args: &DiffArgs, screen: &Screen) -> Result<Code, Fatal> {
    let store = open(cli, screen).await?;
    let (store_a, a) = find(store.as_ref(), &args.a).await?;
    let (store_b, b) = find(store.as_ref(), &args.b).await?;
    let (a, b) = (read(store_a, &a, screen).await?, read(store_b, &b, screen).await?);
    let two = TwoRuns::of(&a, &b);
    write_page(&args.page, || match args.page.tier {
        TierName::SamePrincipal => two_page(&ShownTwo::<SamePrincipal>::of([&a, &b], &two)),
        TierName::Human => two_page(&ShownTwo::<Human>::of([&a, &b], &two)),
    })?;
    let shown = ShownTwo::<SamePrincipal>::of([&a, &b], &two);
    if cli.json {
        screen.json(&egress_value(&shown));
    } else {
        two_lines(&shown).iter().for_each(|line| screen.out(line));
    }
    Ok(if two.is_equal() { Code::Ok } else { Code::Failed })
}
