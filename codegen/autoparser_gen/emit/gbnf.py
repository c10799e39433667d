"""The GBNF grammar, for constrained decoding in llama.cpp and others that read its notation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autoparser_gen.analysis.as_json import json_text, triggers
from autoparser_gen.analysis.model import Analysis
from autoparser_gen.grammar.ir import (
    TEXTS,
    Alt,
    CharClass,
    Expr,
    Lines,
    Lit,
    Ref,
    Rep,
    ResponseGrammar,
    Rule,
    Seq,
    Stop,
    StringText,
    Text,
    Thru,
    Word,
    merged,
    repetition,
    show_stop,
)
from autoparser_gen.grammar.until import (
    Automaton,
    StringAutomaton,
    automaton_of,
    string_automaton_of,
)
from autoparser_gen.grammar.words import spelled_out

_GBNF_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}

_AUTOMATA = """\
# Text until a marker, one rule for each thing that may have been read of the markers so far.
# Such text holds no marker as a whole: a grammar cannot look ahead, so it counts characters."""


def emit(analysis: Analysis, grammar: ResponseGrammar, header: Sequence[str]) -> str:
    """The text of a `.gbnf` file; `header` is printed as comments."""
    printer = _GbnfPrinter(grammar)
    texts = [rule for rule in grammar.rules if isinstance(rule.body, TEXTS)]
    others = [rule for rule in grammar.rules if rule not in texts]
    blocks = [
        "\n".join(f"# {line}".rstrip() for line in [*header, *_sampling(analysis)]),
        "\n".join(printer.rule(rule) for rule in others if not rule.token),
        "\n".join(printer.rule(rule) for rule in others if rule.token),
    ]
    if texts:
        blocks.append(_AUTOMATA)
        blocks += ["\n".join(printer.automaton(rule)) for rule in texts]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _sampling(analysis: Analysis) -> list[str]:
    """What a server needs beside the grammar, as llama.cpp's takes it."""
    lines = []
    if triggers(analysis):
        lines.append(f"grammar_triggers (for a lazy grammar): {json_text(triggers(analysis))}")
    if analysis.preserved_tokens:
        lines.append(f"preserved_tokens: {json_text(list(analysis.preserved_tokens))}")
    return lines


class _GbnfPrinter:
    def __init__(self, grammar: ResponseGrammar) -> None:
        self.start = grammar.start

    def name(self, name: str) -> str:
        return "root" if name == self.start else name

    def rule(self, rule: Rule) -> str:
        return f"{self.name(rule.name)} ::= {self.expr(rule.body)}"

    def expr(self, expr: Expr, level: int = 0) -> str:
        """An expression. `level` 1 is inside a sequence, 2 under a repetition."""
        if isinstance(expr, Lit):
            return gbnf_string(expr.text)
        if isinstance(expr, CharClass):
            return gbnf_class(expr)
        if isinstance(expr, Seq):
            # A bare nothing would take the next line for its continuation.
            inner = " ".join(self.expr(item, 1) for item in expr.items) or '""'
            return f"({inner})" if level >= 2 else inner
        if isinstance(expr, Alt):
            inner = " | ".join(self.expr(item) for item in expr.items)
            return f"({inner})" if level else inner
        if isinstance(expr, Rep):
            return self.expr(expr.item, 2) + repetition(expr)
        if isinstance(expr, Ref):
            return self.name(expr.name)
        if isinstance(expr, Word):
            return self.expr(spelled_out(expr), level)
        raise TypeError(f"text until a marker must be a rule of its own: {expr}")

    def automaton(self, rule: Rule) -> list[str]:
        """The rules of a text until a marker, under a comment that says which."""
        assert isinstance(rule.body, TEXTS)
        stops = [stop for stop in rule.body.stops if stop[-1]]
        what = ", ".join(map(_printable_stop, stops)) or "the end"
        if isinstance(rule.body, Thru):
            what += f"; up to and with {_printable_stop(rule.body.end)}"
        kind, automaton, may_end = _reader(rule.body)
        lines = [f"# {rule.name}: text {kind} {what}"]
        if not stops:
            return [*lines, f"{rule.name} ::= [^\\x00]*"]
        names = {state: f"{rule.name}-s{at}" for at, state in enumerate(automaton.live)}
        names[automaton.start] = rule.name
        for state in automaton.live:
            choices = []
            for target, chars in automaton.edges(state).items():
                if target in names:
                    choices.append(f"{gbnf_class(chars)} {names[target]}")
                elif isinstance(rule.body, Thru) and rule.body.end in automaton.hits(target):
                    choices.append(gbnf_class(chars))
            if may_end(state):
                choices.append('""')
            lines.append(f"{names[state]} ::= {' | '.join(choices)}")
        return lines


def _reader(
    body: Text | Thru | StringText | Lines,
) -> tuple[str, Automaton | StringAutomaton, Callable[[int], bool]]:
    """What a text is, what reads it, and in which states it may end without a stop."""
    if isinstance(body, StringText):
        reader = string_automaton_of(body)
        kind = "Python" if body.is_python else "JSON"
        return f"of a {kind} string without", reader, reader.accepts
    if isinstance(body, Lines):
        return "of lines without", automaton_of(body.stops, "\n"), lambda state: True
    return "until", automaton_of(body.stops), lambda state: isinstance(body, Text)


def gbnf_string(text: str) -> str:
    """A string literal of GBNF."""
    return '"' + "".join('\\"' if char == '"' else _escape(char) for char in text) + '"'


def gbnf_class(expr: CharClass) -> str:
    """A class of characters; a hyphen stands last, where it needs no escape."""
    if not expr.ranges:
        return "."
    if not expr.negated and len(expr.ranges) == 1 and expr.ranges[0][0] == expr.ranges[0][1]:
        return gbnf_string(expr.ranges[0][0])
    ranges = merged(expr.ranges)
    inside = [
        _class_char(low) if low == high else f"{_class_char(low)}-{_class_char(high)}"
        for low, high in ranges
        if (low, high) != ("-", "-")
    ]
    hyphen = "-" if ("-", "-") in ranges else ""
    return f"[{'^' if expr.negated else ''}{''.join(inside)}{hyphen}]"


def _class_char(char: str) -> str:
    if char in "[]":
        return "\\" + char
    return "\\x5E" if char == "^" else "\\x2D" if char == "-" else _escape(char)


def _escape(char: str) -> str:
    if char in _GBNF_ESCAPES:
        return _GBNF_ESCAPES[char]
    if char == " " or char.isprintable():
        return char
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"


def _printable_stop(stop: Stop) -> str:
    return "".join(char if char.isprintable() else _escape(char) for char in show_stop(stop))
