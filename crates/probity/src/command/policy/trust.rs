//! `probity policy trust`: lets the rules of a folder allow calls.

use probity_core::{Mode, RuleLayer, RuleSource};
use probity_egress::{egress_text, egress_value};
use serde_json::json;

use crate::cli::{Cli, PolicyTrustArgs};
use crate::exit::{Code, Fatal};
use crate::policies::trust::{TrustList, rules_of};
use crate::policies::{files, layered};
use crate::render::Screen;

pub(crate) fn trust(cli: &Cli, args: &PolicyTrustArgs, screen: &Screen) -> Result<Code, Fatal> {
    let mut list = TrustList::load()?;
    let folder = &args.folder;
    let shown = folder.display();
    if args.remove {
        let had = list.remove(folder)?;
        match cli.json {
            true => {
                screen.json(&egress_value(&json!({ "folder": folder, "trusted": false, "was_trusted": had })))
            }
            false if had => {
                screen.out(&egress_text(&format!("{shown}: what its rules allow counts no more")))
            }
            false => screen.out(&egress_text(&format!("{shown} was not trusted"))),
        }
        return Ok(Code::Ok);
    }
    let path = files::in_folder(folder);
    let text =
        rules_of(folder).map_err(|fatal| fatal.hint("the rules of a folder lie in .probity/rules.toml"))?;
    let said = path.display().to_string();
    // What cannot be used is not to be trusted, and a person should see what they trust.
    let file = files::parse(&text, &said)?;
    let layer = RuleLayer { source: RuleSource::Project, file_name: said.clone(), file, may_widen: true };
    layered("rules", std::slice::from_ref(&layer), &[], Mode::UNSTATED)?;
    list.add(folder, &text)?;
    let allowed: Vec<&str> = layer.file.allow.iter().map(|entry| entry.rule.as_str()).collect();
    if cli.json {
        screen.json(&egress_value(&json!({ "folder": folder, "trusted": true, "allow": allowed })));
        return Ok(Code::Ok);
    }
    screen.out(&egress_text(&format!("{said} is trusted as it is now; it allows:")));
    allowed.iter().for_each(|rule| screen.out(&egress_text(&format!("  {rule}"))));
    if allowed.is_empty() {
        screen.out(&egress_text("  nothing"));
    }
    Ok(Code::Ok)
}
