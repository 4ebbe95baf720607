//! `probity doctor`: says what is configured, and what can be reached.

use std::path::Path;
use std::time::Duration;

use probity_egress::{Egress, SamePrincipal, egress_text, egress_value};
use probity_models::{ApiKey, Provider};
use probity_store::{ListFilter, Store};
use serde::Serialize;

use crate::cli::{Cli, DoctorArgs};
use crate::exit::{Code, Fatal};
use crate::render::Screen;
use crate::settings;

/// How long a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

#[derive(Debug, Serialize)]
struct Finding {
    what: String,
    ok: bool,
    says: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

pub(crate) async fn run(cli: &Cli, args: &DoctorArgs, screen: &Screen) -> Result<Code, Fatal> {
    screen.busy("looking around");
    let mut findings = vec![records(&settings::data_dir(cli.data_dir.clone())?).await, sandbox()];
    for name in Provider::NAMES {
        if let Ok(provider) = name.parse::<Provider>() {
            findings.extend(inspect(provider, args.offline).await);
        }
    }
    // Records and the sandbox are what every run leans on; no provider is needed for a run from a rule file.
    let sound = findings.iter().take(2).all(|finding| finding.ok);
    if cli.json {
        screen.json(&egress_value(&serde_json::json!({ "ok": sound, "findings": findings })));
    } else {
        findings.iter().for_each(|finding| tell(finding, screen));
    }
    Ok(if sound { Code::Ok } else { Code::Setup })
}

fn tell(finding: &Finding, screen: &Screen) {
    let mark = if finding.ok { "✓" } else { "✗" };
    screen.out(&line(&format!("{mark} {:<14} {}", finding.what, finding.says)));
    if let Some(hint) = &finding.hint {
        screen.out(&line(&format!("  {:<14} hint: {hint}", "")));
    }
}

fn line(text: &str) -> Egress<SamePrincipal> {
    egress_text(text)
}

async fn records(dir: &Path) -> Finding {
    let what = "records".to_owned();
    let listed = async {
        let store = Store::open(dir).await?;
        store.list(ListFilter::default()).await
    };
    match listed.await {
        Ok(_) => Finding { what, ok: true, says: format!("written to {}", dir.display()), hint: None },
        Err(error) => {
            let says = probity_egress::egress_error::<SamePrincipal>(&error).as_str().to_owned();
            Finding { what, ok: false, says, hint: error.hint().map(str::to_owned) }
        }
    }
}

fn sandbox() -> Finding {
    let support = probity_tools::sandbox_support();
    let ok = support.is_complete();
    let hint = (!ok).then(|| "the tool `shell` will refuse to run; everything else works".to_owned());
    Finding { what: "shell sandbox".to_owned(), ok, says: support.to_string(), hint }
}

/// What is known of a provider; nothing of one that has no address of its own.
async fn inspect(provider: Provider, offline: bool) -> Option<Finding> {
    let url = provider.base_url()?;
    let what = provider.name().to_owned();
    let variables = provider.key_variables().join(" or ");
    let key = match ApiKey::read_environment(provider) {
        Err(error) => {
            return Some(Finding { what, ok: false, says: error.to_string(), hint: None });
        }
        Ok(key) => key,
    };
    if provider.needs_key() && key.is_none() {
        let says = "no key".to_owned();
        return Some(Finding {
            what,
            ok: false,
            says,
            hint: Some(format!("set {variables}, or use --key-file")),
        });
    }
    if offline {
        let says = "configured; not tried".to_owned();
        return Some(Finding { what, ok: true, says, hint: None });
    }
    Some(match reach(url).await {
        Ok(()) => Finding { what, ok: true, says: format!("{url} can be reached"), hint: None },
        Err(why) => {
            let hint = Some("check the network, or name another endpoint with --base-url".to_owned());
            Finding { what, ok: false, says: format!("{url} cannot be reached: {why}"), hint }
        }
    })
}

/// Opens a connection and closes it; nothing is sent.
async fn reach(url: &str) -> Result<(), String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or(rest);
    let address = match authority.rsplit_once(':') {
        Some(_) => authority.to_owned(),
        None if url.starts_with("http://") => format!("{authority}:80"),
        None => format!("{authority}:443"),
    };
    match tokio::time::timeout(CONNECT_TIMEOUT, tokio::net::TcpStream::connect(&address)).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("no answer within {} s", CONNECT_TIMEOUT.as_secs())),
    }
}
