"""What a parse gives: messages, the deltas of a stream, spans and errors; in all modules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

# ==== Begin messages block (identical in every file) ====


@dataclass
class ToolCall:
    """A complete call. `arguments` is the JSON text of an object."""

    name: str
    arguments: str
    id: str | None = None

    def to_openai(self) -> dict[str, Any]:
        """The call as in OpenAI's chat completion messages."""
        return {
            "id": self.id,
            "type": "function",
            "function": {"name": self.name, "arguments": self.arguments},
        }


@dataclass
class Message:
    """One assistant message. `incomplete` is the raw text of a call that the end cut off."""

    role: str = "assistant"
    content: str = ""
    reasoning_content: str = ""
    tool_calls: list[ToolCall] = field(default_factory=list)
    incomplete: str = ""

    def to_openai(self, reasoning_key: str = "reasoning_content") -> dict[str, Any]:
        """The message as in OpenAI's chat completions; empty reasoning is left out."""
        message: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.reasoning_content:
            message[reasoning_key] = self.reasoning_content
        if self.tool_calls:
            message["content"] = self.content or None
            message["tool_calls"] = [call.to_openai() for call in self.tool_calls]
        return message

    def finish_reason(self) -> str:
        """What OpenAI's `finish_reason` says of this message: tool_calls, length or stop."""
        if self.incomplete:
            return "length"
        return "tool_calls" if self.tool_calls else "stop"


class Delta(NamedTuple):
    """One change of the message, in text order.

    The first delta of a call has its name; further ones have pieces of its arguments.
    `retracted` withdraws the call of that index. `incomplete` comes last, if at all.
    """

    content: str = ""
    reasoning_content: str = ""
    index: int | None = None  # type: ignore[assignment]  # hides tuple.index, which nobody needs here
    id: str | None = None
    name: str = ""
    arguments: str = ""
    retracted: bool = False
    incomplete: str = ""

    def to_openai(self, reasoning_key: str = "reasoning_content") -> dict[str, Any]:
        """The `delta` of an OpenAI streaming chunk (empty for what OpenAI has no field for)."""
        if self.content:
            return {"content": self.content}
        if self.reasoning_content:
            return {reasoning_key: self.reasoning_content}
        if self.index is None or self.retracted:
            return {}
        call: dict[str, Any] = {"index": self.index}
        if self.id is not None:
            call["id"] = self.id
        if self.name:
            call["type"] = "function"
            call["function"] = {"name": self.name, "arguments": self.arguments}
        else:
            call["function"] = {"arguments": self.arguments}
        return {"tool_calls": [call]}


class Span(NamedTuple):
    """A piece of the text, in characters: reasoning, content, call, marker, separator, incomplete."""

    kind: str
    start: int
    end: int


class ParseError(ValueError):
    """With `strict=True`: the text leaves the format. `position` is in characters of the text."""

    def __init__(self, position: int, expected: str, found: str) -> None:
        super().__init__(f"at character {position}: expected {expected}, found {found}")
        self.position = position
        self.expected = expected
        self.found = found


class LimitError(ValueError):
    """The output has more calls than `max_calls`, or one with more than `max_arguments` characters."""


def merge(deltas: Iterable[Delta]) -> Message:
    """The message that a parse's deltas add up to."""
    message = Message()
    calls: dict[int, ToolCall] = {}
    content, reasoning = [], []
    arguments: dict[int, list[str]] = {}
    for delta in deltas:
        content.append(delta.content)
        reasoning.append(delta.reasoning_content)
        message.incomplete += delta.incomplete
        if delta.index is None:
            continue
        if delta.retracted:
            del calls[delta.index]
            continue
        call = calls.setdefault(delta.index, ToolCall(delta.name, "", None))
        call.id = delta.id if delta.id is not None else call.id
        arguments.setdefault(delta.index, []).append(delta.arguments)
    for index, call in calls.items():
        call.arguments = "".join(arguments[index])
    message.content, message.reasoning_content = "".join(content), "".join(reasoning)
    message.tool_calls = list(calls.values())
    return message


# ==== End messages block ====
