"""Tool calls as grammar: markers from the analysis, names and arguments between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autoparser_gen.analysis.model import (
    CALL_NUMBER,
    SAME_NAME,
    Analysis,
    CallIdPosition,
    ToolMode,
)
from autoparser_gen.grammar.arguments import ArgumentRules
from autoparser_gen.grammar.ir import (
    EMPTY,
    Builder,
    Expr,
    Lit,
    Ref,
    Rep,
    Stop,
    Word,
    alt,
    chars,
    many,
    opt,
    seq,
)
from autoparser_gen.grammar.markup import (
    Kind,
    Marker,
    Part,
    are_one,
    core,
    has_messages,
    marker_token,
    markup,
    repeating,
    single_markers,
)
from autoparser_gen.grammar.order import Member, arrange
from autoparser_gen.grammar.python_calls import PythonCallRules
from autoparser_gen.grammar.readable import TOOL_NAME, require_readable, require_short
from autoparser_gen.grammar.request import Tool
from autoparser_gen.grammar.syntax import NAME, NAME_CHAR, Syntax
from autoparser_gen.grammar.value_ends import without_longer

# The number of a call, in an id or in a marker.
NUMBER = Rep(chars("0-9"), 1, 4)
_NINE = Rep(chars("a-zA-Z0-9"), 9, 9)


@dataclass(frozen=True)
class AfterCalls:
    """What may follow calls: content, if the chat template writes any there, and an end marker."""

    content: Expr | None = None
    end: str = ""


class CallRules:
    """Builds the rules of one format's tool calls."""

    def __init__(
        self, builder: Builder, analysis: Analysis, tools: list[Tool] | None, *, parallel: bool
    ) -> None:
        """`tools` None is any tool; `parallel` allows more than one call.

        Raises RequestError for a tool whose name no parser would read.
        """
        self.builder = builder
        self.analysis = analysis
        self.format = analysis.tools.format
        self.tools = tools
        self.parallel = parallel
        self.json = Syntax(builder)
        self.arguments = ArgumentRules(builder, analysis)
        self.space = self.arguments.space
        if self.format.mode is not ToolMode.JSON_NATIVE:
            for tool in tools or ():
                require_readable("the tool", tool.name, TOOL_NAME)
                if has_messages(analysis):
                    require_short("the tool", tool.name)

    def rule(self, after: AfterCalls) -> Ref:
        """All calls of a response, with the markers of their section and what follows them."""
        call = self.builder.rule("tool-call", self._tool_call(), capture="call")
        kind = Kind.DATA if self.format.tools_array_wrapped else Kind.MARKER
        if core(self.format.per_call_start) == "":
            kind = self._begins()
        parts = (
            self._opener("tool-calls-open", self.format.section_start),
            Part(self._all(call, after), kind, self._ends()),
            Marker("tool-calls-close", self.format.section_end),
        )
        closed = core(self.format.section_end)
        behind = (after.content or opt(self.space)) if closed else EMPTY
        end = opt(marker_token(self.builder, "calls-end", after.end)) if core(after.end) else EMPTY
        calls = markup(self.builder, parts, self.space)
        return self.builder.rule("tool-calls", seq(calls, behind, end))

    def _all(self, call: Ref, after: AfterCalls) -> Expr:
        """The calls with what stands between them."""
        closed = core(self.format.section_end)
        space = opt(self.space)
        behind = EMPTY if closed else space
        in_section = core(self.format.section_start) and self._leads_with_marker()
        if self.format.tools_array_wrapped:
            calls = seq(call, many(seq(self.json.comma(), call))) if self.parallel else call
            return seq(self.json.bracketed(calls), EMPTY if closed else after.content or space)
        separator = core(self.format.call_separator)
        if separator and self.parallel:
            between = self.json.punctuation("call-separator", separator, before=True, after=True)
            return seq(call, many(seq(between, call)), behind)
        if closed or in_section:
            before = EMPTY if in_section else space  # the call's own marker takes it
            calls = seq(call, many(seq(before, call))) if self.parallel else call
            return seq(calls, behind)
        # The whitespace after the last call is here, since a parser with one token of look-ahead
        # cannot know whether a further call follows it.
        call_and_more = seq(call, after.content or space)
        return many(call_and_more, 1) if self.parallel else call_and_more

    def _tool_call(self) -> Expr:
        """One call with its own markers, of any tool."""
        if self.format.mode is ToolMode.JSON_NATIVE:
            one_of: Expr = self._object()
        else:
            one_of = self._call(None) if self.tools is None else self._one_of(self.tools)
        opener, closer = self.format.per_call_start, self.format.per_call_end
        if self.format.mode is ToolMode.PYTHON_CALLS:  # what stands around the parentheses
            function = self.analysis.tools.function
            opener += function.name_prefix
            closer = (function.close + closer).lstrip().removeprefix(")")
        parts: list[Marker | Part] = [
            self._opener("tool-call-open", opener),
            Part(one_of, self._begins(), self._ends()),
            Marker("tool-call-close", closer),
        ]
        if self.format.mode is ToolMode.JSON_NATIVE:
            place = self.analysis.tools.call_id.pos
            if place is CallIdPosition.PRE_FUNC_NAME:
                parts[1:1] = self._id_parts()
            elif place is CallIdPosition.POST_ARGS:
                parts[2:2] = self._id_parts()
        inside = Kind.MARKER if core(self.format.section_start) else Kind.RAW
        return markup(self.builder, parts, self.space, inside)

    def _one_of(self, tools: list[Tool]) -> Expr:
        """A call of one of the tools; of several a rule, whose end ends them all for a parser."""
        calls = alt(*map(self._call, tools))
        return self.builder.rule("call", calls) if len(tools) > 1 else calls

    def _opener(self, name: str, text: str) -> Marker:
        """A marker that opens calls; behind an end of turn only what it is exactly tells it apart."""
        ends_turn = single_markers(text)[:1] == [core(self.analysis.end_of_turn)]
        return Marker(name, text, whole=ends_turn)

    def _leads_with_marker(self) -> bool:
        """Whether a call begins with a marker."""
        return bool(core(self.format.per_call_start)) or self._begins() is Kind.MARKER

    def _call(self, tool: Tool | None) -> Expr:
        """One call without the markers that all calls share."""
        if self.format.mode is ToolMode.PYTHON_CALLS:
            body = PythonCallRules(self.builder, self.analysis).call(tool)
        else:
            body = self.tagged_call(tool)
            if tool is None:
                return body
        return self.builder.rule(f"{tool.slug}-call" if tool else "call", body)

    def _begins(self) -> Kind:
        """What a call shows at its beginning, behind its own marker."""
        if self.format.mode in (ToolMode.JSON_NATIVE, ToolMode.PYTHON_CALLS):
            return Kind.DATA
        call_id = self.analysis.tools.call_id
        first = self.analysis.tools.function.name_prefix
        if call_id.pos is CallIdPosition.PRE_FUNC_NAME:
            first = call_id.prefix
        return Kind.MARKER if core(first) else Kind.NAME

    def _ends(self) -> Kind:
        """What a call shows at its end, before its own marker."""
        if self.format.mode in (ToolMode.JSON_NATIVE, ToolMode.PYTHON_CALLS):
            return Kind.DATA
        if self.format.mode is not ToolMode.TAG_WITH_TAGGED:
            closed = core(self.analysis.tools.function.close)
            return Kind.MARKER if closed else Kind.DATA
        return Kind.MARKER

    # ---- the whole call is JSON ----

    def _object(self) -> Ref:
        """The object of a call; what the calls of all tools have in common is written once."""
        format_ = self.format
        members = self._named("members" if format_.function_field else "call-members")
        others: list[Ref] = []
        if format_.id_field or format_.gen_id_field:
            others.append(self._id_member())
        if format_.function_field:
            if format_.id_in_function:
                members = self._beside(self._as_rule("members", members), others)
                others = []
            function = self.builder.rule("function", self.json.braced(members))
            members = seq(self._field("function", format_.function_field), function)
        if fixed := self._fixed():
            others.append(fixed)
        if others:
            members = self._beside(self._as_rule("call-members", members), others)
        return self.builder.rule("call", self.json.braced(members))

    def _as_rule(self, name: str, expr: Expr) -> Ref:
        """What is used several times."""
        return expr if isinstance(expr, Ref) else self.builder.rule(name, expr)

    def _named(self, name: str) -> Expr:
        """Name and arguments of any tool, or of one of the tools: of several a rule of that name."""
        if self.tools is None:
            return self._members(None)
        choices = [
            self.builder.rule(f"{tool.slug}-members", self._members(tool)) for tool in self.tools
        ]
        return self.builder.rule(name, alt(*choices)) if len(choices) > 1 else choices[0]

    def _members(self, tool: Tool | None) -> Expr:
        """Name and arguments, and the id where it stands between them."""
        format_ = self.format
        if format_.fun_name_is_key:
            return seq(self._quoted_name(tool), self.json.colon(), self.arguments.object(tool))
        name = seq(self._field("name", format_.name_field), self._quoted_name(tool))
        arguments = seq(self._field("arguments", format_.args_field), self.arguments.object(tool))
        comma = self.json.comma()
        members = seq(name, comma, arguments)
        if tool is None:
            members = alt(members, seq(arguments, comma, name))
        if format_.id_between:
            members = alt(members, seq(name, comma, self._id_member(), comma, arguments))
        return members

    def _beside(self, members: Ref, others: Sequence[Ref]) -> Expr:
        """The members of an object with others that may be missing, in any order."""
        each = [*(Member(other, False) for other in others), Member(members, True)]
        return arrange(self.builder, "call", each, comma=self.json.comma())

    def _id_member(self) -> Ref:
        nine = self.json.string_of("quoted-id", _NINE) if self._wants_nine() else None
        written = self.json.integer() if self.format.gen_id_is_number else self.json.string()
        value = self.builder.rule("id", nine or written, capture="id")
        field = self._field("id", self.format.id_field or self.format.gen_id_field)
        return self.builder.rule("id-member", seq(field, value))

    def _fixed(self) -> Ref | None:
        """The members that are the same in every call."""
        fields = self.format.fixed_fields
        if self.format.function_field and not fields:  # as in OpenAI's whole object
            fields = (("type", '"function"'),)
        if not fields:
            return None
        members = [seq(self.json.key(key), value) for key, value in fields]
        return self.builder.rule("fixed-members", self.json.joined(members))

    def _quoted_name(self, tool: Tool | None) -> Expr:
        return self.json.string_literal(tool.name) if tool else self.json.name_string()

    def _field(self, name: str, key: str) -> Ref:
        return self.builder.token(f"{name}-field", self.json.key(key))

    # ---- the call is markup ----

    def tagged_call(self, tool: Tool | None) -> Expr:
        """A call in markup, without the markers that all calls share."""
        tools = self.analysis.tools
        place = tools.call_id.pos
        call_id = () if place is CallIdPosition.CARRIES_NAME else self._id_parts()
        parts: list[Marker | Part] = []
        if place is CallIdPosition.PRE_FUNC_NAME:
            parts += call_id
        parts.append(Marker("function-open", tools.function.name_prefix))
        parts += self._name_parts(tool)
        if place is CallIdPosition.BETWEEN_FUNC_AND_ARGS:
            parts += call_id
        parts += self.arguments.parts(tool)
        if place is CallIdPosition.POST_ARGS:
            parts += call_id
        name = Lit(tool.name) if tool else Ref("name")
        parts += self._repeating("function-close", tools.function.close, name)
        opened = core(self.format.per_call_start) or core(self.format.section_start)
        first = next(part for part in parts if isinstance(part, Part) or part.text)
        if isinstance(first, Marker) and are_one(self.format.per_call_start, first.text):
            opened = ""
        return markup(self.builder, parts, self.space, Kind.MARKER if opened else Kind.RAW)

    def _name_parts(self, tool: Tool | None) -> list[Marker | Part]:
        """The name and what ends it; the name may stand there a second time."""
        function, call_id = self.analysis.tools.function, self.analysis.tools.call_id
        name: Expr = Lit(tool.name) if tool else self.builder.token("name", NAME, capture="name")
        if call_id.pos is CallIdPosition.CARRIES_NAME:
            # Models leave prefix and number out, which a grammar need not let them do.
            rule = f"{tool.slug}-id" if tool else "id"
            parts = seq(call_id.prefix, name, call_id.suffix, self._number())
            name = self.builder.rule(rule, parts, capture="id")
        suffix = self._repeating("name-close", function.name_suffix, name)
        return [Part(name, Kind.NAME), *suffix]

    def named_tags(self) -> list[Stop]:
        """What begins a call that no marker begins: a name in brackets, and what follows it."""
        function, arguments = self.analysis.tools.function, self.analysis.tools.arguments
        tagged = self.format.mode is ToolMode.TAG_WITH_TAGGED
        inner = core(arguments.start) or (core(arguments.name_prefix) if tagged else "{")
        follows = [inner, core(function.close).partition(SAME_NAME)[0]]
        names: list[str | Word] = [tool.name for tool in self.tools or ()]
        return list(
            without_longer(
                (core(function.name_prefix), name, core(function.name_suffix), text)
                for name in names or [Word(NAME_CHAR)]
                for text in follows[: 1 + tagged]
            )
        )

    def _repeating(self, marker: str, text: str, name: Expr) -> list[Marker | Part]:
        """A marker that may repeat the function's name or hold the number of the call."""
        found = {SAME_NAME: name}
        if CALL_NUMBER in text:
            found[CALL_NUMBER] = self._number()
        return repeating(marker, text, found)

    def _number(self) -> Ref:
        return self.builder.token("index", NUMBER)

    def _id_parts(self) -> tuple[Marker | Part, ...]:
        call_id = self.analysis.tools.call_id
        return (
            Marker("id-open", call_id.prefix),
            Part(self._id(), Kind.NAME),
            Marker("id-close", call_id.suffix),
        )

    def _id(self) -> Ref:
        return self.builder.token("id", _NINE if self._wants_nine() else NAME, capture="id")

    def _wants_nine(self) -> bool:
        """Whether the chat template refuses history with any other id."""
        return self.analysis.capabilities.call_id_shape == "alphanumeric9"
