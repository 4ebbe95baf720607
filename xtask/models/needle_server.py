#!/usr/bin/env python3
"""Serves the Needle 3 tool-calling model as an OpenAI-compatible endpoint on loopback, for tests.

    needle_server.py --model-dir DIR [--port N] [--exit-with-stdin]

DIR holds `libneedle3.so` and `needle3.cact`. With port 0 (the default) the system chooses; the first line on
standard output is always `listening 127.0.0.1:PORT`. Only the shared library of the wheel is loaded, none of
its Python code.

The model decides which tool to call and with which arguments. It writes no prose, so once it has nothing
more to call, the answer is put together here from what the tools returned.
"""

import argparse
import ctypes
import itertools
import json
import os
import pathlib
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODEL = "needle-3"
NEW_TOKENS_MAX = 256
REPLY_BYTES_MAX = 64 * 1024
REQUEST_BYTES_MAX = 4 * 1024 * 1024
SOCKET_TIMEOUT_S = 60
CHUNK_CHARS = 12
CHUNK_PAUSE_S = 0.01


class BadRequest(Exception):
    """The request cannot be served as it stands; its text goes to the client."""


class Engine:
    """The shared library. It keeps one conversation per process, hence the lock."""

    def __init__(self, model_dir):
        os.environ.update(NEEDLE_TELEMETRY="0", DO_NOT_TRACK="1")
        self.library = ctypes.CDLL(str(model_dir / "libneedle3.so"))
        self.library.needle_load.argtypes = [ctypes.c_char_p, ctypes.c_uint64]
        self.library.needle_init.argtypes = [ctypes.c_char_p] * 3
        self.library.needle_complete.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_int]
        # The engine reads from this buffer for as long as it lives.
        self.weights = (model_dir / "needle3.cact").read_bytes()
        if self.library.needle_load(self.weights, len(self.weights)) < 0:
            raise SystemExit("the engine refused the weights")
        self.lock = threading.Lock()
        self.reply = ctypes.create_string_buffer(REPLY_BYTES_MAX)

    def last_reply(self, system, tools, turns):
        """Plays `turns` from the start and returns what the model says to the last of them."""
        with self.lock:
            if self.library.needle_init(system.encode(), json.dumps(tools).encode(), None) < 0:
                raise BadRequest("the engine refused the tool definitions")
            self.library.needle_reset()
            for turn in turns:
                if self.library.needle_complete(turn.encode(), NEW_TOKENS_MAX, self.reply, REPLY_BYTES_MAX) < 0:
                    raise BadRequest("the engine refused the conversation")
            return json.loads(self.reply.value)


class Conversation:
    """What the messages of one request mean to the engine."""

    def __init__(self, messages):
        self.system, self.turns, self.results, self.calls_made = "", [], [], []
        for role, group in itertools.groupby(messages, key=lambda message: message.get("role")):
            self.add(role, list(group))
        if not self.turns:
            raise BadRequest("`messages` has no user message")

    def add(self, role, messages):
        texts = [text_of(message) for message in messages]
        if role in ("system", "developer"):
            self.system = " ".join(filter(None, [self.system, *texts]))
        elif role == "user":
            self.turns.append("\n".join(texts))
            self.results, self.calls_made = [], []
        elif role == "tool":
            self.turns.append("\n".join(texts))
            self.results += texts
        elif role == "assistant":
            made = (call["function"] for message in messages for call in message.get("tool_calls") or [])
            self.calls_made += [(function["name"], json.loads(function["arguments"])) for function in made]
        else:
            raise BadRequest(f"unknown role `{role}`")

    def answer(self):
        if not self.results:
            return "None of the tools at hand fits this request, so no tool was called."
        return "The tools returned: " + "; ".join(self.results)


def text_of(message):
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def offered_tools(request):
    """The tools the model may choose from, and whether it must choose one."""
    tools = [tool["function"] for tool in request.get("tools") or []]
    choice = request.get("tool_choice", "auto")
    if choice == "none":
        return [], False
    if isinstance(choice, dict):
        name = choice["function"]["name"]
        tools = [tool for tool in tools if tool["name"] == name]
        if not tools:
            raise BadRequest(f"`tool_choice` names `{name}`, which is not among `tools`")
        return tools, True
    return tools, choice == "required" and bool(tools)


def choose_calls(engine, conversation, tools, must_call):
    """New calls only: the model likes to repeat a call it has already had the result of."""
    if not tools:
        return []
    reply = engine.last_reply(conversation.system, tools, conversation.turns)
    calls = reply.get("function_calls") or []
    if must_call and not calls:
        # Calls the engine was not sure enough about to make unasked.
        calls = (reply.get("suppressed_calls") or [])[:1]
    return [call for call in calls if (call["name"], call["arguments"]) not in conversation.calls_made]


