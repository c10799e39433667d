"""The message shape that a chat template demands, found by trying cheap shapes first."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from autoparser_gen.chat_template import Renderer
from autoparser_gen.errors import ChatTemplateError
from autoparser_gen.probe import needles

REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking", "thought", "tool_plan")
REASONING_PART = "content part"  # reasoning as `{"type": "thinking"}` inside a content list

NAMED_ID = "functions.{name}:{index}"  # the convention "id-carries-name"

MAX_VARIABLES = 6  # what a caller would have to supply where a chat template uses it unguarded


@dataclass(frozen=True)
class Shape:
    """How messages are written for one chat template."""

    string_arguments: bool = False
    named_ids: bool = False  # ids hold the name, see NAMED_ID
    null_content: bool = False  # a call without content has None, not ""
    flat_calls: bool = False  # calls without the `function` wrapper
    system: bool = False  # a system message must come first
    tools_always: bool = False
    plain_tools: bool = False  # string parameters only
    no_tools: bool = False  # calls render only where no tools are offered
    parts: bool = False  # the user's content is a list of parts
    all_parts: bool = False  # the assistant's is, too
    user_follows: bool = False  # the assistant's message must not be the last one
    reasoning_field: str = ""
    variables: Mapping[str, Any] = field(default_factory=dict)

    def offers_tools(self, calls: bool) -> bool:
        """Whether tools are offered in a conversation with or without calls."""
        return self.tools_always or (calls and not self.no_tools)

    def opening(self) -> list[dict[str, Any]]:
        """The messages before the assistant's turn."""
        system = [{"role": "system", "content": self._text(needles.SYSTEM)}] if self.system else []
        return [*system, self.user(needles.USER)]

    def user(self, text: str) -> dict[str, Any]:
        """A message of the user."""
        return {"role": "user", "content": self._text(text)}

    def _text(self, text: str) -> Any:
        return [{"type": "text", "text": text}] if self.parts else text

    def assistant(
        self,
        content: str | None,
        reasoning: str | None,
        calls: Sequence[needles.Call],
    ) -> dict[str, Any]:
        """The assistant's message."""
        text = content if content is not None or (calls and self.null_content) else ""
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if self.all_parts:
            message["content"] = self._text(text) if text else []
        if reasoning is not None and self.reasoning_field == REASONING_PART:
            parts = [{"type": "thinking", "thinking": reasoning}]
            message["content"] = [*parts, {"type": "text", "text": content}] if content else parts
        elif reasoning is not None:
            message[self.reasoning_field or REASONING_FIELDS[0]] = reasoning
        if calls:
            message["tool_calls"] = [self._call(i, *call) for i, call in enumerate(calls)]
        return message

    def _call(self, index: int, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        given: Any = dict(arguments)
        if self.string_arguments:
            given = json.dumps(given, ensure_ascii=False)
        call_id = call_id_of(index)
        if self.named_ids:
            call_id = NAMED_ID.format(name=name, index=index)
        function = {"name": name, "arguments": given}
        if self.flat_calls:
            return {"id": call_id, "type": "function", **function}
        return {"id": call_id, "type": "function", "function": function}


def call_id_of(index: int) -> str:
    """The id of the index-th call: a needle, or one made like a needle."""
    return needles.IDS[index] if index < len(needles.IDS) else f"Lq{index:03}z9p8"[:9]


def find_base_shape(renderer: Renderer) -> Shape:
    """A shape in which a lone user message renders.

    Raises ChatTemplateError, with the first refusal, where none does.
    """
    first: ChatTemplateError | None = None
    for shape in _base_shapes():
        for _ in range(MAX_VARIABLES):
            tools = needles.tools(shape.plain_tools) if shape.tools_always else None
            try:
                text = renderer.render(shape.opening(), tools=tools, **shape.variables)
            except ChatTemplateError as error:
                first = first or error
                missing = re.search(r"'(\w+)' is undefined", str(error))
                if missing is None or missing[1] in shape.variables:
                    break
                shape = replace(shape, variables={**shape.variables, missing[1]: ""})
                continue
            if needles.USER in text:
                return shape
            break
    if first is not None:
        raise ChatTemplateError(
            f"{str(first).rstrip('.')}. Every conversation that was tried is refused, the plainest with"
            " this message. Check that the chat template is complete."
        ) from first
    raise ChatTemplateError(
        f"{renderer.chat_template.name}: shows no user message: a chat template prints the messages"
        " of a conversation. Check that the file is a chat template."
    )


def _base_shapes() -> Iterator[Shape]:
    yield Shape()
    for system, tools, plain in itertools.product((False, True), repeat=3):
        if (system or tools) and (tools or not plain):
            yield Shape(system=system, tools_always=tools, plain_tools=plain)
    yield Shape(parts=True)


def call_shapes(base: Shape) -> Iterator[Shape]:
    """Shapes to try for a message with calls, those that most chat templates take first.

    Three deviations at most: a chat template that renders no call at all must not cost hundreds of
    renderings.
    """
    axes = ("string_arguments", "null_content", "named_ids", "plain_tools", "user_follows")
    seen = set()
    for size in range(4):
        for chosen in itertools.combinations(axes, size):
            changes: dict[str, Any] = dict.fromkeys(chosen, True)
            shape = replace(base, **changes)
            key = repr(shape)
            if key not in seen:
                seen.add(key)
                yield shape
    yield replace(base, no_tools=True)
    yield replace(base, flat_calls=True)
    yield replace(base, flat_calls=True, string_arguments=True)
