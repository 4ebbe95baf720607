//! `probity key`: the keys that seal checkpoints. None of them is ever shown.

use probity_core::KeyId;
use probity_egress::{Egress, Words, egress_text, egress_value};
use serde_json::json;

use crate::cli::Cli;
use crate::exit::{Code, Fatal};
use crate::render::Screen;
use crate::{keys, settings};

pub(crate) fn list(cli: &Cli, screen: &Screen) -> Result<Code, Fatal> {
    let dir = settings::data_dir(cli.data_dir.clone())?;
    let ids = keys::ring(&dir)?.map(|ring| ring.ids().cloned().collect::<Vec<_>>()).unwrap_or_default();
    if ids.is_empty() && !cli.json {
        screen.tell(&Egress::fixed("no key yet; the first run makes one"));
    }
    show(cli, &ids, screen);
    Ok(Code::Ok)
}

pub(crate) fn rotate(cli: &Cli, screen: &Screen) -> Result<Code, Fatal> {
    let dir = settings::data_dir(cli.data_dir.clone())?;
    show(cli, &keys::rotate(&dir)?, screen);
    Ok(Code::Ok)
}

fn show(cli: &Cli, ids: &[KeyId], screen: &Screen) {
    if cli.json {
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        return screen.json(&egress_value(&json!({ "sealing": ids.first(), "opening": ids })));
    }
    for (at, id) in ids.iter().enumerate() {
        let what = if at == 0 { "  seals and opens" } else { "  opens" };
        screen.out(&Words::new().passed(&egress_text(&id.to_string())).text(what).done());
    }
}
