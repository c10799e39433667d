"""The Lark grammar: for a reader's eye and lark's LALR parser, or portable to other engines."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping, Sequence

from autoparser_gen.analysis.model import Analysis
from autoparser_gen.emit.regex import lines_token, printable_char, regex, text_token
from autoparser_gen.grammar.apart import apart
from autoparser_gen.grammar.fuse import fuse
from autoparser_gen.grammar.ir import (
    Alt,
    Expr,
    Lines,
    Lit,
    Ref,
    Rep,
    ResponseGrammar,
    Rule,
    Seq,
    Text,
    Thru,
    first_tokens,
    nullable,
    nullable_rules,
    references,
    repetition,
    walk,
)
from autoparser_gen.grammar.places import rivals

_LARK_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}

# Nothing, no times: the cheapest way to make a regular expression longer. Python's `int` reads that
# many digits, and more.
_NO_TIMES = "(?:){{{}}}"
_MAX_DIGITS = 1000

# What lark reads as one character before it measures a regular expression, or as two.
_ESCAPE = re.compile(r"\\(?:(?P<one>[nrt]|x..|u.{4}|U.{8})|.)")


def emit(
    analysis: Analysis,
    grammar: ResponseGrammar,
    header: Sequence[str],
    *,
    portable: bool = False,
    special_tokens: bool = False,
) -> str:
    """The text of a `.lark` file; `header` is printed as comments.

    With `portable` it holds no look-around and no priorities, so that llguidance and xgrammar read
    it as lark does. `special_tokens` prints preserved tokens as llguidance's own, which lark does
    not read.
    """
    special = special_tokens_of(analysis, grammar) if special_tokens else frozenset()
    if portable or special_tokens:
        grammar = apart(fuse(grammar, special), special)
    printer = _LarkPrinter(grammar, portable or special_tokens, special)
    lines = [f"// {line}".rstrip() for line in header]
    blocks = ["\n".join(lines)]
    for tokens in (False, True):
        printed = [rule for rule in printer.printed() if rule.token == tokens]
        blocks.append("\n".join(map(printer.token if tokens else printer.rule, printed)))
    return "\n\n".join(filter(None, blocks)) + "\n"


class _LarkPrinter:
    def __init__(self, grammar: ResponseGrammar, portable: bool, special: Collection[str]) -> None:
        self.grammar = grammar
        self.portable = portable
        self.special = special
        longest_first = sorted(special, key=len, reverse=True)
        self._special = (
            re.compile(f"({'|'.join(map(re.escape, longest_first))})") if special else None
        )
        self.rules: Mapping[str, Rule] = {rule.name: rule for rule in grammar.rules}
        empty = nullable_rules(grammar.rules)
        openers = first_tokens(grammar, Ref(grammar.start), empty)
        has_text = any(isinstance(rule.body, Text) for rule in openers.values())
        self._openers = set(openers) if has_text else set()
        texts = [rule.body for rule in grammar.rules if isinstance(rule.body, Text)]
        # lark puts terminals side by side without grouping their alternatives.
        self._joined = {
            item.name
            for rule in grammar.rules
            if rule.token and isinstance(rule.body, Seq)
            for item in rule.body.items
            if isinstance(item, Ref)
        }
        self._partial_stops = {stop[0] for text in texts for stop in text.stops if len(stop) > 1}

    def name(self, name: str) -> str:
        if name == self.grammar.start:
            return "start"
        spelled = name.replace("-", "_")
        return spelled.upper() if self.rules[name].token else spelled

    def printed(self) -> list[Rule]:
        """The rules of the file: without tokens that are only parts of others, if those repeat them."""
        rules = self.grammar.rules
        if not self.portable:
            return list(rules)
        named = {name for rule in rules if not rule.token for name in references(rule.body)}
        return [rule for rule in rules if rule.name in named or not rule.token]

    def _literal(self, text: str, level: int) -> str:
        """A literal, with the special tokens in it as tokens."""
        parts = self._special.split(text) if self._special else [text]
        printed = [
            part if part in self.special else lark_string(part)
            for part in parts
            if part or text == ""
        ]
        return f"({' '.join(printed)})" if level >= 2 and len(printed) > 1 else " ".join(printed)

    def rule(self, rule: Rule) -> str:
        return f"{self.name(rule.name)}: {self.expr(rule.body)}"

    def expr(self, expr: Expr, level: int = 0) -> str:
        """An expression of a rule. `level` 1 is inside a sequence, 2 under a repetition."""
        if isinstance(expr, Lit):
            return self._literal(expr.text, level)
        if isinstance(expr, Seq):
            inner = " ".join(self.expr(item, 1) for item in expr.items)
            return f"({inner})" if level >= 2 else inner
        if isinstance(expr, Alt):
            inner = " | ".join(self.expr(item) for item in expr.items)
            return f"({inner})" if level else inner
        if isinstance(expr, Rep):
            return self._repeated(expr)
        if isinstance(expr, Ref):
            name = self.name(expr.name)
            if isinstance(self.rules[expr.name].body, Text):
                return f"({name}?)" if level >= 2 else f"{name}?"
            return name
        return _delimited(regex(expr, self.rules))

    def token(self, rule: Rule) -> str:
        """A terminal: readable parts where it has any, else one regular expression."""
        name = self.name(rule.name)
        if self.portable:
            return f"{name}: {_delimited(self._portable_regex(rule.name))}"
        if isinstance(rule.body, Text):
            return f"{name}: {_delimited(text_token(rule.body.stops, lookahead=True))}"
        if isinstance(rule.body, Lines):
            return f"{name}: {_delimited(lines_token(rule.body.stops))}"
        if isinstance(rule.body, Lit) and rule.body.text in self._partial_stops:
            # lark takes a string that a regular expression matches too for one of its values.
            return f"{name}: {_delimited(regex(rule.body, self.rules))}"
        if _is_composed(rule.body):
            priority = ".1" if self._competes_with_text(rule) else ""
            return f"{name}{priority}: {self.expr(rule.body)}"
        level = 1 if rule.name in self._joined else 0
        return f"{name}: {_delimited(regex(rule.body, self.rules, level=level))}"

    def _portable_regex(self, name: str) -> str:
        """One regular expression without look-ahead.

        Of the unbounded ones that could be read at a place lark tries the longest first. Text with
        a marker must be tried before text up to the end of the response with markers in it, and
        that before text alone. Other engines know no priorities, so it is made longer: by nothing,
        no times.
        """
        pattern = self._patterns[name]
        rank = _rank(self.rules[name].body)
        lower = [rival for rival in self._rivals[name] if _rank(self.rules[rival].body) < rank]
        lengths = (_length_read(self._portable_regex(rival)) for rival in lower)
        missing = 1 + max(lengths, default=0) - _length_read(pattern)
        while missing > 0:
            zeros = min(max(1, missing - len(_NO_TIMES.format(""))), _MAX_DIGITS)
            pattern += _NO_TIMES.format("0" * zeros)
            missing -= len(_NO_TIMES.format("")) + zeros
        return pattern

    @functools.cached_property
    def _rivals(self) -> Mapping[str, set[str]]:
        return rivals(self.grammar)

    @functools.cached_property
    def _patterns(self) -> dict[str, str]:
        """The regular expressions of all tokens that are printed."""
        return {rule.name: self._pattern(rule) for rule in self.printed() if rule.token}

    def _pattern(self, rule: Rule) -> str:
        if isinstance(rule.body, Text):
            return text_token(rule.body.stops, lookahead=False)
        return regex(rule.body, self.rules)

    def _repeated(self, expr: Rep) -> str:
        if isinstance(expr.item, Ref) and (expr.low, expr.high) == (0, 1):
            return self.name(expr.item.name) + "?"
        item = self.expr(expr.item, 2)
        suffix = repetition(expr)
        if not suffix.startswith("{"):
            return item + suffix
        if expr.high is None:
            return f"{item}~{expr.low} {item}*"
        return f"{item}~{expr.low}" if expr.low == expr.high else f"{item}~{expr.low}..{expr.high}"

    def _competes_with_text(self, rule: Rule) -> bool:
        """Whether its whitespace, at the beginning, is text to the token that lark tries first."""
        return rule.name in self._openers and nullable(_first_item(rule.body), set())


def special_tokens_of(analysis: Analysis, grammar: ResponseGrammar) -> frozenset[str]:
    """The preserved tokens that llguidance can name: `<tool_call>` stands for the token itself.

    One that ends a text is named only if nothing but whitespace stands between the text and it:
    a regular expression cannot hold it, nor go on to the marker around it.
    """
    found = {token for token in analysis.preserved_tokens if re.fullmatch(r"<[^<>\s]+>", token)}
    texts = (node for rule in grammar.rules for node in walk(rule.body) if isinstance(node, Text))
    stops = {stop for text in texts for stop in text.stops}
    while inside := {
        token
        for stop in stops
        if not (isinstance(stop[0], str) and stop[0].startswith(tuple(found)))
        for token in found
        if any(isinstance(piece, str) and token in piece for piece in stop)
    }:
        found -= inside
    return frozenset(found)


def lark_string(text: str) -> str:
    """A string literal of Lark."""
    return '"' + "".join(_LARK_ESCAPES.get(char) or printable_char(char) for char in text) + '"'


def _delimited(pattern: str) -> str:
    """A regular expression between slashes; lark drops a backslash that stands before a quote."""
    return "/" + pattern.replace('\\"', "\\\\x22") + "/"


def _length_read(pattern: str) -> int:
    """The length of a regular expression to lark, which has read some of its escapes by then."""
    return len(_ESCAPE.sub(lambda found: "." if found["one"] else "..", pattern))


def _rank(expr: Expr) -> int:
    """2 for text with the marker that ends it, 1 for text and more to the end, 0 for others."""
    if any(isinstance(node, Thru) for node in walk(expr)):
        return 2
    return int(not isinstance(expr, Text) and any(isinstance(node, Text) for node in walk(expr)))


def _first_item(expr: Expr) -> Expr:
    return expr.items[0] if isinstance(expr, Seq) and expr.items else expr


def _is_composed(expr: Expr) -> bool:
    """Whether it consists of literals and other tokens only."""
    if isinstance(expr, Seq):
        return all(map(_is_composed, expr.items))
    if isinstance(expr, Rep):
        return (expr.low, expr.high) == (0, 1) and isinstance(expr.item, Ref)
    return isinstance(expr, (Lit, Ref))
