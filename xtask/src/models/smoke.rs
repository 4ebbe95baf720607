//! Whether the installed model answers: it is started on loopback, made to call a tool, and given the result.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::Needle;
use crate::process;

const START_TIMEOUT: Duration = Duration::from_secs(60);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// The two turns of a conversation with a tool: a forced call with the right argument, and an answer that comes in
/// pieces and holds what the tool returned.
pub(super) fn check(needle: &Needle) -> Result<()> {
    let server = Server::start(needle)?;
    let question = json!({ "role": "user", "content": "Read the file notes/a.txt and tell me what it says" });
    let asked = server.ask(&json!([question]), "required")?;
    let call = asked.call.context("the model called no tool although it had to")?;
    let arguments: Value = serde_json::from_str(&call.arguments).context("read the arguments of the call")?;
    let path = arguments.get("path").and_then(Value::as_str).unwrap_or_default();
    if call.name != "fs_read" || !path.contains("notes/a.txt") {
        bail!(
            "the model called `{}` with {arguments}, not `fs_read` with the file that it was asked for",
            call.name
        );
    }
    let function = json!({ "name": call.name, "arguments": call.arguments });
    let answer = server.ask(
        &json!([
            question,
            { "role": "assistant", "content": null, "tool_calls": [{ "id": "call_1", "type": "function", "function": function }] },
            { "role": "tool", "tool_call_id": "call_1", "content": "the meeting is at five" },
        ]),
        "auto",
    )?;
    let text = answer.texts.concat();
    if answer.texts.len() < 2 || !text.contains("the meeting is at five") {
        bail!("the answer came in {} piece(s) and reads `{text}`", answer.texts.len());
    }
    eprintln!("forced call: {} with {arguments}; answer in {} pieces: {text}", call.name, answer.texts.len());
    Ok(())
}

/// A running server; dropping it ends the process.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(needle: &Needle) -> Result<Self> {
        let mut command = Command::new(&needle.python);
        command.args(needle.command().iter().skip(1)).arg("--exit-with-stdin");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("start `{}`", process::line(&command)))?;
        let (sender, receiver) = mpsc::channel();
        let stdout = child.stdout.take();
        std::thread::spawn(move || {
            let mut line = String::new();
            // Nobody listens any more when the wait below is over; an empty line is reported there.
            let _ = stdout.map(|stdout| BufReader::new(stdout).read_line(&mut line));
            let _ = sender.send(line);
        });
        let line = receiver.recv_timeout(START_TIMEOUT).unwrap_or_default();
        let address = line.trim().strip_prefix("listening ").unwrap_or_default().to_owned();
        let server = Self { child, address };
        if server.address.is_empty() {
            bail!("the model did not start: `{}` said `{}`", process::line(&command), line.trim());
        }
        Ok(server)
    }

    fn ask(&self, messages: &Value, tool_choice: &str) -> Result<Reply> {
        let body = json!({
            "model": "needle-3", "stream": true, "messages": messages, "tool_choice": tool_choice,
            "tools": [
                tool("fs_read", "Read a text file", "path"),
                tool("get_weather", "The weather in a city", "city"),
            ],
        })
        .to_string();
        let mut stream = TcpStream::connect(&self.address).context("connect to the model")?;
        stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        // HTTP/1.0: the server ends the body by closing the connection, so there is no framing to undo.
        write!(stream, "POST /v1/chat/completions HTTP/1.0\r\nContent-Length: {}\r\n\r\n{body}", body.len())?;
        let mut text = String::new();
        stream.read_to_string(&mut text).context("read the answer of the model")?;
        Reply::parse(&text)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        process::stop(&mut self.child);
    }
}

fn tool(name: &str, description: &str, argument: &str) -> Value {
    let parameters = json!({
        "type": "object", "properties": { argument: { "type": "string" } }, "required": [argument],
    });
    let function = json!({ "name": name, "description": description, "parameters": parameters });
    json!({ "type": "function", "function": function })
}

/// What a streamed answer adds up to.
#[derive(Debug, Default)]
struct Reply {
    texts: Vec<String>,
    call: Option<Call>,
}

#[derive(Debug)]
struct Call {
    name: String,
    arguments: String,
}

impl Reply {
    fn parse(text: &str) -> Result<Self> {
        let (head, body) = text.split_once("\r\n\r\n").context("the model sent no HTTP answer")?;
        if !head.lines().next().is_some_and(|status| status.contains(" 200 ")) {
            bail!("the model answered {head}\n{body}");
        }
        let events: Vec<&str> = body.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
        let Some(("[DONE]", events)) = events.split_last().map(|(last, rest)| (*last, rest)) else {
            bail!("the stream was cut before its end");
        };
        let mut reply = Self::default();
        for event in events {
            let event: Value = serde_json::from_str(event).context("read an event of the stream")?;
            if let Some(delta) = event.pointer("/choices/0/delta") {
                reply.add(delta);
            }
        }
        Ok(reply)
    }

    fn add(&mut self, delta: &Value) {
        let text_at = |pointer| delta.pointer(pointer).and_then(Value::as_str);
        self.texts.extend(text_at("/content").filter(|text| !text.is_empty()).map(str::to_owned));
        if let Some(name) = text_at("/tool_calls/0/function/name") {
            self.call.get_or_insert(Call { name: name.to_owned(), arguments: String::new() });
        }
        if let (Some(call), Some(arguments)) = (&mut self.call, text_at("/tool_calls/0/function/arguments")) {
            call.arguments.push_str(arguments);
        }
    }
}
