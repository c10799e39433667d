"""Renders probe conversations and cuts out the assistant's turn."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from autoparser_gen.chat_template import UNKNOWN_TOKENS, Renderer
from autoparser_gen.errors import AnalysisError, shown
from autoparser_gen.probe import needles, source
from autoparser_gen.probe.edges import Edges, count_markers, end_of_answer
from autoparser_gen.probe.glue import without_suffix
from autoparser_gen.probe.shape import (
    REASONING_FIELDS,
    REASONING_PART,
    Shape,
    call_shapes,
    find_base_shape,
)
from autoparser_gen.probe.turn import Options, Turn

NO_OPTIONS: Options = {}
MAX_PROMPTS = 60


class Prober:
    """Asks a chat template for conversations, in the message shape that it demands.

    `shape` is that shape; `renders_calls` tells whether any shape shows a call; `header` is what
    starts the assistant's turn, in prompts as in turns.
    """

    def __init__(self, renderer: Renderer) -> None:
        """Find the shape. Raises ChatTemplateError or AnalysisError where nothing renders."""
        self.renderer = renderer
        self.name = renderer.chat_template.name
        self._openings: dict[tuple[str, bool, bool], str | None] = {}
        self.shape = find_base_shape(renderer)
        self.renders_calls = False
        self._find_content_shape()
        self._find_call_shape()
        self.option_values = source.option_values(renderer)
        closed = self.opening(prompt=False)
        self.edges = Edges(closed or "", self.opening(prompt=True) or closed or "")
        self.reasoning_options: Options = NO_OPTIONS  # under which reasoning is shown
        self.continues_prompt = False  # the last message is written as the prompt's continuation
        self._find_edges()

    @property
    def header(self) -> str:
        return self.edges.header

    @property
    def shape(self) -> Shape:
        return self._shape

    @shape.setter
    def shape(self, shape: Shape) -> None:
        self._shape = shape
        self._openings.clear()

    # -- rendering ---------------------------------------------------------------------------

    def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: bool = False,
        prompt: bool = False,
        shape: Shape | None = None,
        options: Options = NO_OPTIONS,
    ) -> str | None:
        """A whole rendering, or None where the chat template refuses."""
        shape = shape or self.shape
        offered = needles.tools(shape.plain_tools) if shape.offers_tools(tools) else None
        return self.renderer.try_render(
            messages,
            tools=offered,
            add_generation_prompt=prompt,
            options={**shape.variables, **options},
        )

    def after_user(
        self,
        *,
        content: str | None = None,
        reasoning: str | None = None,
        calls: Sequence[needles.Call] = (),
        user_follows: bool = False,
        shape: Shape | None = None,
        options: Options = NO_OPTIONS,
    ) -> str | None:
        """What follows the user's text in a conversation with an assistant's message.

        With `user_follows`, up to the text of the user's next message.
        """
        shape = shape or self.shape
        messages = [*shape.opening(), shape.assistant(content, reasoning, calls)]
        follows = user_follows or shape.user_follows
        if follows:
            messages.append(shape.user(needles.USER_AGAIN))
        text = self.render(messages, tools=bool(calls), shape=shape, options=options)
        text = None if text is None else _after(text, needles.USER)
        if follows and text is not None:
            before, found, _ = text.rpartition(needles.USER_AGAIN)
            return before if found else None
        return text

    def opening(
        self, *, prompt: bool, tools: bool = False, options: Options = NO_OPTIONS
    ) -> str | None:
        """What follows the user's text in a conversation without an assistant's message."""
        key = (repr(options), tools, prompt)  # kept, since each turn is cut out with the same ones
        if key not in self._openings:
            text = self.render(self.shape.opening(), tools=tools, prompt=prompt, options=options)
            self._openings[key] = None if text is None else _after(text, needles.USER)
        return self._openings[key]

    # -- shapes ------------------------------------------------------------------------------

    def _find_content_shape(self) -> None:
        base = self.shape
        shapes = [base, replace(base, user_follows=True)]
        if base.parts:
            shapes.insert(0, replace(base, all_parts=True))
        for shape in shapes:
            text = self.after_user(content=needles.CONTENT, shape=shape)
            printed = any(f"{quote}type{quote}: " in (text or "") for quote in "\"'")
            if text is not None and needles.CONTENT in text and not (shape.all_parts and printed):
                self.shape = shape
                return
        messages = [*self.shape.opening(), self.shape.assistant(needles.CONTENT, None, ())]
        raise AnalysisError(
            f"{self.name}: renders no assistant message, so there is no turn to analyse."
            f" A question: {shown(self.render(self.shape.opening()))}; with its answer:"
            f" {shown(self.render(messages))}. Check that the chat template prints the"
            " content of messages whose role is `assistant`."
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
            if f"'{marks[1]}': " in text or f'\\"{marks[1]}' in text:
                fallback = fallback or shape
                continue
            break
        else:
            if fallback is None:
                return
            shape = fallback
        self.shape, self.renders_calls = self._without_empty_content(shape), True

    def _without_empty_content(self, shape: Shape) -> Shape:
        """A shape of messages with calls whose content is null, where "" shows a content of its own."""
        null = replace(shape, null_content=True)
        call = needles.calls(1)
        empty, plain = (self.after_user(calls=call, shape=each) for each in (shape, null))
        if empty is None or plain is None or needles.FUNCTIONS[0] not in plain:
            return shape
        return null if len("".join(plain.split())) < len("".join(empty.split())) else shape

    def refuses_long_ids(self) -> bool:
        """Whether a call's id must be nine letters and digits."""
        message = self.shape.assistant(None, None, needles.calls(1))
        message["tool_calls"][0]["id"] = "call_" + needles.IDS[0]
        messages = [*self.shape.opening(), message]
        if self.shape.user_follows:
            messages.append(self.shape.user(needles.USER_AGAIN))
        return self.render(messages, tools=True) is None

    def find_reasoning_field(self, options: Options, calls: Sequence[needles.Call] = ()) -> str:
        """The message key that reasoning is read from, or "" where it is never shown."""
        names = source.read_names(self.renderer)
        known = [name for name in REASONING_FIELDS if name in names]
        for name in (*known, *([REASONING_PART] if "thinking" in names else [])):
            if self._shows_reasoning(replace(self.shape, reasoning_field=name), options, calls):
                return name
        # Any other key that the chat template reads; all at once, then one by one. What it prints
        # behind the answer or the call is no reasoning.
        others = [name for name in names if name not in known]
        text = self._with_keys(others, options, calls)
        if text is None or needles.REASONING not in text:
            return ""
        answer = calls[0][0] if calls else needles.CONTENT
        for name in others:
            shape = replace(self.shape, reasoning_field=name)
            shown = self._shows_reasoning(shape, options, calls)
            if shown and shown.find(needles.REASONING) < shown.find(answer):
                return name
        return ""

    def _shows_reasoning(
        self, shape: Shape, options: Options, calls: Sequence[needles.Call]
    ) -> str:
        """The rendering, or "" where it does not show the reasoning as text."""
        content = None if calls else needles.CONTENT
        text = self.after_user(
            content=content, reasoning=needles.REASONING, calls=calls, shape=shape, options=options
        )
        if text is None or needles.REASONING not in text:
            return ""
        # The parts may have been printed as a Python or JSON value.
        return "" if any(f"{quote}thinking{quote}" in text for quote in "\"'") else text

    def _with_keys(
        self, names: Sequence[str], options: Options, calls: Sequence[needles.Call]
    ) -> str | None:
        message = self.shape.assistant(None if calls else needles.CONTENT, None, calls)
        message = {**dict.fromkeys(names, needles.REASONING), **message}
        return self.render([*self.shape.opening(), message], tools=bool(calls), options=options)

    def set_reasoning_field(self, name: str, options: Options) -> None:
        """Write reasoning under this message key, and with these options, from now on."""
        self.shape = replace(self.shape, reasoning_field=name)
        self.reasoning_options = options

    # -- edges -------------------------------------------------------------------------------

    def _find_edges(self) -> None:
        ends = self._answer_ends(NO_OPTIONS)
        if ends is not None:
            self.edges.find_end(*ends)
        content = needles.CONTENT
        turns = [
            text.partition(content)[0]
            for follows in (False, True)
            for text in [self._whole_turn(content=content, user_follows=follows)]
            if text is not None and content in text
        ]
        self.edges.find_header([prompt for _, prompt in self._prompts()], turns)
        self._find_continuation()

    def _answer_ends(self, options: Options) -> tuple[str, str, str] | None:
        """What stands before the user's text, behind a last answer, and between it and the next."""
        content, at_end = needles.CONTENT, replace(self.shape, user_follows=False)
        last = self.after_user(content=content, shape=at_end, options=options)
        again = self.after_user(content=content, user_follows=True, options=options)
        whole = self.render(self.shape.opening(), options=options)
        if again is None or whole is None or content not in again:
            return None
        if last is None or content not in last:
            if not self.shape.user_follows:
                return None
            last = ""  # an answer is shown in history only
        # With nothing but the first token before the first header.
        first = {**UNKNOWN_TOKENS, **self.renderer.chat_template.tokens}["bos_token"]
        beginning = whole.partition(needles.USER)[0].removeprefix(first)
        return beginning, last.rpartition(content)[2], again.rpartition(content)[2]

    def _unasked(self, options: Options) -> str:
        """What is printed behind a finished conversation; an option may change it."""
        if not options or self.edges.on_demand:
            return self.edges.unasked
        ends = self._answer_ends(options)
        prompted = self.opening(prompt=True, options=options)
        if ends is None or prompted is None:
            return self.edges.unasked
        tail = ends[1][len(end_of_answer(*ends)) :]
        return tail if tail.strip() and prompted.endswith(tail) else ""

    def _switches(self, *names: str) -> list[Options]:
        known = (name for name in names if name in self.option_values)
        return [{name: value} for name in known for value in (True, False)]

    def _find_continuation(self) -> None:
        """Whether an answer at the end is written straight behind the prompt's opened marker."""
        prompt = self.generation_prompt() or ""
        prefill = prompt[len(self.header) :]
        last = self._whole_turn(content=needles.CONTENT) or ""
        again = self._whole_turn(content=needles.CONTENT, user_follows=True)
        self.continues_prompt = (
            count_markers(prefill) == 1
            and last.startswith(prompt + needles.CONTENT)
            and again is not None
            and not again.startswith(prompt)
        )

    def _close(self, options: Options, tools: bool) -> str:
        closed = self.opening(prompt=False, tools=tools, options=options)
        prompted = self.opening(prompt=True, tools=tools, options=options)
        return self.edges.user_close(closed, prompted)

    def generation_prompt(
        self, *, tools: bool = False, options: Options = NO_OPTIONS, **more: Any
    ) -> str | None:
        """What starts the assistant's turn after the user's message, header included."""
        options = {**options, **more}
        text = self.opening(prompt=True, tools=tools, options=options)
        return None if text is None else self.edges.relative(text, self._close(options, tools))

    def prompt_variants(self) -> list[tuple[Options, str]]:
        """(options, generation prompt): the default, then each prompt that an option makes."""
        found: dict[str, Options] = {}
        for chosen, prompt in self._prompts():
            if prompt.startswith(self.header):
                found.setdefault(prompt, chosen)
        return [(chosen, prompt) for prompt, chosen in found.items()]

    def _prompts(self) -> Iterator[tuple[Options, str]]:
        """Generation prompts of all options; not those in which an option's value is printed."""
        default = self.generation_prompt() or ""
        for chosen in self._all_options():
            prompt = self.generation_prompt(options=chosen)
            values = [str(value) for value in chosen.values()]
            if prompt and not any(v and v in prompt and v not in default for v in values):
                yield chosen, prompt

    def _all_options(self) -> list[Options]:
        """No option, then each value of each option; the usual switches first."""
        options: list[Options] = [{}, *self._switches("enable_thinking", "thinking")]
        for name, values in self.option_values.items():
            options += [{name: value} for value in values if {name: value} not in options]
        return options[:MAX_PROMPTS]

    def _whole_turn(
        self,
        *,
        content: str | None = None,
        reasoning: str | None = None,
        calls: Sequence[needles.Call] = (),
        user_follows: bool = False,
        options: Options = NO_OPTIONS,
    ) -> str | None:
        """The turn with its header, and nothing of what follows it."""
        text = self.after_user(
            content=content,
            reasoning=reasoning,
            calls=calls,
            user_follows=user_follows,
            options=options,
        )
        if text is None:
            return None
        text = self.edges.relative(text, self._close(options, bool(calls)))
        follows = user_follows or self.shape.user_follows
        return without_suffix(text, self.edges.next_header if follows else self._unasked(options))

    # -- turns -------------------------------------------------------------------------------

    def raw_turn(
        self,
        content: str | None = None,
        reasoning: str | None = None,
        calls: Sequence[needles.Call] = (),
        *,
        user_follows: bool = False,
        options: Options = NO_OPTIONS,
    ) -> Turn | None:
        """Like `turn`, with what stands for special tokens that are not known."""
        if reasoning is not None:
            options = {**self.reasoning_options, **options}
        render = functools.partial(
            self._whole_turn,
            content=content,
            calls=calls,
            user_follows=user_follows or (self.continues_prompt and not calls),
            options=options,
        )
        whole = render(reasoning=reasoning)
        if whole is None:
            return None
        header = self.header if whole.startswith(self.header) else self.header.rstrip()
        header = header if whole.startswith(header) else ""
        text = whole[len(header) :]
        prompt = self.generation_prompt(tools=bool(calls), options=options)
        if prompt is not None and whole.startswith(prompt):
            return Turn(header, text, prompt, whole[len(prompt) :], dict(options))
        opened = prompt is not None and prompt.startswith(header) and len(prompt) > len(header)
        if opened and reasoning and text.startswith(reasoning) and whole != render(reasoning=None):
            # History leaves out what the prompt opened: the turn goes on where the prompt ends.
            return Turn(header, text, prompt or "", text, dict(options))
        return Turn(header, text, header, text, dict(options))

    def turn(
        self,
        content: str | None = None,
        reasoning: str | None = None,
        calls: Sequence[needles.Call] = (),
        *,
        user_follows: bool = False,
        options: Options = NO_OPTIONS,
        **more: Any,
    ) -> Turn | None:
        """The turn for a message; None where the chat template refuses to render it.

        Options of the chat template are given as a mapping, as keywords, or both; those without
        which it shows no reasoning are added where reasoning is given.
        """
        found = self.raw_turn(
            content, reasoning, calls, user_follows=user_follows, options={**options, **more}
        )
        if found is None:
            return None
        return found.without_unknown_tokens()


def _after(text: str, needle: str) -> str | None:
    _, found, rest = text.partition(needle)
    return rest if found else None
