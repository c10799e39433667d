"""The grammar of one response, as a value that every back end prints.

Languages, not engines: an expression says which texts belong to it. Two nodes go beyond the usual
ones, because free text between markers is what model output mostly consists of:

- `Text(stops)`: any text, the empty one included, that ends where one of the stops begins or
  where the response ends. What follows it in the grammar is one of its stops, or the end.
- `Thru(stops, end)`: such a text together with the stop that ended it, which must be `end`.

A stop is a tuple of pieces with any whitespace between them, mostly of one: ("</a>", "<b>") is a
"</a>" that a "<b>" follows. A piece may be any `Word`. A last piece "" stands for the end of the
response.

A rule marked `token` is regular and is printed as one terminal where an engine has a lexer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Lit:
    """Exactly this text."""

    text: str


@dataclass(frozen=True)
class CharClass:
    """One character inside the ranges, or outside all of them."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool = False


@dataclass(frozen=True)
class Seq:
    """One after the other; without items the empty text."""

    items: tuple[Expr, ...]


@dataclass(frozen=True)
class Alt:
    """One of these."""

    items: tuple[Expr, ...]


@dataclass(frozen=True)
class Rep:
    """From `low` to `high` times; any number of times where `high` is None."""

    item: Expr
    low: int = 0
    high: int | None = None


@dataclass(frozen=True)
class Ref:
    """The rule of that name."""

    name: str


@dataclass(frozen=True)
class Word:
    """Characters of one class, at least one, that are together none of the texts in `but`."""

    chars: CharClass
    but: tuple[str, ...] = ()
    tight: bool = False  # in a stop, no whitespace may stand around it
    first: CharClass | None = None  # of its first character, where that has a class of its own


Piece = str | Word
Stop = tuple[Piece, ...]


@dataclass(frozen=True)
class Text:
    """Text up to the first of the stops, or to the end of the response."""

    stops: tuple[Stop, ...]


@dataclass(frozen=True)
class Thru:
    """Text up to the first of the stops, and that stop, which is `end`."""

    stops: tuple[Stop, ...]
    end: Stop


@dataclass(frozen=True)
class StringText:
    """What stands between the quotes of a string, of JSON or of Python, if no stop is in it."""

    stops: tuple[Stop, ...]
    quote: str = '"'
    is_python: bool = False  # with Python's escapes


@dataclass(frozen=True)
class Lines:
    """Any text in which none of the stops is, nor would be with a line end before it.

    One of the stops is a line end with something that no line may begin with.
    """

    stops: tuple[Stop, ...]


Expr = Lit | CharClass | Seq | Alt | Rep | Ref | Word | Text | Thru | StringText | Lines
TEXTS = (Text, Thru, StringText, Lines)  # what is read by an automaton of its stops

EMPTY = Seq(())


@dataclass(frozen=True)
class Rule:
    """A named expression. `capture` is the part of the message that it holds, "" for none."""

    name: str
    body: Expr
    token: bool = False
    capture: str = ""

    def __str__(self) -> str:
        """The rule on one line."""
        sign = "=" if self.token else "::="
        capture = f"   ({self.capture})" if self.capture else ""
        return f"{self.name} {sign} {show(self.body)}{capture}"


