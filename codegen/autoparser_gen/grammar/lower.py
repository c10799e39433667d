"""From the analysis to one grammar of the response."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoparser_gen.analysis.as_json import triggers
from autoparser_gen.analysis.model import Analysis, ContentMode, ReasoningMode, ToolMode
from autoparser_gen.errors import RequestError
from autoparser_gen.grammar.calls import AfterCalls, CallRules
from autoparser_gen.grammar.check import check
from autoparser_gen.grammar.ir import (
    EMPTY,
    Builder,
    Expr,
    Lines,
    Lit,
    Ref,
    Rep,
    ResponseGrammar,
    Stop,
    alt,
    chars,
    many,
    opt,
    seq,
    text,
)
from autoparser_gen.grammar.markup import (
    core,
    has_messages,
    is_named_tag,
    marker_token,
    says_call,
    single_markers,
)
from autoparser_gen.grammar.messages import Messages, message_stops
from autoparser_gen.grammar.request import Tool, choose, read_tools, require_choices
from autoparser_gen.grammar.schema import SchemaRules
from autoparser_gen.grammar.share import share
from autoparser_gen.grammar.syntax import Syntax, margin, margin_length, whitespace_of

RESPONSE = "response"


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
    None permits any name and any arguments. `tool_choice` is auto, required, none or a tool's
    name. With a `response_schema` content is JSON. With `lazy` it begins at the first tool call,
    where no content is.
    Raises RequestError where the tools, the schemas or the choices are at fault, and GrammarError
    where no sound grammar follows from the analysis.
    """
    require_choices(tool_choice, parallel, thinking)
    if lazy and response_schema is not None:
        raise RequestError(
            "a lazy grammar begins at a tool call and has no content, so that the schema of the"
            " response changes nothing. Leave the schema out, or ask for a grammar that is not lazy."
        )
    builder = Builder(whitespace_of(analysis), margin_length(analysis))
    chosen = choose(None if tools is None else read_tools(tools), tool_choice)
    response = _Response(builder, analysis, chosen, parallel, response_schema)
    if chosen and not response.renders_calls:
        builder.warn("the chat template renders no calls, so the tools change nothing.")
    if lazy:
        body: Expr = response.calls(lazy=True)
        if not triggers(analysis):
            builder.warn("no marker begins a call, so nothing can trigger the lazy grammar.")
    else:
        body = response.whole(thinking, calls_required=tool_choice not in ("auto", "none"))
    builder.rule(RESPONSE, body)
    grammar = share(builder.build(RESPONSE))
    check(grammar)
    return grammar


def prompt_state(analysis: Analysis, prompt: str) -> str:
    """What a generation prompt leaves of the reasoning: "open", "closed", or "" for neither."""
    start, end = core(analysis.reasoning.start), core(analysis.reasoning.end)
    if start and start == end:  # one marker that opens and closes in turn
        count = prompt.count(start)
        return ("closed", "open")[count % 2] if count else ""
    opened = prompt.rfind(start) if start else -1
    closed = prompt.rfind(end) if end else -1
    if closed > opened:
        return "closed"
    # Reasoning without an opener is what a turn begins with.
    return "open" if opened >= 0 or not start else ""


