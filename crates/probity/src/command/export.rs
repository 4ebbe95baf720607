//! `probity export`: a run, written out for other programs.

use std::collections::HashSet;

use probity_contract::{Body, Entry, Fact, ItemId, Kept, Part, PartId, ReplyPart, ReplyPartKind};
use probity_egress::{
    EgressValue, Human, Report, SamePrincipal, Tier, egress_json, egress_text, egress_value,
};
use probity_import::{ChatCall, ChatMessage, ChatRole};
use probity_trace::{Noted, Record};
use serde_json::{Value, json};

use crate::cli::{Cli, ExportArgs, ExportFormat, TierName};
use crate::command::runs::{find, open};
use crate::command::why::read;
use crate::exit::{Code, Fatal};
use crate::render::Screen;

pub(crate) async fn run(cli: &Cli, args: &ExportArgs, screen: &Screen) -> Result<Code, Fatal> {
    let store = open(cli, screen).await?;
    let (store, run) = find(store.as_ref(), &args.run).await?;
    let record = read(store, &run, screen).await?;
    match args.format {
        ExportFormat::Record if cli.json => {
            let mut all = Vec::new();
            lines(&record, args.tier, |line| all.push(line.as_value().clone()));
            screen.json(&egress_value(&json!({ "lines": all })));
        }
        ExportFormat::Record => lines(&record, args.tier, |line| screen.json_line(&line)),
        ExportFormat::Messages => {
            let messages = passed(&messages(&record), args.tier);
            if cli.json {
                screen.json(&egress_value(&json!({ "messages": messages })));
            } else {
                screen.json(&messages);
            }
        }
    }
    Ok(Code::Ok)
}

/// A value for whoever reads the export, and for the screen, which is the launching principal's.
fn passed(value: &impl serde::Serialize, tier: TierName) -> EgressValue<SamePrincipal> {
    match tier {
        TierName::SamePrincipal => egress_value(value),
        TierName::Human => egress_value(&egress_value::<Human>(value)),
    }
}

/// Each text and each fact as it stands in the record, texts before the facts that refer to them.
fn lines(record: &Record, tier: TierName, mut take: impl FnMut(EgressValue<SamePrincipal>)) {
    let mut told: HashSet<PartId> = HashSet::new();
    for line in record.lines() {
        for id in line.texts() {
            if let Some(kept) = record.part(*id).filter(|_| told.insert(*id)) {
                let kept = match tier {
                    TierName::SamePrincipal => passed_text::<SamePrincipal>(kept),
                    TierName::Human => passed_text::<Human>(kept),
                };
                take(egress_value(&json!({ "part": Part { id: *id, kept } })));
            }
        }
        let entry = match &line.fact {
            Noted::Known(fact) => {
                serde_json::to_value(Entry { seq: line.seq, at_ms: line.at_ms, fact: fact.clone() })
            }
            Noted::Opaque { json, .. } => serde_json::from_str(json),
        };
        take(passed(&json!({ "entry": entry.unwrap_or(Value::Null) }), tier));
    }
}

/// A text after the pass. What the pass has changed is not called full.
fn passed_text<T: Tier>(kept: &Kept) -> Kept {
    let pass = |text: &str| {
        let json = egress_json::<T>(text, &mut Report::new(), &mut |_| ());
        let json = json.filter(|_| text.trim_start().starts_with(['{', '[']));
        json.unwrap_or_else(|| egress_text::<T>(text)).as_str().to_owned()
    };
    match kept {
        Kept::Full(text) => {
            let passed = pass(text);
            if passed == **text { Kept::Full(passed.into()) } else { Kept::Redacted(passed.into()) }
        }
        Kept::Redacted(text) => Kept::Redacted(pass(text).into()),
        Kept::Length(length) => Kept::Length(*length),
    }
}

/// The conversation. An item in whose place another was put is left out.
fn messages(record: &Record) -> Vec<ChatMessage> {
    let replaced: HashSet<ItemId> = record
        .facts()
        .filter_map(|(_, fact)| if let Fact::ItemReplaced { item, .. } = fact { Some(*item) } else { None })
        .collect();
    record
        .items()
        .filter(|item| !replaced.contains(&item.item))
        .map(|item| message(record, item.item, item.body))
        .collect()
}

fn message(record: &Record, item: ItemId, body: &Body) -> ChatMessage {
    let text = |part: &PartId| record.part_text(*part).text;
    let mut message = ChatMessage {
        role: ChatRole::User,
        name: None,
        content: String::new(),
        reasoning: None,
        tool_calls: Vec::new(),
        tool_call_id: None,
        is_error: false,
        item: Some(item),
    };
    match body {
        Body::Instructions { text: part } | Body::Notice { text: part } => {
            message.role = ChatRole::System;
            message.content = text(part);
        }
        Body::Person { text: part } => message.content = text(part),
        Body::Context { name, text: part } => {
            message.name = Some(name.clone());
            message.content = text(part);
        }
        Body::ToolResult { provider_id, tool, text: part, is_error, .. } => {
            message.role = ChatRole::Tool;
            message.name = Some(tool.clone());
            message.content = text(part);
            message.tool_call_id = Some(provider_id.clone());
            message.is_error = *is_error;
        }
        Body::Reply { parts } => {
            message.role = ChatRole::Assistant;
            parts.iter().for_each(|part| reply_part(&mut message, &text(part)));
        }
    }
    message
}

fn reply_part(message: &mut ChatMessage, json: &str) {
    let Ok(ReplyPart { kind, .. }) = serde_json::from_str(json) else { return };
    match kind {
        ReplyPartKind::Text(text) => message.content.push_str(&text),
        ReplyPartKind::Reasoning(text) => message.reasoning.get_or_insert_default().push_str(&text),
        ReplyPartKind::Call(call) => message.tool_calls.push(ChatCall {
            id: call.provider_id,
            name: call.name,
            arguments: call.arguments,
        }),
        ReplyPartKind::Opaque => {}
    }
}