@dataclass(frozen=True)
class ResponseGrammar:
    """Ordered rules; `start` names the whole response. `warnings` say what was left out."""

    rules: tuple[Rule, ...]
    start: str = "response"
    warnings: tuple[str, ...] = ()
    _index: Mapping[str, Rule] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Index the rules by name."""
        object.__setattr__(self, "_index", {rule.name: rule for rule in self.rules})

    def __getitem__(self, name: str) -> Rule:
        """The rule of that name."""
        return self._index[name]

    def __contains__(self, name: object) -> bool:
        """Whether there is such a rule."""
        return name in self._index

    def __str__(self) -> str:
        """One rule a line."""
        return "\n".join(map(str, self.rules))


# ---- building ----


def seq(*items: Expr | str) -> Expr:
    """A sequence; nested ones and empty texts dissolve, literals side by side become one."""
    flat: list[Expr] = []
    for item in map(_expr, items):
        for part in items_of(item):
            last = flat[-1] if flat else None
            if isinstance(part, Lit) and isinstance(last, Lit):
                flat[-1] = Lit(last.text + part.text)
            elif part != Lit(""):
                flat.append(part)
    return flat[0] if len(flat) == 1 else Seq(tuple(flat))


def alt(*items: Expr | str) -> Expr:
    """A choice; nested choices and duplicates dissolve."""
    flat: list[Expr] = []
    for item in map(_expr, items):
        flat.extend(item.items if isinstance(item, Alt) else (item,))
    unique = tuple(dict.fromkeys(flat))
    return unique[0] if len(unique) == 1 else Alt(unique)


def text(*stops: str | Stop) -> Text:
    """Text until one of the markers or stops; empty ones are none."""
    distinct = dict.fromkeys((stop,) if isinstance(stop, str) else stop for stop in stops if stop)
    return Text(tuple(distinct))


def opt(item: Expr | str) -> Expr:
    """The item, or nothing."""
    return Rep(_expr(item), 0, 1)


def many(item: Expr | str, low: int = 0) -> Expr:
    """The item any number of times, at least `low` times."""
    return Rep(_expr(item), low)


def chars(spec: str, *, negated: bool = False) -> CharClass:
    """A class from a specification such as "a-zA-Z_-"; a hyphen at either end is itself."""
    ranges: list[tuple[str, str]] = []
    at = 0
    while at < len(spec):
        if spec[at + 1 : at + 2] == "-" and at + 2 < len(spec):
            ranges.append((spec[at], spec[at + 2]))
            at += 3
        else:
            ranges.append((spec[at], spec[at]))
            at += 1
    return CharClass(tuple(ranges), negated)


def _expr(item: Expr | str) -> Expr:
    return Lit(item) if isinstance(item, str) else item


USUAL_MARGIN = 8  # characters; chat templates mostly write less


class Builder:
    """Collects rules by name while a grammar is lowered; order is decided at the end."""

    def __init__(self, whitespace: Expr | None = None, margin: int = USUAL_MARGIN) -> None:
        """Start without rules; `whitespace` stands between tokens if it is not the usual one.

        `margin` is how many characters of whitespace may stand between the parts of a response.
        """
        self.whitespace = whitespace
        self.margin = margin
        self.rules: dict[str, Rule] = {}
        self.warnings: list[str] = []
        self._numbers: dict[str, int] = {}  # by name: all numbers below are taken
        self._numbered: dict[Rule, str] = {}  # names of rules that wanted one that was taken

    def rule(self, name: str, body: Expr, *, capture: str = "") -> Ref:
        """Add a rule. The same rule may be added again; another body takes a numbered name."""
        return self._add(Rule(name, body, capture=capture))

    def token(self, name: str, body: Expr, *, capture: str = "") -> Ref:
        """Add a rule whose language is regular."""
        return self._add(Rule(name, body, token=True, capture=capture))

    def reserve(self, name: str) -> str:
        """A free name for a rule that refers to itself; give its body to `define`."""
        free = self._free(name)
        self.rules[free] = Rule(free, EMPTY)
        return free

    def define(self, name: str, body: Expr, *, capture: str = "") -> Ref:
        """Set the body of a reserved rule."""
        self.rules[name] = Rule(name, body, capture=capture)
        return Ref(name)

    def warn(self, sentence: str) -> None:
        """Note, once, what the grammar does not express."""
        if sentence not in self.warnings:
            self.warnings.append(sentence)

    def build(self, start: str) -> ResponseGrammar:
        """The rules that `start` reaches: rules in the order of first use, then tokens."""
        reached = reachable(self.rules, start)
        plain = [rule for rule in reached if not rule.token]
        tokens = [rule for rule in reached if rule.token]
        return ResponseGrammar(tuple(plain + tokens), start, tuple(self.warnings))

    def _add(self, rule: Rule) -> Ref:
        for name in (rule.name, self._numbered.get(rule, rule.name)):
            known = self.rules.get(name)
            if known is None or replace(known, name=rule.name) == rule:
                break
        else:
            name = self._numbered[rule] = self._free(rule.name)
        self.rules[name] = replace(rule, name=name)
        return Ref(name)

    def _free(self, name: str) -> str:
        free, number = name, self._numbers.get(name, 2)
        while free in self.rules:
            free = f"{name}-{number}"
            number += 1
        self._numbers[name] = max(number - 1, 2)
        return free


# ---- reading ----


def children(expr: Expr) -> tuple[Expr, ...]:
    """The expressions directly inside one."""
    if isinstance(expr, (Seq, Alt)):
        return expr.items
    if isinstance(expr, Rep):
        return (expr.item,)
    return ()


def items_of(expr: Expr) -> tuple[Expr, ...]:
    """The items of a sequence; an expression of another kind is one of one item."""
    return expr.items if isinstance(expr, Seq) else (expr,)


def walk(expr: Expr) -> Iterator[Expr]:
    """An expression and everything inside it, in reading order, not through references."""
    stack = [expr]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))


def references(expr: Expr) -> Iterator[str]:
    """The names that an expression refers to, in reading order."""
    return (node.name for node in walk(expr) if isinstance(node, Ref))


def replaced(expr: Expr, bodies: Mapping[str, Expr]) -> Expr:
    """An expression with other ones in place of the rules of these names."""
    if isinstance(expr, Ref):
        return bodies.get(expr.name, expr)
    if isinstance(expr, Seq):
        return seq(*(replaced(item, bodies) for item in expr.items))
    if isinstance(expr, Alt):
        return alt(*(replaced(item, bodies) for item in expr.items))
    return Rep(replaced(expr.item, bodies), expr.low, expr.high) if isinstance(expr, Rep) else expr


def reachable(rules: Mapping[str, Rule], start: str) -> list[Rule]:
    """The rules that `start` uses, itself first, in the order of first use."""
    found: dict[str, Rule] = {}
    stack = [start]
    while stack:
        name = stack.pop()
        if name not in found:
            found[name] = rules[name]
            stack.extend(reversed(list(references(rules[name].body))))
    return list(found.values())


def nullable_rules(rules: Iterable[Rule]) -> set[str]:
    """The names of the rules that the empty text belongs to."""
    rules = list(rules)
    empty: set[str] = set()
    while True:
        more = {r.name for r in rules if r.name not in empty and nullable(r.body, empty)}
        if not more:
            return empty
        empty |= more


def nullable(expr: Expr, empty: set[str]) -> bool:
    """Whether the empty text belongs to an expression; `empty` names the rules it belongs to."""
    if isinstance(expr, Lit):
        return not expr.text
    if isinstance(expr, Seq):
        return all(nullable(item, empty) for item in expr.items)
    if isinstance(expr, Alt):
        return any(nullable(item, empty) for item in expr.items)
    if isinstance(expr, Rep):
        return expr.low == 0 or nullable(expr.item, empty)
    if isinstance(expr, Ref):
        return expr.name in empty
    return isinstance(expr, (Text, StringText, Lines))


def first_tokens(grammar: ResponseGrammar, expr: Expr, empty: set[str]) -> dict[str, Rule]:
    """The tokens that texts of an expression can begin with; `empty` names the nullable rules."""
    found: dict[str, Rule] = {}
    seen: set[str] = set()
    stack = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, Ref):
            rule = grammar[node.name]
            if rule.token:
                found[rule.name] = rule
            elif rule.name not in seen:
                seen.add(rule.name)
                stack.append(rule.body)
        elif isinstance(node, Seq):
            for item in node.items:
                stack.append(item)
                if not nullable(item, empty):
                    break
        else:
            stack.extend(children(node))
    return found


def merged(ranges: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Ranges for printing: four single characters or more that follow each other become one."""
    found: list[tuple[str, str]] = []
    run: list[tuple[str, str]] = []
    for low, high in (*ranges, ("", "")):
        if run and (not low or low != high or ord(low) != ord(run[-1][0]) + 1):
            found += run if len(run) < 4 else [(run[0][0], run[-1][0])]
            run = []
        if low == high and low:
            run.append((low, high))
        elif low:
            found.append((low, high))
    return found


