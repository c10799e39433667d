"""The messages that verification renders: every part, every pair, every kind of value, hard texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from autoparser_gen.analysis.model import Analysis
from autoparser_gen.probe import needles

FIRST, SECOND, THIRD = needles.FUNCTIONS

VALUES: Mapping[str, Any] = {
    "string": "two words",
    "empty string": "",
    "integer": -42,
    "float": 2.5,
    "true": True,
    "false": False,
    "null": None,
    "array": [1, "two", None],
    "empty array": [],
    "object": {"inner": "text", "number": 7},
    "empty object": {},
    "nested": {"list": [{"deep": [True, {"deeper": "x"}]}], "also": {"a": {"b": []}}},
}

HARD_STRINGS: Mapping[str, str] = {
    "quotes": "say \"hi\" and 'bye' and `so`",
    "line breaks": "first\nsecond\n\nfourth\ttab",
    "angle brackets": "if a < b && c > d: <b>bold</b> &amp; </b>",
    "backslashes": "C:\\new\\table \\n \\u0041 \\\\",
    "non-ASCII": "naïve 漢字 🙂 \u00a0｜▁",
    "looks like JSON": '{"name": "x", "arguments": {"a": [1]}}',
    "looks like a number": "007",
    "looks like a word": "true",
    "brackets": "[{(x)}] }} ]] ) , : =",
    "spaces at the ends": "  inside  ",
}


@dataclass(frozen=True)
class Reading:
    """A message as it is compared: without ids, arguments as values."""

    content: str
    reasoning: str
    calls: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, message: Any) -> Reading:
        """What a generated module returned. Raises ValueError where arguments are no JSON."""
        calls = tuple((call.name, json.loads(call.arguments)) for call in message.tool_calls)
        return cls(message.content, message.reasoning_content, calls)

    def __str__(self) -> str:
        calls = (f"{name}({json.dumps(args, ensure_ascii=False)})" for name, args in self.calls)
        return f"content {self.content!r}, reasoning {self.reasoning!r}, calls [{', '.join(calls)}]"


@dataclass(frozen=True)
class Kind:
    """Which parts a message has; `calls` is 0, 1, or 2 for several."""

    content: bool
    reasoning: bool
    calls: int

    def __str__(self) -> str:
        return " + ".join(self.parts())

    def parts(self) -> list[str]:
        """The parts' names."""
        names = ["reasoning"] * self.reasoning + ["content"] * self.content
        return names + ["", "call", "parallel calls"][self.calls : self.calls + 1] * (
            self.calls > 0
        )

    def only(self, parts: frozenset[str]) -> Kind:
        """The kind with no more than these parts."""
        calls = self.calls if "calls" in parts else 0
        return Kind("content" in parts, "reasoning" in parts, calls)

    def contains(self, other: Kind) -> bool:
        """Whether all parts of another kind are in this one."""
        return (
            self.content >= other.content
            and self.reasoning >= other.reasoning
            and self.calls >= other.calls
        )


