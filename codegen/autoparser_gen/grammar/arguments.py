"""The arguments of a call: one JSON object, arguments in markup, or literals."""

from __future__ import annotations

from autoparser_gen.analysis.model import Analysis, ToolMode, ValueSyntax
from autoparser_gen.grammar.ir import Builder, Expr, Ref, Stop, Text, many, opt, seq
from autoparser_gen.grammar.markup import Kind, Marker, Part, core, markup
from autoparser_gen.grammar.syntax import KEY, Syntax, gap, whitespace


class ArgumentRules:
    """Builds the rules of what stands between a tool's name and the end of its call."""

    def __init__(self, builder: Builder, analysis: Analysis) -> None:
        """Rules are added to the builder when they are asked for."""
        self.builder = builder
        self.tools = analysis.tools
        self.marks = analysis.tools.arguments
        self.json_syntax = Syntax(builder)
        self.space = gap(builder) if self.raw else whitespace(builder)

    @property
    def raw(self) -> bool:
        """Whether values stand in markup as they are."""
        tagged = self.tools.format.mode is ToolMode.TAG_WITH_TAGGED
        return tagged and self.marks.value_syntax is not ValueSyntax.JSON

    def json(self) -> Ref:
        """One JSON object."""
        if self.tools.format.arguments_as_string:
            return self.builder.rule("arguments", self.json_syntax.string(), capture="arguments")
        return self.builder.rule("arguments", self.json_syntax.object(), capture="arguments")

    def parts(self) -> list[Marker | Part]:
        """Everything from the arguments' opening to their closing marker."""
        mode = self.tools.format.mode
        if mode is ToolMode.TAG_WITH_TAGGED:
            inner = Part(self._tagged(), Kind.MARKER)
        elif mode is ToolMode.TAG_WITH_LITERAL:
            literal = Syntax(self.builder, self.marks.literals or Syntax(self.builder).literals)
            body = self.builder.rule("arguments", literal.object(), capture="arguments")
            inner = Part(body, Kind.DATA)
        else:
            inner = Part(self.json(), Kind.DATA)
        return [
            Marker("arguments-open", self.marks.start),
            inner,
            Marker("arguments-close", self.marks.end),
        ]

    # ---- arguments in markup ----

    def _tagged(self) -> Expr:
        """Any number of arguments."""
        argument = self.builder.rule("argument", self._argument(), capture="")
        separator = core(self.marks.separator)
        if separator:
            between = self.json_syntax.punctuation(
                "argument-separator", separator, before=True, after=True
            )
            arguments = opt(seq(argument, many(seq(between, argument))))
        else:
            arguments = many(argument)
        return arguments

    def _argument(self) -> Expr:
        marks = self.marks
        parts: list[Marker | Part] = [
            Marker("argument-open", marks.name_prefix),
            Part(self.builder.token("argument-name", KEY, capture="argument name"), Kind.NAME),
            Marker("argument-name-close", marks.name_suffix),
        ]
        value = Part(self._raw_value(), Kind.RAW)
        if marks.value_syntax is ValueSyntax.JSON:
            json_value = self.builder.rule(
                "argument-value", self.json_syntax.value(), capture="argument value"
            )
            value = Part(json_value, Kind.DATA)
        parts += [
            Marker("value-open", marks.value_prefix),
            value,
            Marker("argument-close", marks.value_suffix),
        ]
        return markup(self.builder, parts, self.space, Kind.MARKER)

    def _raw_value(self) -> Ref:
        return self.builder.token(
            "argument-value", Text(self.value_stops()), capture="argument value"
        )

    def value_stops(self) -> tuple[Stop, ...]:
        """What ends a raw value: its closer, where the next argument or the call's end follows.

        Any other closer is part of the value. A call's end counts if the next call, the section's
        end or the end of the response follows.
        """
        tools, marks = self.tools, self.marks
        next_argument = (marks.value_suffix, marks.separator, marks.name_prefix)
        close = (marks.value_suffix, marks.end, tools.function.close, tools.format.per_call_end)
        next_call = (
            tools.format.call_separator,
            tools.format.per_call_start or tools.function.name_prefix,
        )
        stops = [_stop(*next_argument), _stop(*close, *next_call)]
        if core(tools.format.section_end):
            stops.append(_stop(*close, tools.format.section_end))
        else:
            stops.append((*_stop(*close), ""))
        return tuple(dict.fromkeys(stops))


def _stop(*texts: str) -> Stop:
    return tuple(filter(None, map(core, texts)))