# ---- printing, for people ----

_SUFFIXES = {(0, None): "*", (1, None): "+", (0, 1): "?"}


def show(expr: Expr, level: int = 0) -> str:
    """An expression as text. `level` 1 is inside a sequence, 2 under a repetition."""
    if isinstance(expr, Lit):
        return json.dumps(expr.text)
    if isinstance(expr, CharClass):
        inside = "".join(low if low == high else f"{low}-{high}" for low, high in expr.ranges)
        return "[" + ("^" if expr.negated else "") + json.dumps(inside)[1:-1] + "]"
    if isinstance(expr, Seq):
        inner = " ".join(show(item, 1) for item in expr.items)
        return inner if level < 2 and expr.items else f"({inner})"
    if isinstance(expr, Alt):
        inner = " | ".join(show(item) for item in expr.items)
        return f"({inner})" if level else inner
    if isinstance(expr, Rep):
        return show(expr.item, 2) + repetition(expr)
    if isinstance(expr, Ref):
        return expr.name
    if isinstance(expr, Word):
        but = f" but {', '.join(map(json.dumps, expr.but))}" if expr.but else ""
        first = f"{show(expr.first)}, then " if expr.first else ""
        return f"<word of {first}{show(expr.chars)}{but}>"
    stops = ", ".join(map(show_stop, expr.stops)) or "the end"
    if isinstance(expr, StringText):
        return f"<text of a {'Python' if expr.is_python else 'JSON'} string without {stops}>"
    if isinstance(expr, Lines):
        return f"<lines without {stops}>"
    if isinstance(expr, Text):
        return f"<text until {stops}>"
    return f"<text until {stops}; up to and with {show_stop(expr.end)}>"


def show_stop(stop: Stop) -> str:
    """A stop as text: its pieces, with dots for the whitespace between them."""
    return " ... ".join(map(_show_piece, stop))


def _show_piece(piece: Piece) -> str:
    if isinstance(piece, Word):
        return "a word"
    return json.dumps(piece, ensure_ascii=False) if piece else "the end"


def repetition(expr: Rep) -> str:
    """The suffix of a repetition: *, +, ?, {n}, {n,} or {n,m}."""
    suffix = _SUFFIXES.get((expr.low, expr.high))
    if suffix is not None:
        return suffix
    if expr.low == expr.high:
        return f"{{{expr.low}}}"
    return f"{{{expr.low},{'' if expr.high is None else expr.high}}}"