class _Response:
    """The parts of a response, and the order they come in."""

    def __init__(
        self,
        builder: Builder,
        analysis: Analysis,
        tools: list[Tool] | None,
        parallel: bool,
        response_schema: Any,
    ) -> None:
        self.builder = builder
        self.analysis = analysis
        self.format = analysis.tools.format
        self.schema = response_schema
        self.renders_calls = self.format.mode is not ToolMode.NONE
        self.has_calls = self.renders_calls and tools != []
        several = parallel and analysis.capabilities.supports_parallel_tool_calls
        self.call_rules = CallRules(builder, analysis, tools, parallel=several)
        self.bare = self.renders_calls and not self._call_openers()

    def whole(self, thinking: bool | None, *, calls_required: bool) -> Expr:
        """Reasoning, content and calls."""
        if calls_required and not self.has_calls:
            raise RequestError(
                f"a tool call is required, but {self._why_no_calls()}, or make the tool choice auto or"
                " none."
            )
        if has_messages(self.analysis):
            return self._messages().whole(calls_required=calls_required)
        prompts = self.analysis.generation_prompts
        prompt = {None: prompts.default, True: prompts.thinking, False: prompts.no_thinking}
        state = prompt_state(self.analysis, prompt[thinking])
        if calls_required:
            return self._behind_reasoning(state, self._required_calls())
        if self.schema is not None:
            return self._behind_reasoning(state, self._json_content_and_calls())
        if self._wrapped() and not self._may_be_plain() and not self.bare:
            return self._behind_reasoning(state, self._wrapped_content_and_calls())
        return seq(self._reasoning(state, takes_space=True), self._content_and_calls())

    def calls(self, *, lazy: bool = False) -> Ref:
        """The calls alone; from the trigger on, if `lazy`."""
        if not self.has_calls:
            raise RequestError(
                f"a lazy grammar begins at a tool call, but {self._why_no_calls()}, or ask for a"
                " grammar that is not lazy."
            )
        if has_messages(self.analysis):
            return self._messages().calls(lazy=lazy)
        return self.call_rules.rule(self._after_calls())

    def _why_no_calls(self) -> str:
        """Why there is no tool that could be called, and the first half of what to do."""
        if not self.renders_calls:
            return "the chat template renders none. Take another chat template"
        return "there is no tool that could be called. Give tools that the tool choice permits"

    def _required_calls(self) -> Expr:
        """Calls, behind content's empty markers where history shows them."""
        wrapper, space = self.analysis.content, opt(margin(self.builder))
        if self._wrapped() and self._is_before_call(wrapper.start):
            return seq(opt(seq(self._block(space), space)), self.calls())
        if self._is_before_call(wrapper.beside_call_start):
            behind = EMPTY if self.bare else space
            return seq(opt(seq(self._aside(EMPTY), behind)), self.calls())
        return self.calls()

    def _is_before_call(self, opener: str) -> bool:
        """Whether history shows a marker of content before a call that has none beside it."""
        parts = ("prompt", "reasoning")
        joints = (self.analysis.joints.get(f"{part}_to_call", "") for part in parts)
        return bool(core(opener)) and any(core(opener) in joint for joint in joints)

    # ---- parts ----

    def _messages(self) -> Messages:
        content = None if self.schema is None else self._json_content()
        rules = self.call_rules if self.has_calls else None
        return Messages(self.builder, self.analysis, rules, content)

    def _behind_reasoning(self, state: str, rest: Expr) -> Expr:
        """Reasoning and then something that begins with a marker or JSON.

        Whitespace between them is a token of its own, so none of the others may begin with any: a
        lexer that takes the longest token could not tell which of both it is reading.
        """
        # A call without a marker begins a line, and a carriage return ends none.
        bare = Rep(chars(" \t\n"), 1, self.builder.margin)
        space = opt(self.builder.token("margin", bare) if self.bare else margin(self.builder))
        reasoning = self._reasoning(state, takes_space=False)
        behind = EMPTY if self._closed_by_next_line() and state != "closed" else space
        if reasoning == EMPTY or state == "open":
            return seq(reasoning, behind, rest)
        assert isinstance(reasoning, Rep)
        before: Expr = reasoning.item
        if self._closes_what_was_not_opened():
            before = alt(before, self._reasoning_closer())
        return seq(space, opt(seq(before, behind)), rest)

    def _reasoning(self, state: str, *, takes_space: bool) -> Expr:
        """Reasoning, if it may come; `takes_space` takes the whitespace before it."""
        reasoning = self.analysis.reasoning
        none = reasoning.mode is ReasoningMode.NONE or not reasoning.end
        if none or state == "closed":
            return EMPTY
        if state == "open":
            return self._reasoning_block("")
        return opt(self._reasoning_block(reasoning.start, takes_space=takes_space))

    def _reasoning_closer(self) -> Ref:
        reasoning, headers = self.analysis.reasoning, self.analysis.headers
        closer: Expr = Lit(core(reasoning.end) or reasoning.end)
        if headers is not None:
            # The next message repeats the header, and no word in it says what follows.
            exact = core(reasoning.end) + core(headers.start)
            spaced = exact not in self.analysis.joints.get("reasoning_to_content", exact)
            closer = seq(closer, opt(margin(self.builder)) if spaced else "", core(headers.start))
        return self.builder.token("reasoning-close", closer)

    def _reasoning_block(self, start: str, *, takes_space: bool = False) -> Ref:
        reasoning = self.analysis.reasoning
        closes = self._reasoning_closer()
        stops: list[str | Stop] = [core(reasoning.end)]
        if self._closed_by_next_line():
            openers = [core(self.analysis.content.start), *map(str, self._call_openers())]
            stops = [reasoning.end + opener for opener in openers]
        elif self._wrapped():
            stops.append(core(self.analysis.content.start))
        inner = self.builder.token("reasoning-text", text(*stops))
        block = seq(inner, closes)
        if start:
            space = margin(self.builder) if takes_space else None
            block = seq(marker_token(self.builder, "reasoning-open", start, space), block)
        return self.builder.rule("reasoning", block, capture="reasoning")

    def _content_and_calls(self) -> Expr:
        calls = self.calls() if self.has_calls else None
        if self.bare:
            bare = self._bare_content()
            if calls is None:
                return opt(bare)
            opener = core(self.analysis.content.beside_call_start)
            if opener and self.call_rules.tools is not None:
                self.builder.warn(
                    f"a call behind {opener!r} is content for the grammar, which binds it to no schema."
                )
            # A line end before calls belongs to the content's token.
            beside = "\n" in self.analysis.joints.get("content_to_call", "")
            return opt(alt(seq(bare, opt(calls)) if beside else bare, calls))
        content: Expr = self._content_text()
        if self._wrapped():
            block = seq(self._block(content), self._behind_block(calls))
            return seq(content, opt(alt(block, *([calls] if calls else []))))
        if self.analysis.capabilities.several_reasoning_blocks:
            again = self._reasoning_block(self.analysis.reasoning.start)
            return seq(content, many(seq(again, content)), opt(calls) if calls else EMPTY)
        if self._reasoning_behind_content():
            behind = self._reasoning_block(self.analysis.reasoning.start)
            content = seq(content, opt(seq(behind, content)))
        if calls is None:
            return content
        if not self.analysis.content.beside_call_start:
            return seq(content, opt(calls))
        return seq(content, opt(alt(calls, self._aside_and(calls))))

    def _wrapped_content_and_calls(self) -> Expr:
        """Content between its markers, calls, or both."""
        calls = self.calls() if self.has_calls else None
        content = self._content_text()
        block = seq(self._block(content), self._behind_block(calls))
        if calls is None:
            return block
        choices: list[Expr] = [block]
        if self.analysis.content.beside_call_start:
            choices.append(self._aside_and(calls))
        return alt(*choices, calls)

    def _behind_block(self, calls: Ref | None) -> Expr:
        """What follows content's closer: calls, or the whitespace that is written before the end."""
        content, glue = self.analysis.content, self.analysis.joints.get("content_to_end", "")
        rest = glue.partition(core(content.end))[2] if core(content.end) else ""
        space = opt(margin(self.builder))
        if rest[:1].isspace() and rest.strip():
            return space if calls is None else seq(space, opt(calls))
        return EMPTY if calls is None else opt(seq(space, calls))

    def _aside_and(self, calls: Ref) -> Expr:
        """Content with the markers that it has only beside a call, and calls."""
        body = text(core(self.analysis.content.beside_call_end), *self._content_stops())
        inner = self.builder.token("aside-text", body, capture="content")
        return seq(self._aside(inner), opt(margin(self.builder)), calls)

    def _aside(self, inner: Expr) -> Ref:
        """The markers that content has only beside a call, with what is between them."""
        wrapper = self.analysis.content
        opens = marker_token(self.builder, "aside-open", wrapper.beside_call_start)
        closes = marker_token(self.builder, "aside-close", wrapper.beside_call_end)
        return self.builder.rule("aside", seq(opens, inner, closes))

    def _json_content_and_calls(self) -> Expr:
        content = self._json_content()
        choices: list[Expr] = []
        if self._wrapped():
            choices.append(seq(self._block(content), self._behind_block(None)))
        if not self._wrapped() or self.analysis.content.mode is ContentMode.WRAPPED_WITH_REASONING:
            glue = self.analysis.joints.get("content_to_end", "")
            written = glue[:1].isspace() and bool(glue.strip())
            choices.append(seq(content, opt(margin(self.builder)) if written else EMPTY))
        if self.has_calls:
            choices.append(self._required_calls())
        return alt(*choices)

    def _json_content(self) -> Ref:
        stops = text(*self._content_stops()).stops
        # Rules of its own, since in the strings of arguments markers are data.
        syntax = Syntax(self.builder, string_stops=stops, prefix="content-")
        rules = SchemaRules(self.builder, syntax, self.schema, "content")
        body = rules.value(self.schema, "content-value")
        return self.builder.rule("content", body, capture="content")

    def _block(self, inner: Expr) -> Ref:
        """Content with its markers."""
        content = self.analysis.content
        block = seq(marker_token(self.builder, "content-open", content.start), inner)
        if core(content.end):
            block = seq(block, marker_token(self.builder, "content-close", content.end))
        return self.builder.rule("content-block", block)

    def _content_text(self) -> Ref:
        body = text(*self._content_stops())
        return self.builder.token("content", body, capture="content")

    def _bare_content(self) -> Expr:
        """Text of which no line begins like a call without any marker."""
        stops: list[Stop] = [("\n", "[" if self.format.tools_array_wrapped else "{")]
        if core(self.format.optional_start):  # a parser takes it for a call's beginning anywhere
            stops.append((core(self.format.optional_start),))
        return self.builder.token("content", Lines(tuple(stops)), capture="content")

    def _after_calls(self) -> AfterCalls:
        """What the chat template writes behind calls."""
        content: Expr | None = None
        if self._content_after_calls():
            content = opt(self._bare_content()) if self.bare else self._content_text()
        return AfterCalls(content, self.analysis.end_of_turn_after_calls)

    # ---- facts ----

    def _wrapped(self) -> bool:
        content = self.analysis.content
        return content.mode is not ContentMode.PLAIN and bool(core(content.start))

    def _content_after_calls(self) -> bool:
        """Whether content may stand behind a call.

        Not where it could be taken for its last value, nor right behind a call without a marker.
        """
        written = "call_to_content" in self.analysis.joints
        closed = not self.bare or self.format.tools_array_wrapped
        simple = not self._wrapped() and closed and not self.call_rules.arguments.raw
        return self.has_calls and written and simple

    def _reasoning_behind_content(self) -> bool:
        """Whether history shows reasoning behind content, where a parser leaves it in the content."""
        return "content_to_reasoning" in self.analysis.joints

    def _closes_what_was_not_opened(self) -> bool:
        """Whether history without reasoning begins with its closer, though no prompt need open it."""
        end = core(self.analysis.reasoning.end)
        glues = (self.analysis.joints.get(f"prompt_to_{part}", "") for part in ("content", "call"))
        return bool(end) and any(glue.lstrip().startswith(end) for glue in glues)

    def _closed_by_next_line(self) -> bool:
        """Whether a line that begins with the opener of content or of a call closes reasoning."""
        reasoning = self.analysis.reasoning
        return bool(reasoning.end) and not core(reasoning.end)

    def _may_be_plain(self) -> bool:
        content = self.analysis.content
        return content.mode is ContentMode.WRAPPED_WITH_REASONING or content.plain_beside_calls

    def _call_openers(self) -> Sequence[str | Stop]:
        """Every marker that a call could begin with, some of them in a section only.

        A parser takes them all for a call's beginning, so content holds none of them.
        """
        if is_named_tag(self.analysis.tools) and not core(self.format.section_start):
            return self.call_rules.named_tags()
        prefix = core(self.analysis.tools.function.name_prefix)
        words = all(char.isalnum() or char in "._:- " for char in prefix)
        if words and not self._closed_by_next_line():
            prefix = ""  # plain words, which prose holds too
        texts = (self.format.section_start, self.format.per_call_start, prefix)
        openers = [single_markers(text)[0] for text in texts if core(text)]
        if core(self.format.section_start):
            openers[1:] = [opener for opener in openers[1:] if says_call(opener)]
        return [opener for opener in openers if opener not in openers[0][:-1]]

    def _content_stops(self) -> list[str | Stop]:
        if has_messages(self.analysis):
            return [*message_stops(self.analysis)]
        stops: list[str | Stop] = []
        if self.analysis.reasoning.mode is not ReasoningMode.NONE:
            stops.append(core(self.analysis.reasoning.start))
        if self._wrapped():
            stops += [core(self.analysis.content.start), core(self.analysis.content.end)]
        stops.append(core(self.analysis.content.beside_call_start))
        if self.renders_calls:
            stops += [core(self.format.optional_start), *self._call_openers()]
        if self._content_after_calls():
            stops.append(core(self.analysis.end_of_turn_after_calls))
        return stops
