"""Turns made of several messages, each with a header whose words say what it is."""

from __future__ import annotations

import re

from autoparser_gen.analysis.conventions import CONSTRAIN
from autoparser_gen.analysis.model import Analysis, Headers
from autoparser_gen.errors import RequestError
from autoparser_gen.grammar.calls import CallRules
from autoparser_gen.grammar.ir import EMPTY, Builder, Expr, Lit, Ref, alt, many, opt, seq, text
from autoparser_gen.grammar.markup import (
    Kind,
    Marker,
    Part,
    before_headers,
    core,
    is_space_between,
    marker_token,
    markup,
)
from autoparser_gen.grammar.request import Tool
from autoparser_gen.grammar.syntax import GAP, NAME_CHAR, margin
from autoparser_gen.grammar.words import other_than


class Messages:
    """Builds the rules of such a turn; it begins inside the header of its first message."""

    def __init__(
        self,
        builder: Builder,
        analysis: Analysis,
        calls: CallRules | None,
        content: Expr | None = None,
    ) -> None:
        """`calls` None is a turn without calls; `content` is in place of any text."""
        assert analysis.headers is not None
        self.builder = builder
        self.analysis = analysis
        self.headers: Headers = analysis.headers
        self.call_rules = calls
        self.json_content = content

    def whole(self, *, calls_required: bool) -> Expr:
        """Reasoning, then words before a call, then content or calls."""
        headers = self.headers
        before: list[Expr] = []
        for word, name in ((headers.reasoning, "reasoning"), (headers.preamble, "preamble")):
            if word and not (name == "preamble" and calls_required):
                before.append(self._message(name, word))
        last: list[Expr] = []
        if (headers.content or headers.content_has_no_word) and not calls_required:
            last.append(self._last_content())
        if self.call_rules is not None:
            last.append(self.calls())
        return seq(many(seq(alt(*before), self._next())) if before else EMPTY, alt(*last))

    def calls(self, *, lazy: bool = False) -> Ref:
        """Calls, each a message of its own; the first from the trigger on, if `lazy`."""
        rules = self.call_rules
        assert rules is not None
        if lazy and self.headers.content_has_no_word:
            raise RequestError(
                "no marker begins the first call in this format, so that nothing triggers a lazy"
                " grammar. Ask for one that is not lazy."
            )
        call = self._call(rules) if rules.parallel or not lazy else EMPTY
        more = many(seq(self._next(), call)) if rules.parallel else EMPTY
        if lazy:
            call = self._call(rules, lazy=True)
        after = self.analysis.end_of_turn_after_calls
        end = opt(marker_token(self.builder, "calls-end", after)) if core(after) else EMPTY
        return self.builder.rule("tool-calls", seq(call, more, end))

    # ---- messages ----

    def _message(self, name: str, word: str) -> Ref:
        opens = self.builder.token(f"{name}-header", self._header(word))
        capture = "reasoning" if name == "reasoning" else "content"
        inner = self.builder.token(f"{name}-text", self._text(), capture=capture)
        return self.builder.rule(name, seq(opens, inner))

    def _last_content(self) -> Expr:
        """Content, behind which the turn ends; where no marker ends it a call may follow."""
        opens = self.builder.token("content-header", self._header(self.headers.content))
        inner = self.json_content or self.builder.token("content", self._text(), capture="content")
        content = self.builder.rule("content-message", seq(opens, inner))
        before_call = self.analysis.joints.get("content_to_call", "")
        goes_on = not self.headers.preamble and core(self.headers.start) in before_call
        if self.call_rules is None or (core(self.headers.message_end) and not goes_on):
            return content
        return seq(content, opt(seq(self._next(), self.calls())))

    def _text(self) -> Expr:
        return text(*message_stops(self.analysis))

    def _header(self, word: str) -> Expr:
        """The rest of a header, from where the generation prompt leaves off."""
        headers = self.headers
        before = self._not_held(headers.channel or headers.recipient)
        return seq(_optional_space(before), core(before), word, headers.end)

    def _next(self) -> Expr:
        """What ends a message and begins the next one."""
        end, start = core(self.headers.message_end), core(self.headers.start)
        before = before_headers(self.analysis)
        spaced = any(end and glue != glue.rstrip() and core(glue).endswith(end) for glue in before)
        first = opt(margin(self.builder)) if is_space_between(self.analysis) else EMPTY
        held = self._held()
        rest = seq(opt(margin(self.builder)), held) if held else EMPTY
        parts = (first, end, opt(GAP) if spaced else EMPTY, start, rest)
        return self.builder.token("next-message", seq(*parts))

    def _held(self) -> str:
        """What the generation prompt holds of the first message's header, behind what begins it."""
        start = core(self.headers.start)
        return core(self.analysis.generation_prompts.default.rpartition(start)[2])

    def _not_held(self, marker: str) -> str:
        """A header's first marker, or "" where the prompt or what begins a message holds it."""
        return "" if core(marker) == self._held() else marker

    # ---- calls ----

    def _call(self, rules: CallRules, *, lazy: bool = False) -> Ref:
        """A message to a tool: its name is in the header, the arguments are the message."""
        rule = "triggered-call" if lazy else "tool-call"
        if rules.tools is None:
            words = (self.headers.reasoning, self.headers.content, self.headers.preamble)
            any_name = other_than([word for word in words if word], NAME_CHAR)
            name = self.builder.token("name", any_name, capture="name")
            return self.builder.rule(rule, self._one_call(rules, name, None, lazy), capture="call")
        choices = [
            self.builder.rule(
                f"{tool.slug}-{rule.removeprefix('tool-')}",
                self._one_call(rules, Lit(tool.name), tool, lazy),
            )
            for tool in rules.tools
        ]
        return self.builder.rule(rule, alt(*choices), capture="call")

    def _one_call(self, rules: CallRules, name: Expr, tool: Tool | None, lazy: bool) -> Expr:
        header = self._triggered_header(name, tool) if lazy else self._call_header(name, tool)
        format_ = rules.format
        if self._behind_header():
            parts: list[Marker | Part] = [
                Marker("tool-call-open", format_.section_start + format_.per_call_start),
                Part(rules.tagged_call(tool), Kind.MARKER),
                Marker("tool-call-close", format_.per_call_end + format_.section_end),
            ]
            return seq(header, markup(self.builder, parts, rules.space, Kind.MARKER))
        close = Marker("function-close", self.analysis.tools.function.close)
        arguments = rules.arguments.parts(tool)
        return seq(header, opt(rules.space), markup(self.builder, [*arguments, close], rules.space))

    def _behind_header(self) -> str:
        """The part of a call's opener that stands in the message itself."""
        tools, headers = self.analysis.tools, self.headers
        opener = tools.format.section_start + tools.format.per_call_start
        opener = core(opener + tools.function.name_prefix)
        for part in (headers.start, headers.recipient, headers.namespace):
            opener = opener.removeprefix(core(part)).lstrip()
        return opener

    def _call_header(self, name: Expr, tool: Tool | None) -> Expr:
        """The header of a call, in the order of history and in that of generations."""
        headers = self.headers
        before = self._not_held(headers.recipient)
        recipient = seq(_optional_space(before), core(before), headers.namespace, name)
        if not headers.channel and (core(headers.recipient) or isinstance(name, Ref)):
            # With its end, so that a lexer does not take part of another header for a name; whole,
            # since one that never goes back has to read all headers side by side.
            header = seq(recipient, self._header_end())
            return self.builder.token("call-header", header, capture="name")
        if not headers.channel or not headers.preamble:
            return seq(recipient, self._header_end())
        channel = seq(core(headers.channel), headers.preamble)
        either = alt(seq(recipient, channel), seq(channel, recipient))
        if tool is not None:
            either = self.builder.token(f"{tool.slug}-header", either)
        return seq(either, self._header_end())

    def _triggered_header(self, name: Expr, tool: Tool | None) -> Expr:
        """What of a call's header stands behind the trigger of a lazy grammar, and the trigger."""
        headers = self.headers
        if self._behind_header():
            return EMPTY
        if not core(headers.recipient):
            return seq(core(headers.start), self._call_header(name, tool))
        channel = seq(core(headers.channel), headers.preamble)
        recipient = seq(core(headers.recipient), headers.namespace, name)
        return seq(recipient, opt(channel), self._header_end())

    def _header_end(self) -> Ref:
        word = core(self.headers.content_type)
        kinds: Expr = EMPTY
        if word:
            marked = seq(opt(" "), CONSTRAIN, opt(" "), word)
            kinds = opt(alt(seq(" ", word), marked))
        return self.builder.token("header-end", seq(kinds, self.headers.end))


def message_stops(analysis: Analysis) -> tuple[str, str]:
    """What ends a message: its end, and what begins another, without the word for the role behind it."""
    headers = analysis.headers
    assert headers is not None
    start = core(headers.start)
    found = re.fullmatch(r"(.*\W)\w+", start, re.DOTALL)
    return core(headers.message_end), core(found[1]) if found else start


def _optional_space(marker: str) -> Expr:
    return opt(" ") if marker != marker.lstrip() else EMPTY
