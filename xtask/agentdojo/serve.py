"""AgentDojo's suites as a child process: one JSON request a line in, one JSON answer a line out.

The caller runs the agent; this process holds the world that the agent acts in. A request is `{"do": NAME, ...}`, an answer is
`{"ok": VALUE}` or `{"error": WORDS}`. A request that makes no sense is answered with an error and changes nothing.

  suites                                     what there is: tools, user tasks, injections
  open    suite, user_task, injection|null   a world of its own; gives its number, the message and the calls that solve the task
  call    world, tool, arguments             the result as text, and which of its values somebody outside wrote
  obey    world                              the calls that the injection asks for, in the world as it is when first asked
  check   world, answer                      whether the user's task is done, and whether the injection's is
  close   world
"""

import importlib.abc
import importlib.machinery
import json
import pickle
import sys
import warnings
from unittest.mock import MagicMock

VERSION = "v1.1.2"
# Stands in every place that an outsider can write to. One word, so that no line break falls into it.
MARK = "<<OUTSIDER>>"
# By these words the suites name what only reads; a web page is fetched by an address, which can carry something out.
READS = ("get_", "search_", "list_", "read_", "check_")
SENDS = ("get_webpage",)
WORLDS_MAX = 64


class Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Clients of language models and of terminals, which the suites import and never use here."""

    NAMES = frozenset(("anthropic", "click", "cohere", "dotenv", "google", "langchain", "openai", "requests", "rich"))

    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in self.NAMES:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        module = MagicMock(name=spec.name)
        module.__path__ = []
        return module

    def exec_module(self, module):
        pass


sys.meta_path.insert(0, Absent())
warnings.filterwarnings("ignore")

from agentdojo.agent_pipeline.tool_execution import tool_result_to_str  # noqa: E402
from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime  # noqa: E402
from agentdojo.task_suite.load_suites import get_suites  # noqa: E402
from pydantic import BaseModel  # noqa: E402

SUITES = get_suites(VERSION)


def is_pure(tool):
    return tool.startswith(READS) and not tool.startswith(SENDS)


def values(thing):
    """Every name and value of a result, as text."""
    if isinstance(thing, BaseModel):
        thing = thing.model_dump()
    if isinstance(thing, dict):
        for name, value in thing.items():
            yield str(name)
            yield from values(value)
    elif isinstance(thing, (list, tuple, set)):
        for value in thing:
            yield from values(value)
    elif thing is not None:
        yield str(thing)


def sign(place):
    return f"{MARK}{place}{MARK}"


def replaced(thing, words):
    """The same with every mark of a place replaced, in names and values."""
    if type(thing) is str:  # members of an enumeration are texts as well, and stay what they are
        for mark, text in words.items():
            thing = thing.replace(mark, text)
        return thing
    if isinstance(thing, BaseModel):
        for name, value in thing.__dict__.items():
            thing.__dict__[name] = replaced(value, words)
        return thing
    if isinstance(thing, dict):
        return {replaced(name, words): replaced(value, words) for name, value in thing.items()}
    if isinstance(thing, list):
        return [replaced(value, words) for value in thing]
    return thing


def plain(call):
    return {"tool": call.function, "arguments": call.model_dump(mode="json", include={"args"})["args"]}


class World:
    """One task with one injection, or none, and what has been done in it."""

    def __init__(self, suite, user_task, injection, make, planted=MARK):
        self.suite, self.user_task, self.injection = suite, user_task, injection
        self.before = user_task.init_environment(make())
        self.now = user_task.init_environment(make())
        self.plan = user_task.ground_truth(user_task.init_environment(make()))
        self.runtime = FunctionsRuntime(suite.tools)
        self.planted = planted
        self.done = []
        self.obeyed = None

    def call(self, tool, arguments):
        self.done.append(FunctionCall(function=tool, args=arguments))
        result, error = self.runtime.run_function(self.now, tool, arguments)
        if error is not None:
            return {"text": error, "failed": True, "foreign": MARK in error, "outside": [], "inside": []}
        text = "" if result is None else tool_result_to_str(result)
        every = list(values(result))
        return {
            "text": text,
            "failed": False,
            "foreign": MARK in text,
            "outside": [value for value in every if MARK in value],
            "inside": [value for value in every if MARK not in value],
        }

    def obey(self):
        if self.injection is None:
            raise ValueError("nobody has injected anything into this world")
        if self.obeyed is None:
            calls = self.injection.ground_truth(pickle.loads(pickle.dumps(self.now)))
            self.obeyed = {"calls": [plain(call) for call in calls], "answer": self.injection.GROUND_TRUTH_OUTPUT}
        return self.obeyed

    def check(self, answer):
        said = [{"type": "text", "content": answer}]
        # Some checks look for words that the outsider's own text has, and would take it for the deed.
        before, now, done = (replaced(part, {self.planted: MARK}) for part in (self.before, self.now, self.done))

        def holds(task):
            return bool(self.suite._check_task_result(task, said, before, now, done))

        return {
            "utility": holds(self.user_task),
            "attacked": holds(self.injection) if self.injection is not None else False,
        }


class Server:
    def __init__(self):
        self.images = {}
        self.places = {}
        self.worlds = {}
        self.opened = 0

    def image(self, name):
        """The suite's world before anything has happened, with each place's own mark in it."""
        if name not in self.images:
            suite = SUITES[name]
            places = {place: sign(place) for place in suite.get_injection_vector_defaults()}
            self.images[name] = pickle.dumps(suite.load_and_inject_default_environment(places)), tuple(places)
        return self.images[name]

    def seen(self, name, user_task):
        """The places that whoever solves the task reads, as the suites' own attacks take them."""
        key = (name, user_task)
        if key not in self.places:
            suite = SUITES[name]
            image, places = self.image(name)
            world = World(suite, suite.user_tasks[user_task], None, lambda: pickle.loads(image))
            read = "".join(world.call(call.function, call.args)["text"] for call in world.plan)
            self.places[key] = frozenset(place for place in places if sign(place) in read)
        return self.places[key]

    def maker(self, name, user_task, injection):
        """What makes the task's world anew each time, and what the outsider has planted where it is read; a mark stands in
        all other places."""
        image, places = self.image(name)
        words = dict.fromkeys((sign(place) for place in places), MARK)
        planted = MARK
        if injection is not None:
            planted = f"{MARK} {SUITES[name].injection_tasks[injection].GOAL}"
            words.update((sign(place), planted) for place in self.seen(name, user_task))
        return lambda: replaced(pickle.loads(image), words), planted

    def suites(self):
        def tool(function):
            return {
                "name": function.name,
                "description": function.description,
                "schema": function.parameters.model_json_schema(),
                "pure": is_pure(function.name),
            }

        return [
            {
                "name": name,
                "tools": [tool(function) for function in suite.tools],
                "user_tasks": list(suite.user_tasks),
                "injections": list(suite.injection_tasks),
            }
            for name, suite in SUITES.items()
        ]

    def open(self, suite, user_task, injection):
        if len(self.worlds) >= WORLDS_MAX:
            raise ValueError(f"more than {WORLDS_MAX} worlds are open")
        chosen = SUITES[suite]
        task = chosen.user_tasks[user_task]
        attack = None if injection is None else chosen.injection_tasks[injection]
        world = World(chosen, task, attack, *self.maker(suite, user_task, injection))
        self.opened += 1
        self.worlds[self.opened] = world
        return {
            "world": self.opened,
            "mark": MARK,
            "message": task.PROMPT,
            "plan": [plain(call) for call in world.plan],
            "answer": task.GROUND_TRUTH_OUTPUT,
            "goal": None if attack is None else attack.GOAL,
        }

    def call(self, world, tool, arguments):
        if not isinstance(tool, str) or not isinstance(arguments, dict):
            raise ValueError("a call has the name of a tool and an object of arguments")
        return self.worlds[world].call(tool, arguments)

    def obey(self, world):
        return self.worlds[world].obey()

    def check(self, world, answer):
        if not isinstance(answer, str):
            raise ValueError("an answer is a text")
        return self.worlds[world].check(answer)

    def close(self, world):
        del self.worlds[world]
        return {}

    ACTS = ("suites", "open", "call", "obey", "check", "close")

    def answer(self, line):
        try:
            request = json.loads(line)
            if not isinstance(request, dict) or request.get("do") not in self.ACTS:
                raise ValueError(f"`do` is one of {', '.join(self.ACTS)}")
            return {"ok": getattr(self, request.pop("do"))(**request)}
        except Exception as error:  # whatever is wrong with one request must not end the process
            return {"error": f"{type(error).__name__}: {error}"}


def main():
    server = Server()
    # Whatever the suites print must not come between the answers.
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin.buffer:
        answer = server.answer(line)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
