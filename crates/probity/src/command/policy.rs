//! `probity policy`: checks a task's policies and asks them about calls. Nothing is run.

mod cases;
mod trust;

use std::fs::File;
use std::io::{Read, stdin};
use std::path::Path;
use std::sync::Arc;

use probity_contract::limits::ARGS_BYTES_MAX;
use probity_contract::{Arguments, Cancel, Label, Policy, Readers, RunId, Tool, ToolSpec};
use probity_core::{Inquiry, Mode, RuleFile, RuleLayer, RuleSource};
use probity_egress::{Egress, Words, egress_text, egress_value};
use serde_json::{Value, json};

use crate::cli::{Cli, PolicyCheckArgs, PolicyExplainArgs};
use crate::exit::{Code, Fatal};
use crate::policies::{Policies, files, schema_text, shadow_notes};
use crate::render::{Explanation, Screen};
use crate::task_file::{TaskFile, read_text};
use crate::wire;

pub(crate) use cases::test;
pub(crate) use trust::trust;

const CALL_HINT: &str = r#"write the call as {"tool": "fs_read", "arguments": {"path": "plan.md"}}"#;

pub(crate) fn check(cli: &Cli, args: &PolicyCheckArgs, screen: &Screen) -> Result<Code, Fatal> {
    if args.schema {
        // It is what one needs in order to write or mend the Cedar policies, so they may be missing or wrong.
        let mut file = TaskFile::load_without_cedar(&args.task)?;
        let text = schema_text(&specs(&tools(&mut file)?))?;
        match cli.json {
            true => screen.json(&egress_value(&json!({ "schema": text }))),
            false => screen.out(&egress_text(text.trim_end())),
        }
        return Ok(Code::Ok);
    }
    let (file, policies) = match rules_alone(&args.task)? {
        Some(layer) => (TaskFile::default(), Policies::alone(layer, Mode::UNSTATED)?),
        None => {
            let mut file = TaskFile::load(&args.task)?;
            let tools = tools(&mut file)?;
            let policies = Policies::of(&file, &specs(&tools), false)?;
            (file, policies)
        }
    };
    match cli.json {
        true => {
            let value = json!({ "policies": described(&file, &policies), "notices": policies.notices });
            screen.json(&egress_value(&value));
        }
        false => {
            lines(&file, &policies).iter().for_each(|line| screen.out(line));
            policies.notices.iter().for_each(|notice| screen.out(&egress_text(&format!("note: {notice}"))));
        }
    }
    Ok(Code::Ok)
}

/// The file as a layer of rules, where it is one: nothing stands in it that only a task has.
fn rules_alone(path: &Path) -> Result<Option<RuleLayer>, Fatal> {
    let said = path.display().to_string();
    let text = read_text(path, files::RULE_FILE_BYTES_MAX)?;
    // What is no TOML at all is told by whoever reads a task file.
    let Ok(table) = text.parse::<toml::Table>() else { return Ok(None) };
    if !table.keys().all(|key| matches!(key.as_str(), "mode" | "allow" | "ask" | "deny")) {
        return Ok(None);
    }
    let layer = |file| RuleLayer { source: RuleSource::User, file_name: said.clone(), file, may_widen: true };
    files::read(path, &said).map(|file| Some(layer(file)))
}

pub(crate) async fn explain(cli: &Cli, args: &PolicyExplainArgs, screen: &Screen) -> Result<Code, Fatal> {
    let mut file = TaskFile::load(&args.task)?;
    let tools = tools(&mut file)?;
    let policies = Policies::of(&file, &specs(&tools), args.on_terminal)?;
    tell(&policies, screen);
    let policies = policies.into_list(&shadow_notes());
    let (tool, arguments) = read_call(&args.call)?;
    let items = wire::first_items(&file);
    let read = if args.trusted { Label::person() } else { Label::untrusted() };
    let readers = items.iter().fold(Readers::Everyone, |all, item| all.join(&item.label.readers));
    let label = Label { readers, ..read };
    let inquiry = Inquiry {
        run: RunId::new("explained").map_err(|error| Fatal::of(Code::Failed, &error))?,
        principal: wire::principal(&file)?,
        label,
        items,
        tools,
        policies,
        judge_timeout_ms: file.limits.judge_timeout_ms,
        cancel: Cancel::new(),
    };
    let heard = inquiry.hear(&tool, &arguments).await.map_err(|error| Fatal::of(Code::Usage, &error))?;
    let explanation = Explanation::of(&heard).map_err(|words| {
        let words = Words::new().text("explain the call: ").passed(words).done();
        Fatal { code: Code::Usage, words, hint: Some(egress_text(CALL_HINT)) }
    })?;
    match cli.json {
        true => screen.json(&explanation.json()),
        false => explanation.lines().iter().for_each(|line| screen.out(line)),
    }
    Ok(if explanation.denial().is_some() { Code::Failed } else { Code::Ok })
}

fn tools(file: &mut TaskFile) -> Result<Vec<Arc<dyn Tool>>, Fatal> {
    file.default_tools();
    wire::tools(&file.tools)
}

/// Tells what a person should know of the policies, beside what the command prints.
fn tell(policies: &Policies, screen: &Screen) {
    policies.notices.iter().for_each(|notice| screen.tell(&egress_text(&format!("note: {notice}"))));
}

fn specs(tools: &[Arc<dyn Tool>]) -> Vec<ToolSpec> {
    tools.iter().map(|tool| tool.spec().clone()).collect()
}