@dataclass(frozen=True)
class ProbeMessage:
    """One message to render, with the options of its conversation."""

    name: str
    content: str | None = None
    reasoning: str | None = None
    calls: tuple[needles.Call, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    quotes: bool = False  # content quotes markers, which a grammar lets no model write
    offered: Sequence[Mapping[str, Any]] | None = None  # tools that are not made up for the calls

    @property
    def kind(self) -> Kind:
        """Which parts the message has."""
        return Kind(bool(self.content), bool(self.reasoning), min(len(self.calls), 2))

    def plain(self) -> ProbeMessage:
        """The same parts as needles, which show whether a part is rendered at all."""
        return ProbeMessage(
            f"{self.kind}{_named(self.options)}",
            needles.CONTENT if self.content else None,
            needles.REASONING if self.reasoning else None,
            tuple(needles.calls(1) * len(self.calls)),
            self.options,
        )

    def parts_in(self, text: str) -> frozenset[str]:
        """The parts of a message of needles that a text shows; none where calls are missing."""
        found = set()
        if needles.CONTENT in text:
            found.add("content")
        if needles.REASONING in text:
            found.add("reasoning")
        if self.calls and text.count(needles.VALUES[0][0]) >= len(self.calls):
            found.add("calls")
        elif self.calls:
            return frozenset()
        return frozenset(found)

    def holds(self, marker: str) -> bool:
        """Whether one of its texts holds a marker."""
        values = json.dumps([self.content, self.reasoning, self.calls], ensure_ascii=False)
        return json.dumps(marker, ensure_ascii=False)[1:-1] in values

    def expected(self, parts: frozenset[str]) -> Reading:
        """What is to be read back where only these parts are rendered."""
        return Reading(
            self.content if self.content and "content" in parts else "",
            self.reasoning if self.reasoning and "reasoning" in parts else "",
            self.calls if "calls" in parts else (),
        )

    def reread(self, reading: Reading, parts: frozenset[str]) -> ProbeMessage:
        """The message that was read, with the parts that no rendering could have shown."""
        return replace(
            self,
            content=reading.content or None if "content" in parts else self.content,
            reasoning=reading.reasoning or None if "reasoning" in parts else self.reasoning,
            calls=reading.calls if "calls" in parts else self.calls,
        )

    def tools(self) -> Sequence[Mapping[str, Any]]:
        """A tool list whose schemas describe the arguments of the message's calls."""
        if self.offered is not None:
            return self.offered
        properties: dict[str, dict[str, Any]] = {}
        for name, arguments in self.calls:
            schema = properties.setdefault(name, {})
            schema.update({key: _schema(value) for key, value in arguments.items()})
        return [
            {
                "type": "function",
                "function": {
                    "name": name,
                    "parameters": {"type": "object", "properties": schema},
                },
            }
            for name, schema in properties.items()
        ]


def messages(analysis: Analysis, variants: Sequence[Mapping[str, Any]]) -> Iterator[ProbeMessage]:
    """All messages without options, then those with one part or more for each set of options."""
    yield from _parts({})
    yield from _calls()
    yield from _hard_texts(format_markers(analysis))
    yield from _quoted_reasoning(analysis)
    for options in variants:
        yield from _parts(options)


def _parts(options: Mapping[str, Any]) -> Iterator[ProbeMessage]:
    one = ((FIRST, {"city": "Oslo"}),)
    two = (*one, (SECOND, {"a": "x", "b": 2}))
    content, reasoning = "It rains.", "Let me see."
    for text in (content, None):
        for thought in (None, reasoning):
            for calls in ((), one, two):
                if text or calls:
                    message = ProbeMessage("", text, thought, calls, options)
                    yield replace(message, name=f"{message.kind}{_named(options)}")


def _named(options: Mapping[str, Any]) -> str:
    return "".join(f", {key}={value}" for key, value in options.items())


def _calls() -> Iterator[ProbeMessage]:
    same = (FIRST, {"city": "Oslo"})
    yield ProbeMessage("no arguments", calls=((FIRST, {}),))
    yield ProbeMessage("no arguments beside arguments", calls=((SECOND, {}), same, (THIRD, {})))
    yield ProbeMessage("three equal calls", calls=(same, same, same))
    for name, value in VALUES.items():
        yield ProbeMessage(f"value: {name}", calls=((FIRST, {"value": value}),))
    every = {name.replace(" ", "_"): value for name, value in VALUES.items()}
    yield ProbeMessage("every value in one call", calls=((FIRST, every), same))


def _hard_texts(markers: Sequence[str]) -> Iterator[ProbeMessage]:
    # With words between them: two markers in a row may well end a value that nothing escapes.
    hard = {**HARD_STRINGS, "the format's own markers": " and ".join(["none", *markers, "more"])}
    for name, text in hard.items():
        yield ProbeMessage(f"hard string: {name}", calls=((FIRST, {"text": text, "more": "x"}),))
    together = {name.replace(" ", "_").replace("'", ""): text for name, text in hard.items()}
    yield ProbeMessage("hard strings, nested", calls=((FIRST, {"deep": [together]}),))
    for name in ("line breaks", "angle brackets", "looks like JSON", "non-ASCII"):
        yield ProbeMessage(
            f"hard text: {name}", content=f"So: {hard[name]}.", reasoning=f"Hm: {hard[name]}."
        )


def _quoted_reasoning(analysis: Analysis) -> Iterator[ProbeMessage]:
    """Content that quotes the reasoning's markers where they mean nothing."""
    start, end = analysis.reasoning.start.strip(), analysis.reasoning.end.strip()
    if end and analysis.headers is None and not analysis.capabilities.several_reasoning_blocks:
        text = f"So {start}x{end} on."
        yield ProbeMessage("hard text: the reasoning's markers", content=text, quotes=True)


def format_markers(analysis: Analysis) -> list[str]:
    """What delimits the parts of a turn, without its whitespace, the longest first."""
    tools = analysis.tools
    found = {
        text.strip()
        for part in (
            analysis.reasoning,
            analysis.content,
            tools.format,
            tools.function,
            tools.arguments,
        )
        for name, text in vars(part).items()
        if isinstance(text, str) and name.endswith(("start", "end", "prefix", "suffix", "close"))
    }
    found.add(analysis.end_of_turn.strip())
    return sorted(filter(None, found), key=lambda text: (-len(text), text))


def _schema(value: Any) -> dict[str, Any]:
    for kind, name in (
        (str, "string"),
        (bool, "boolean"),
        (int, "integer"),
        (float, "number"),
        (list, "array"),
        (dict, "object"),
    ):
        if isinstance(value, kind):
            return {"type": name}
    return {"type": "null"}


def same(expected: Reading, got: Reading) -> bool:
    """Whether two readings are equal, telling true from 1 and 1 from 1.0."""
    return (expected.content, expected.reasoning) == (got.content, got.reasoning) and [
        (name, _exact(arguments)) for name, arguments in expected.calls
    ] == [(name, _exact(arguments)) for name, arguments in got.calls]


def same_untyped(expected: Reading, got: Reading) -> bool:
    """Like `same`, where no schema told a string from a JSON value that is written like it."""
    if same(expected, got):
        return True
    calls = tuple((name, _untyped(arguments)) for name, arguments in expected.calls)
    return same(replace(expected, calls=calls), got)


def _exact(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _untyped(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _inferred(value) for key, value in arguments.items()}


def _inferred(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


# How to say where a part is missing, the shortest first.
_WHERE: Sequence[tuple[str, Callable[[Kind], bool]]] = (
    ("", lambda kind: True),
    (" beside calls", lambda kind: kind.calls > 0),
    (" without calls", lambda kind: kind.calls == 0),
    (" beside parallel calls", lambda kind: kind.calls > 1),
    (" beside content", lambda kind: kind.content),
    (" beside reasoning", lambda kind: kind.reasoning),
)


def not_rendered(seen: Mapping[Kind, frozenset[str]]) -> Iterator[str]:
    """What a chat template drops or refuses, in few words, from the parts seen of each kind."""
    for part in ("reasoning", "content", "call", "parallel calls"):
        having = [kind for kind in seen if part in kind.parts()]
        lost = [kind for kind in having if part not in kind.only(seen[kind]).parts()]
        if not lost:
            continue
        for where, holds in _WHERE:
            if lost == [kind for kind in having if holds(kind)]:
                yield part + where
                break
        else:
            yield f"{part} in {', '.join(map(str, lost))}"