def complete(engine, request):
    """The assistant message for `request`, and why it stops."""
    if not isinstance(request.get("messages"), list):
        raise BadRequest("`messages` is missing or not a list")
    try:
        conversation = Conversation(request["messages"])
        tools, must_call = offered_tools(request)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadRequest(f"malformed request: {error!r}") from error
    calls = choose_calls(engine, conversation, tools, must_call)
    if not calls:
        return {"role": "assistant", "content": conversation.answer()}, "stop"
    stamp = time.time_ns()
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": f"call_{stamp}_{index}",
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
            }
            for index, call in enumerate(calls)
        ],
    }, "tool_calls"


def pieces(text):
    return [text[start : start + CHUNK_CHARS] for start in range(0, len(text), CHUNK_CHARS)]


def deltas(message):
    """`message` cut into the steps in which a provider would send it."""
    yield {"role": "assistant", "content": "" if message["content"] else None}
    for piece in pieces(message["content"] or ""):
        yield {"content": piece}
    for index, call in enumerate(message.get("tool_calls", [])):
        head = {**call, "index": index, "function": {"name": call["function"]["name"], "arguments": ""}}
        yield {"tool_calls": [head]}
        for piece in pieces(call["function"]["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def usage_of(request, message):
    """The engine reports no token counts: four characters are taken as one token."""
    asked, said = len(json.dumps(request["messages"])) // 4, len(json.dumps(message)) // 4
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


class Handler(BaseHTTPRequestHandler):
    timeout = SOCKET_TIMEOUT_S
    engine = None

    def log_message(self, *_):
        """Quiet: standard output carries the address only."""

    def do_GET(self):
        if self.path.rstrip("/") != "/v1/models":
            return self.send_error_json(404, f"no such resource `{self.path}`")
        self.send_json(200, {"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "local"}]})

    def do_POST(self):
        if self.path.rstrip("/") != "/v1/chat/completions":
            return self.send_error_json(404, f"no such resource `{self.path}`")
        try:
            request = self.read_request()
            message, finish_reason = complete(self.engine, request)
        except BadRequest as error:
            return self.send_error_json(400, str(error))
        head = {"id": f"chatcmpl-{time.time_ns()}", "created": int(time.time()), "model": MODEL}
        usage = usage_of(request, message)
        if request.get("stream"):
            wants_usage = (request.get("stream_options") or {}).get("include_usage")
            return self.send_stream(head, message, finish_reason, usage if wants_usage else None)
        choice = {"index": 0, "message": message, "finish_reason": finish_reason}
        self.send_json(200, {**head, "object": "chat.completion", "choices": [choice], "usage": usage})

    def read_request(self):
        try:
            length = int(self.headers.get("content-length", ""))
        except ValueError:
            raise BadRequest("`content-length` is missing or not a number") from None
        if not 0 < length <= REQUEST_BYTES_MAX:
            raise BadRequest(f"the body must have 1 to {REQUEST_BYTES_MAX} bytes")
        try:
            request = json.loads(self.rfile.read(length))
        except ValueError as error:
            raise BadRequest(f"the body is not JSON: {error}") from error
        if not isinstance(request, dict):
            raise BadRequest("the body is not a JSON object")
        return request

    def send_stream(self, head, message, finish_reason, usage):
        # No length and no chunking: HTTP/1.0 ends the body by closing the connection.
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        event = {**head, "object": "chat.completion.chunk"}
        for delta in deltas(message):
            self.send_event({**event, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
            time.sleep(CHUNK_PAUSE_S)
        self.send_event({**event, "choices": [{"index": 0, "delta": {}, "finish_reason": finish_reason}]})
        if usage:
            self.send_event({**event, "choices": [], "usage": usage})
        self.wfile.write(b"data: [DONE]\n\n")

    def send_event(self, event):
        self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
        self.wfile.flush()

    def send_error_json(self, status, text):
        self.send_json(status, {"error": {"message": text, "type": "invalid_request_error"}})

    def send_json(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client that hangs up in the middle of a stream is no event; anything else is."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def exit_when_stdin_closes():
    sys.stdin.buffer.read()
    os._exit(0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model-dir", type=pathlib.Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--exit-with-stdin", action="store_true", help="stop when standard input is closed")
    options = parser.parse_args()
    Handler.engine = Engine(options.model_dir)
    server = Server(("127.0.0.1", options.port), Handler)
    print(f"listening 127.0.0.1:{server.server_port}", flush=True)
    if options.exit_with_stdin:
        threading.Thread(target=exit_when_stdin_closes, daemon=True).start()
    server.serve_forever()


if __name__ == "__main__":
    main()