fn described(file: &TaskFile, policies: &Policies) -> Vec<Value> {
    let rules = policies.rules.as_ref().map(|rules| {
        let (allow, ask, deny) = counts(&policies.layers);
        let layer = |layer: &RuleLayer| {
            let (allow, ask, deny) = counts(std::slice::from_ref(layer));
            json!({
                "source": source(layer), "file": layer.file_name, "mode": layer.file.mode, "trusted": layer.may_widen,
                "allow": allow, "ask": ask, "deny": deny,
            })
        };
        let layers: Vec<Value> = policies.layers.iter().map(layer).collect();
        json!({
            "name": rules.name(), "epoch": rules.epoch(), "mode": rules.mode(), "layers": layers,
            "allow": allow, "ask": ask, "deny": deny,
        })
    });
    let cedar = policies.cedar.as_ref().map(|cedar| {
        let files: Vec<&str> = file.policy.cedar_files.iter().map(|file| file.source.name.as_str()).collect();
        json!({
            "name": cedar.name(), "epoch": cedar.epoch(), "policies": cedar.policy_count(), "files": files,
        })
    });
    let readers =
        policies.readers.as_ref().map(|policy| json!({ "name": policy.name(), "epoch": policy.epoch() }));
    rules.into_iter().chain(cedar).chain(readers).collect()
}

fn lines(file: &TaskFile, policies: &Policies) -> Vec<Egress<probity_egress::SamePrincipal>> {
    let line = |policy: &dyn Policy, counts: String| {
        egress_text(&format!("{}: {counts} (epoch {})", policy.name(), policy.epoch().short()))
    };
    let rules = policies.rules.iter().flat_map(|rules| {
        let (allow, ask, deny) = counts(&policies.layers);
        let whole = line(rules, format!("{allow} allow, {ask} ask, {deny} deny, mode {}", rules.mode()));
        // Where the task's own lists or one file are all, there is no more to say.
        let (one, is_file) = (policies.layers.len() < 2, file.policy.folder.is_none());
        let is_own = policies.layers.iter().all(|layer| layer.source == RuleSource::Task);
        let layers = if one && (is_file || is_own) { &[] } else { policies.layers.as_slice() };
        std::iter::once(whole).chain(layers.iter().map(|layer| {
            let (allow, ask, deny) = counts(std::slice::from_ref(layer));
            let trust = if layer.may_widen { "" } else { " (not trusted: it only asks and denies)" };
            let mode = match layer.file.mode {
                Mode::UNSTATED => String::new(),
                mode => format!(", mode {mode}"),
            };
            let (of, name) = (layer.source, &layer.file_name);
            egress_text(&format!("  the {of} {name}: {allow} allow, {ask} ask, {deny} deny{mode}{trust}"))
        }))
    });
    let cedar = policies.cedar.as_ref().map(|cedar| {
        let (count, files) = (cedar.policy_count(), file.policy.cedar_files.len());
        let (policies, names) =
            (if count == 1 { "policy" } else { "policies" }, if files == 1 { "file" } else { "files" });
        line(cedar, format!("{count} {policies} in {files} {names}"))
    });
    let readers = policies
        .readers
        .as_ref()
        .map(|readers| line(readers, "what only some may read goes to nobody else".to_owned()));
    let mut lines: Vec<_> = rules.chain(cedar).chain(readers).collect();
    if lines.is_empty() {
        lines.push(Egress::fixed("no policy: no tool runs, unless a person on a terminal approves the call"));
    }
    lines
}

/// How many rules allow, ask and deny.
fn counts(layers: &[RuleLayer]) -> (usize, usize, usize) {
    let count = |list: fn(&RuleFile) -> usize| layers.iter().map(|layer| list(&layer.file)).sum();
    (count(|file| file.allow.len()), count(|file| file.ask.len()), count(|file| file.deny.len()))
}

/// Who wrote a layer, in one word.
const fn source(layer: &RuleLayer) -> &'static str {
    match layer.source {
        RuleSource::Organisation => "organisation",
        RuleSource::User => "user",
        RuleSource::Project => "project",
        RuleSource::Task => "task",
    }
}

/// The tool's name and the arguments, as a model would write them.
fn read_call(given: &str) -> Result<(String, String), Fatal> {
    let text = match (given, given.strip_prefix('@')) {
        ("-", _) => read_bounded(stdin(), "standard input")?,
        (_, Some(path)) => {
            let file = File::open(path);
            let file = file.map_err(|error| wrong(&format!("read `{path}`: {error}")))?;
            read_bounded(file, &format!("`{path}`"))?
        }
        (text, None) => text.to_owned(),
    };
    // As strict as arguments are, so that nothing is lost or doubled before these are read.
    let call = Arguments::parse(&text).map_err(|error| wrong(&format!("read the call: {error}")))?.to_value();
    let members = call.as_object().map(|call| call.iter().collect::<Vec<_>>());
    match members.as_deref() {
        Some([(a, arguments), (t, Value::String(tool))]) if *a == "arguments" && *t == "tool" => {
            Ok((tool.clone(), arguments.to_string()))
        }
        _ => Err(wrong("read the call: it needs the members `tool`, a name, and `arguments`, and no others")),
    }
}

fn read_bounded(from: impl Read, said: &str) -> Result<String, Fatal> {
    let mut text = String::new();
    // One byte more than is accepted, so that what is too long is refused and not cut.
    let bytes_max = u64::try_from(ARGS_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
    let read = from.take(bytes_max).read_to_string(&mut text);
    read.map_err(|error| wrong(&format!("read {said}: {error}")))?;
    Ok(text)
}

fn wrong(words: &str) -> Fatal {
    Fatal::new(Code::Usage, words).hint(CALL_HINT)
}
