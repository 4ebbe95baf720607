//! What the surroundings say: the one module that reads the environment.

use std::path::PathBuf;

use probity_contract::{PrincipalId, RunId};
use probity_models::{ApiKey, Provider};

use crate::exit::{Code, Fatal};

/// The directory of records: the given one, `PROBITY_DATA_DIR`, `$XDG_DATA_HOME/probity` or `~/.local/share/probity`.
pub(crate) fn data_dir(given: Option<PathBuf>) -> Result<PathBuf, Fatal> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    given
        .or_else(|| variable("PROBITY_DATA_DIR"))
        .or_else(|| variable("XDG_DATA_HOME").filter(|dir| dir.is_absolute()).map(|dir| dir.join("probity")))
        .or_else(|| variable("HOME").map(|home| home.join(".local/share/probity")))
        .ok_or_else(|| {
            Fatal::new(Code::Setup, "find a place for the records: neither HOME nor PROBITY_DATA_DIR is set")
                .hint("name a directory with --data-dir")
        })
}

/// The directory of the user's own rules and of the list of trusted folders: `PROBITY_CONFIG_DIR`, `$XDG_CONFIG_HOME/probity`
/// or `~/.config/probity`.
pub(crate) fn config_dir() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("PROBITY_CONFIG_DIR")
        .or_else(|| {
            variable("XDG_CONFIG_HOME").filter(|dir| dir.is_absolute()).map(|dir| dir.join("probity"))
        })
        .or_else(|| variable("HOME").map(|home| home.join(".config/probity")))
}

/// Where the organisation's rules lie on every machine, if it has any.
pub(crate) const ORGANISATION_RULES: &str = "/etc/probity/rules.toml";

/// One more file of the organisation's rules, which must be there: `PROBITY_ORGANISATION_RULES`. It takes nothing away.
pub(crate) fn organisation_rules_named() -> Option<PathBuf> {
    std::env::var_os("PROBITY_ORGANISATION_RULES").filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// What shall be logged, from `PROBITY_LOG`.
pub(crate) fn log_filter() -> Option<String> {
    std::env::var("PROBITY_LOG").ok().filter(|text| !text.is_empty())
}

/// Makes the redaction passes know every provider's key that is set, also where a command does not use it: a record or a
/// tool may quote it.
pub(crate) fn know_keys() {
    let providers = Provider::NAMES.iter().filter_map(|name| name.parse::<Provider>().ok());
    // What is no key is told by the command that wants to use it.
    providers.for_each(|provider| drop(ApiKey::read_environment(provider)));
}

/// The keys that seal checkpoints, from `PROBITY_KEY`.
pub(crate) fn sealing_keys() -> Option<String> {
    std::env::var("PROBITY_KEY").ok().filter(|text| !text.trim().is_empty())
}

/// Whoever launched the program, by the name of the account; `local` where it has none that can be used.
pub(crate) fn principal() -> Result<PrincipalId, Fatal> {
    let name = ["USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    match name.map(PrincipalId::new) {
        Some(Ok(name)) => Ok(name),
        Some(Err(_)) | None => PrincipalId::new("local").map_err(|error| Fatal::of(Code::Failed, &error)),
    }
}

/// A fresh run id that sorts by time: 10 characters of milliseconds and 8 of chance, in lower-case base 32.
pub(crate) fn fresh_run_id() -> Result<RunId, Fatal> {
    const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let uuid = uuid::Uuid::now_v7().as_u128();
    // Version 7: 48 bits of milliseconds first; the last 40 bits are all chance.
    let bits = (uuid >> 80) << 40 | (uuid & ((1 << 40) - 1));
    let digit = |at: u32| {
        let index = usize::try_from((bits >> (5 * at)) & 31).unwrap_or(0);
        ALPHABET.get(index).map_or('0', |byte| char::from(*byte))
    };
    // 88 bits are 18 digits of 5.
    let id: String = (0..18).rev().map(digit).collect();
    RunId::new(id).map_err(|error| Fatal::of(Code::Failed, &error))
}
