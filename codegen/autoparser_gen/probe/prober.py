"""Renders probe conversations and cuts out the assistant's turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autoparser_gen.chat_template import Renderer
from autoparser_gen.errors import AnalysisError
from autoparser_gen.probe import needles
from autoparser_gen.probe.glue import (
    common_prefix,
    is_boundary,
    shared_end,
    shared_start,
    without_suffix,
)
from autoparser_gen.probe.shape import (
    REASONING_FIELDS,
    REASONING_PART,
    Shape,
    call_shapes,
    find_base_shape,
)

Options = Mapping[str, Any]


@dataclass(frozen=True)
class Turn:
    """One assistant turn as the chat template renders it.

    `text` follows `header`. `generated` is what a model would have written after `prompt`, the
    longest of the chat template's own generation prompts (for these options, or the bare header)
    that the turn continues: where history lacks what the prompt holds, such as an opened
    reasoning block, that is the header alone, with nothing open.
    """

    header: str
    text: str
    prompt: str
    generated: str
    options: Options

    def after(self, prompt: str) -> str | None:
        """The turn's text after a generation prompt, or None where the turn does not continue it."""
        whole = self.header + self.text
        return whole[len(prompt) :] if whole.startswith(prompt) else None


class Prober:
    """Asks a chat template for conversations, in the message shape that it demands.

    `shape` is that shape; `renders_calls` tells whether any shape shows a call.
    """

    def __init__(self, renderer: Renderer) -> None:
        """Find the shape. Raises ChatTemplateError or AnalysisError where nothing renders."""
        self.renderer = renderer
        self.shape = find_base_shape(renderer)
        self.renders_calls = False
        self._find_content_shape()
        self._find_call_shape()
        self._unasked = ""  # a generation prompt printed after a finished conversation
        self._opening_end = ""  # what closes the user's message, where no base rendering shows it
        self._find_edges()
        self.header = self._find_header()

    # -- rendering ---------------------------------------------------------------------------

    def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: bool = False,
        prompt: bool = False,
        shape: Shape | None = None,
        **options: Any,
    ) -> str | None:
        """A whole rendering, or None where the chat template refuses."""
        shape = shape or self.shape
        offered = needles.tools(shape.plain_tools) if tools or shape.tools_always else None
        return self.renderer.try_render(
            messages,
            tools=offered,
            add_generation_prompt=prompt,
            **{**shape.variables, **options},
        )

    def after_user(
        self,
        *,
        content: str | None = None,
        reasoning: str | None = None,
        calls: Sequence[needles.Call] = (),
        extra: Sequence[Mapping[str, Any]] = (),
        user_follows: bool = False,
        shape: Shape | None = None,
        **options: Any,
    ) -> str | None:
        """What follows the user's text in a conversation with an assistant's message.

        With `user_follows`, up to the text of the user's next message.
        """
        shape = shape or self.shape
        messages = [*shape.opening(), shape.assistant(content, reasoning, calls), *extra]
        follows = user_follows or shape.user_follows
        if follows:
            messages.append({"role": "user", "content": needles.USER_AGAIN})
        text = self.render(messages, tools=bool(calls), shape=shape, **options)
        if text is None:
            return None
        text = _after(text, needles.USER)
        if follows and text is not None:
            before, found, _ = text.rpartition(needles.USER_AGAIN)
            return before if found else None
        return text

    def opening(self, *, prompt: bool, tools: bool = False, **options: Any) -> str | None:
        """What follows the user's text in a conversation without an assistant's message."""
        text = self.render(self.shape.opening(), tools=tools, prompt=prompt, **options)
        return None if text is None else _after(text, needles.USER)

    # -- shapes ------------------------------------------------------------------------------

    def _find_content_shape(self) -> None:
        for shape in (self.shape, replace(self.shape, user_follows=True)):
            text = self.after_user(content=needles.CONTENT, shape=shape)
            if text is not None and needles.CONTENT in text:
                self.shape = shape
                return
        messages = [*self.shape.opening(), self.shape.assistant(needles.CONTENT, None, ())]
        raise AnalysisError(
            f"{self.renderer.chat_template.name}: renders no assistant message, so there is no turn"
            f" to analyse. A conversation: {self.render(self.shape.opening())!r}; with an answer:"
            f" {self.render(messages)!r}."
        )

    def _find_call_shape(self) -> None:
        fallback: Shape | None = None
        call = needles.calls(1)
        marks = (needles.FUNCTIONS[0], *needles.KEYS[0][:2], *needles.VALUES[0][:2])
        for shape in call_shapes(self.shape):
            text = self.after_user(calls=call, shape=shape)
            if text is None or any(mark not in text for mark in marks):
                continue
            # A Python dict or doubly encoded JSON shows that the other kind was expected.
            if f"'{marks[1]}': " in text or f'\\"{marks[1]}\\"' in text:
                fallback = fallback or shape
                continue
            break
        else:
            if fallback is None:
                return
            shape = fallback
        self.shape, self.renders_calls = shape, True

    def refuses_long_ids(self) -> bool:
        """Whether a call's id must be nine letters and digits."""
        message = self.shape.assistant(None, None, needles.calls(1))
        message["tool_calls"][0]["id"] = "call_" + needles.IDS[0]
        messages = [*self.shape.opening(), message]
        if self.shape.user_follows:
            messages.append({"role": "user", "content": needles.USER_AGAIN})
        return self.render(messages, tools=True) is None

    def find_reasoning_field(self, options: Options, calls: Sequence[needles.Call] = ()) -> str:
        """The message key that reasoning is read from, or "" where it is never shown."""
        for name in (*REASONING_FIELDS, REASONING_PART):
            shape = replace(self.shape, reasoning_field=name)
            content = None if calls else needles.CONTENT
            text = self.after_user(
                content=content, reasoning=needles.REASONING, calls=calls, shape=shape, **options
            )
            if text is None or needles.REASONING not in text:
                continue
            if any(f"{quote}thinking{quote}" in text for quote in "\"'"):
                continue  # the parts were printed as a Python or JSON value
            return name
        return ""

    def set_reasoning_field(self, name: str) -> None:
        """Write reasoning under this message key from now on."""
        self.shape = replace(self.shape, reasoning_field=name)

    # -- header and edges --------------------------------------------------------------------

    def _find_edges(self) -> None:
        """Where a turn begins and ends, in chat templates that show prompts unasked."""
        off, on = self.opening(prompt=False), self.opening(prompt=True)
        self.prompt_on_demand = off is not None and on is not None and off != on
        last = self.after_user(content=needles.CONTENT) or ""
        again = self.after_user(content=needles.CONTENT, user_follows=True)
        post = last.rpartition(needles.CONTENT)[2]
        if again is None or needles.CONTENT not in again or self.shape.user_follows:
            return
        between = again.rpartition(needles.CONTENT)[2]
        end = shared_start(post, between)
        # All headers may begin alike (`<|start|>user`, `<|start|>assistant`). The conversation
        # begins with a header too, behind which nothing was closed.
        whole = self.render(self.shape.opening()) or ""
        whole = whole.lstrip("\ue0b0")
        for at in range(len(end)):
            if is_boundary(end, at) and len(end) > at and whole.startswith(end[at:]) and at > 0:
                end = end[:at]
                break
        tail = post[len(end) :]
        if tail.strip() and on is not None and on.endswith(tail):
            self._unasked = tail
            self._opening_end = without_suffix(on, tail)

    def _opening_of(self, options: Options, tools: bool) -> str:
        """What closes the user's message: the turn begins behind it."""
        if self._unasked:
            return self._opening_end
        text = self.opening(prompt=False, tools=tools, **options)
        return text or "" if self.prompt_on_demand else ""

    def _relative(self, text: str | None, options: Options, tools: bool) -> str | None:
        """A text after the user's, without what closes the user's message."""
        if text is None:
            return None
        base = self._opening_of(options, tools)
        if text.startswith(base):
            return text[len(base) :]
        if text.startswith(base.rstrip()):  # a blank line may be trimmed or added at the seam
            return text[len(base.rstrip()) :]
        return text

    def generation_prompt(self, *, tools: bool = False, **options: Any) -> str | None:
        """What starts the assistant's turn after the user's message, header included."""
        return self._relative(self.opening(prompt=True, tools=tools, **options), options, tools)

    def _whole_turn(self, **parts: Any) -> str | None:
        """The turn with its header, without a prompt printed unasked behind it."""
        options = {k: v for k, v in parts.items() if k not in _PARTS}
        text = self._relative(self.after_user(**parts), options, bool(parts.get("calls")))
        if text is None or self.shape.user_follows or parts.get("user_follows"):
            return text
        return without_suffix(text, self._unasked)

    def _find_header(self) -> str:
        seen = [
            self.generation_prompt(),
            self.generation_prompt(enable_thinking=True),
            self.generation_prompt(enable_thinking=False),
            *(
                text.partition(needles.CONTENT)[0]
                for follows in (False, True)
                for text in [self._whole_turn(content=needles.CONTENT, user_follows=follows)]
                if text is not None and needles.CONTENT in text
            ),
        ]
        return shared_start(*(text for text in seen if text is not None))

    # -- turns -------------------------------------------------------------------------------

    def turn(
        self,
        content: str | None = None,
        reasoning: str | None = None,
        calls: Sequence[needles.Call] = (),
        *,
        user_follows: bool = False,
        **options: Any,
    ) -> Turn | None:
        """The turn for a message; None where the chat template refuses to render it."""
        whole = self._whole_turn(
            content=content,
            reasoning=reasoning,
            calls=calls,
            user_follows=user_follows,
            **options,
        )
        if whole is None:
            return None
        header = self.header if whole.startswith(self.header) else ""
        prompts = [
            self.generation_prompt(tools=bool(calls), **options),
            header,
        ]
        prompt = next(p for p in prompts if p is not None and whole.startswith(p))
        return Turn(header, whole[len(header) :], prompt, whole[len(prompt) :], dict(options))


_PARTS = ("content", "reasoning", "calls", "extra", "user_follows", "shape")


def _after(text: str, needle: str) -> str | None:
    _, found, rest = text.partition(needle)
    return rest if found else None


__all__ = ["Options", "Prober", "Turn", "common_prefix", "shared_end"]
