"""From the analysis to one grammar of the response."""

from __future__ import annotations

from typing import Any

from autoparser_gen.analysis.model import Analysis, ContentMode, ReasoningMode, ToolMode
from autoparser_gen.grammar.calls import CallRules
from autoparser_gen.grammar.check import check
from autoparser_gen.grammar.ir import (
    Builder,
    Expr,
    Ref,
    ResponseGrammar,
    alt,
    chars,
    many,
    opt,
    seq,
    text,
)
from autoparser_gen.grammar.markup import core, marker_token
from autoparser_gen.grammar.syntax import whitespace


def lower(
    analysis: Analysis,
    *,
    tools: Any = None,
    tool_choice: str = "auto",
    parallel: bool = True,
    response_schema: Any = None,
    thinking: bool | None = None,
    lazy: bool = False,
) -> ResponseGrammar:
    """One grammar of the response.

    It begins at the first generated character after the chosen generation prompt (`thinking`:
    None is the chat template's default) and ends before the end of turn. `tools` is OpenAI's list;
    None accepts any name and any arguments. With `lazy` it begins at the first tool call.
    Raises GrammarError where no sound grammar follows from the analysis or the schemas.
    """
    builder = Builder()
    response = _Response(builder, analysis, tool_choice, parallel)
    start = "response"
    builder.rule(start, response.calls() if lazy else response.whole(thinking))
    grammar = builder.build(start)
    check(grammar)
    return grammar


def prompt_state(analysis: Analysis, prompt: str) -> str:
    """What a generation prompt leaves of the reasoning: "open", "closed", or "" for neither."""
    start, end = core(analysis.reasoning.start), core(analysis.reasoning.end)
    if analysis.reasoning.mode is ReasoningMode.NONE or not end:
        return ""
    opened = prompt.rfind(start) if start else -1
    closed = prompt.rfind(end)
    if opened > closed:
        return "open"
    return "closed" if closed >= 0 else ""


class _Response:
    """The parts of a response, and the order they come in."""

    def __init__(
        self, builder: Builder, analysis: Analysis, tool_choice: str, parallel: bool
    ) -> None:
        self.builder = builder
        self.analysis = analysis
        self.tool_choice = tool_choice
        self.format = analysis.tools.format
        self.parallel = parallel and analysis.capabilities.supports_parallel_tool_calls
        self.has_calls = self.format.mode is not ToolMode.NONE and tool_choice != "none"
        self.bare = self.has_calls and not self._call_openers()

    def whole(self, thinking: bool | None) -> Expr:
        """Reasoning, content and calls."""
        prompts = self.analysis.generation_prompts
        prompt = {None: prompts.default, True: prompts.thinking, False: prompts.no_thinking}
        state = prompt_state(self.analysis, prompt[thinking])
        return seq(self._reasoning(state), self._content_and_calls())

    def calls(self) -> Ref:
        """The calls alone."""
        return CallRules(self.builder, self.analysis, parallel=self.parallel).rule()

    # ---- parts ----

    def _reasoning(self, state: str) -> Expr:
        reasoning = self.analysis.reasoning
        if reasoning.mode is ReasoningMode.NONE or not core(reasoning.end) or state == "closed":
            return seq()
        closes = marker_token(self.builder, "reasoning-close", reasoning.end)
        stops = [core(reasoning.end)]
        if self._wrapped():
            stops.append(core(self.analysis.content.start))
        inner = self.builder.token("reasoning-text", text(*stops))
        if state == "open":
            return self.builder.rule("reasoning", seq(inner, closes), capture="reasoning")
        opens = marker_token(
            self.builder, "reasoning-open", reasoning.start, whitespace(self.builder)
        )
        return opt(self.builder.rule("reasoning", seq(opens, inner, closes), capture="reasoning"))

    def _content_and_calls(self) -> Expr:
        if not self.has_calls:
            return self._content()
        calls = self.calls()
        if self.bare:
            return opt(alt(self._bare_content(), calls))
        if self._wrapped():
            space = opt(whitespace(self.builder))
            beside = seq(self._content(), opt(seq(space, calls)))
            return alt(beside, seq(space, calls))
        return seq(self._content(), opt(calls))

    def _content(self) -> Expr:
        content = self.analysis.content
        inner = self.builder.token("content", text(*self._content_stops()), capture="content")
        if not self._wrapped():
            return inner
        opens = marker_token(self.builder, "content-open", content.start, whitespace(self.builder))
        block = seq(opens, inner)
        if core(content.end):
            block = seq(block, marker_token(self.builder, "content-close", content.end))
        return self.builder.rule("content-block", block)

    def _bare_content(self) -> Expr:
        """Text of which no line begins like a call without any marker."""
        first = "[" if self.format.tools_array_wrapped else "{"
        blank = chars(" \t")
        line = seq(chars(f"{first}\n \t", negated=True), many(chars("\n", negated=True)))
        more = many(seq("\n", many(blank), opt(line)))
        body = alt(
            seq(line, more),
            seq(many(blank, 1), opt(line), more),
            seq("\n", many(blank), opt(line), more),
        )
        return self.builder.token("content", body, capture="content")

    # ---- facts ----

    def _wrapped(self) -> bool:
        content = self.analysis.content
        return content.mode is ContentMode.ALWAYS_WRAPPED and bool(core(content.start))

    def _call_openers(self) -> list[str]:
        """Every marker that a call could begin with, some of them in a section only.

        A parser takes them all for a call's beginning, so content holds none of them.
        """
        prefix = core(self.analysis.tools.function.name_prefix)
        if all(char.isalnum() or char in "._:- " for char in prefix):
            prefix = ""  # plain words, which prose holds too
        openers = [core(self.format.section_start), core(self.format.per_call_start), prefix]
        openers = list(filter(None, openers))
        return [opener for opener in openers if opener not in openers[0][:-1]]

    def _content_stops(self) -> list[str]:
        stops = []
        if self.analysis.reasoning.mode is not ReasoningMode.NONE:
            stops.append(core(self.analysis.reasoning.start))
        if self._wrapped():
            stops += [core(self.analysis.content.start), core(self.analysis.content.end)]
        return stops + (self._call_openers() if self.has_calls else [])
