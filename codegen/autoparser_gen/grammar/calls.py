"""Tool calls as grammar: markers from the analysis, names and arguments between them."""

from __future__ import annotations

from autoparser_gen.analysis.model import Analysis, CallIdPosition, ToolMode
from autoparser_gen.grammar.arguments import ArgumentRules
from autoparser_gen.grammar.ir import Builder, Expr, Ref, Rep, alt, chars, many, opt, seq
from autoparser_gen.grammar.markup import Kind, Marker, Part, core, markup
from autoparser_gen.grammar.syntax import NAME, Syntax


class CallRules:
    """Builds the rules of one format's tool calls."""

    def __init__(self, builder: Builder, analysis: Analysis, *, parallel: bool) -> None:
        """`parallel` allows more than one call."""
        self.builder = builder
        self.analysis = analysis
        self.format = analysis.tools.format
        self.parallel = parallel
        self.json = Syntax(builder)
        self.arguments = ArgumentRules(builder, analysis)
        self.space = self.arguments.space

    def rule(self) -> Ref:
        """All calls of a response, with the markers of their section."""
        call = self.builder.rule("tool-call", self._tool_call(), capture="call")
        kind = Kind.DATA if self.format.tools_array_wrapped else Kind.MARKER
        if core(self.format.per_call_start) == "":
            kind = self._begins()
        parts = (
            Marker("tool-calls-open", self.format.section_start),
            Part(self._all(call), kind, self._ends()),
            Marker("tool-calls-close", self.format.section_end),
        )
        space = opt(self.space) if core(self.format.section_end) else seq()
        return self.builder.rule("tool-calls", seq(markup(self.builder, parts, self.space), space))

    def _all(self, call: Ref) -> Expr:
        """The calls with what stands between them."""
        if self.format.tools_array_wrapped:
            comma = self.json.comma()
            calls = seq(call, many(seq(comma, call))) if self.parallel else call
            closed = core(self.format.section_end)
            space = seq() if closed else opt(self.space)
            return seq(self.json.bracketed(calls), space)
        space = opt(self.space)
        closed = core(self.format.section_end)
        separator = core(self.format.call_separator)
        if separator and self.parallel:
            between = self.json.punctuation("call-separator", separator, before=True, after=True)
            return seq(call, many(seq(between, call)), seq() if closed else space)
        if closed:
            return seq(call, many(seq(space, call))) if self.parallel else call
        # The whitespace after the last call is here, since a parser with one token of look-ahead
        # cannot know whether a further call follows it.
        return many(seq(call, space), 1) if self.parallel else seq(call, space)

    def _tool_call(self) -> Expr:
        """One call with its own markers."""
        parts = (
            Marker("tool-call-open", self.format.per_call_start),
            Part(self._call(), self._begins(), self._ends()),
            Marker("tool-call-close", self.format.per_call_end),
        )
        return markup(self.builder, parts, self.space)

    def _call(self) -> Expr:
        if self.format.mode is ToolMode.JSON_NATIVE:
            return self._json_call()
        return self._tagged_call()

    def _begins(self) -> Kind:
        """What a call shows at its beginning, behind its own marker."""
        if self.format.mode is ToolMode.JSON_NATIVE:
            return Kind.DATA
        call_id = self.analysis.tools.call_id
        first = self.analysis.tools.function.name_prefix
        if call_id.pos is CallIdPosition.PRE_FUNC_NAME:
            first = call_id.prefix
        return Kind.MARKER if core(first) else Kind.NAME

    def _ends(self) -> Kind:
        """What a call shows at its end, before its own marker."""
        if self.format.mode in (ToolMode.JSON_NATIVE, ToolMode.TAG_WITH_JSON):
            closed = core(self.analysis.tools.function.close)
            return Kind.MARKER if closed else Kind.DATA
        return Kind.MARKER

    # ---- the whole call is JSON ----

    def _json_call(self) -> Expr:
        return self.builder.rule("call", self.json.braced(self._members()))

    def _members(self) -> Expr:
        format_ = self.format
        if format_.fun_name_is_key:
            return seq(self.json.name_string(), self.json.colon(), self.arguments.json())
        name = seq(self._field("name", format_.name_field), self.json.name_string())
        arguments = seq(self._field("arguments", format_.args_field), self.arguments.json())
        comma = self.json.comma()
        members = alt(seq(name, comma, arguments), seq(arguments, comma, name))
        if format_.function_field:
            # Some chat templates print OpenAI's whole object, of which only this part is read.
            kind = seq(self.json.key("type"), self.json.string_literal("function"), comma)
            field = self._field("function", format_.function_field)
            function = self.builder.rule("function", self.json.braced(members))
            members = seq(opt(kind), field, function)
        id_field = format_.id_field or format_.gen_id_field
        if not id_field:
            return members
        value = self.builder.rule("id", self.json.string(), capture="id")
        id_ = self.builder.rule("id-member", seq(self._field("id", id_field), value))
        both = self.builder.rule("call-members", members)
        return alt(seq(id_, comma, both), seq(both, opt(seq(comma, id_))))

    def _field(self, name: str, key: str) -> Ref:
        return self.builder.token(f"{name}-field", self.json.key(key))

    # ---- the call is markup ----

    def _tagged_call(self) -> Expr:
        tools = self.analysis.tools
        call_id = (
            Marker("id-open", tools.call_id.prefix),
            Part(self._id(), Kind.NAME),
            Marker("id-close", tools.call_id.suffix),
        )
        place = tools.call_id.pos
        parts: list[Marker | Part] = []
        if place is CallIdPosition.PRE_FUNC_NAME:
            parts += call_id
        parts.append(Marker("function-open", tools.function.name_prefix))
        parts += self._name_parts()
        if place is CallIdPosition.BETWEEN_FUNC_AND_ARGS:
            parts += call_id
        parts += self.arguments.parts()
        if place is CallIdPosition.POST_ARGS:
            parts += call_id
        parts.append(Marker("function-close", tools.function.close))
        opened = core(self.format.per_call_start) or core(self.format.section_start)
        return markup(self.builder, parts, self.space, Kind.MARKER if opened else Kind.RAW)

    def _name_parts(self) -> list[Marker | Part]:
        """The name and what ends it; the name may stand there a second time."""
        tools = self.analysis.tools
        name = self.builder.token("name", NAME, capture="name")
        if tools.call_id.pos is CallIdPosition.CARRIES_NAME:
            # Models count calls, and leave the prefix out: both are written, neither is needed.
            name_and_number = seq(
                tools.call_id.prefix, name, tools.call_id.suffix, Rep(chars("0-9"), 1, 4)
            )
            name = self.builder.rule("id", name_and_number, capture="id")
        parts: list[Marker | Part] = [Part(name, Kind.NAME)]
        first, *again = tools.function.name_suffix.split("{name}")
        parts.append(Marker("name-close", first))
        for text in again if tools.function.repeats_name else []:
            parts += [Part(name, Kind.NAME), Marker("name-close", text)]
        return parts

    def _id(self) -> Ref:
        shape = self.analysis.capabilities.call_id_shape
        letters = chars("a-zA-Z0-9")
        body = Rep(letters, 9, 9) if shape == "alphanumeric9" else NAME
        return self.builder.token("id", body, capture="id")
