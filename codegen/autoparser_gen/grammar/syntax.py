"""How values are written: JSON, Python literals, literals with quotes of their own.

A `Syntax` gives schema conversion the pieces it puts together: strings, numbers, words, brackets,
keys. Whitespace belongs to the punctuation tokens, so that no optional whitespace stands between
tokens: an engine with a lexer would expand every `x?` of a rule into two rules.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from autoparser_gen.analysis.model import Analysis, LiteralSyntax
from autoparser_gen.grammar.early import is_whole, whole_texts
from autoparser_gen.grammar.escapes import as_it_is_or_by_number, by_number
from autoparser_gen.grammar.ir import (
    USUAL_MARGIN,
    Alt,
    Builder,
    CharClass,
    Expr,
    Lit,
    Ref,
    Rep,
    Rule,
    Seq,
    Stop,
    StringText,
    Text,
    alt,
    chars,
    many,
    opt,
    reachable,
    seq,
    walk,
)
from autoparser_gen.grammar.markup import loses_types
from autoparser_gen.grammar.readable import (
    UNQUOTED_KEY,
    end_inside,
    is_readable,
    require_readable,
    require_whole,
)
from autoparser_gen.grammar.unmarked import is_apart, unmarked, warn_of_lost
from autoparser_gen.grammar.until import first_characters
from autoparser_gen.grammar.words import contains, is_empty, other_than, without

JSON = LiteralSyntax()
# Python's literals, and JSON's beside them.
PYTHON = LiteralSyntax(quotes=("'", '"'), python_words=True)

# Like llama.cpp's `space` rule: unlimited whitespace invites models to loop on it.
WHITESPACE = alt(" ", seq(Rep(Lit("\n"), 1, 2), Rep(chars(" \t"), 0, 64)))
_IS_WHITESPACE = re.compile(r" |\n{1,2}[ \t]{0,64}")  # the same, for what is written
# Beside raw values: there a parser skips any, and what it skips must not become part of a value.
GAP = many(chars(" \t\r\n"), 1)

_DIGIT = chars("0-9")
# Limits for the same reason: 20 digits hold every 64-bit integer.
_WHOLE_NUMBER = alt("0", seq(chars("1-9"), Rep(_DIGIT, 0, 19)))
INTEGER = seq(opt("-"), _WHOLE_NUMBER)
_FRACTION = seq(".", Rep(_DIGIT, 1, 20))
_EXPONENT = seq(chars("eE"), opt(chars("+-")), Rep(_DIGIT, 1, 3))
DECIMAL = seq(opt("-"), _WHOLE_NUMBER, alt(seq(_FRACTION, opt(_EXPONENT)), _EXPONENT))
_HEX = chars("0-9a-fA-F")
_CONTROL = ("\x00", "\x1f")
_JSON_ESCAPE = alt(chars('"\\/bfnrt'), seq("u", Rep(_HEX, 4, 4)))
# Python's, but for code points in octal and by name.
_PYTHON_ESCAPE = alt(
    chars("\"'\\abfnrtv"),
    seq("x", Rep(_HEX, 2, 2)),
    seq("u", Rep(_HEX, 4, 4)),
    seq("U", alt(seq("000", _HEX), "0010"), Rep(_HEX, 4, 4)),
)

# A character of quoted keys that a schema does not name: none that any syntax would have to escape.
KEY_CHAR = chars("\x00-\x1f\x7f\"'\\", negated=True)

# Names of tools and arguments where no schema gives them: no whitespace, brackets or quotes.
NAME_CHAR = chars("a-zA-Z0-9_.-")
NAME = many(NAME_CHAR, 1)
KEY_NAME_CHAR = chars("\x00-,/:-@[-^`{-\x7f", negated=True)
KEY = many(KEY_NAME_CHAR, 1)
# A character of keys without quotes: all that a parser reads but spaces, which a lexer could not
# tell from those before the colon.
_BARE_KEY_CHAR = chars("\x00- :,{}[]()<>\"'", negated=True)


def whitespace_of(analysis: Analysis) -> Expr | None:
    """Whitespace between tokens that takes what the chat template writes; None if that is usual."""
    if loses_types(analysis):
        return GAP  # a parser finds the end of a string by what follows any whitespace
    tools = analysis.tools
    written = [
        *analysis.joints.values(),
        tools.format.section_start,
        tools.format.per_call_start,
        *vars(tools.function).values(),
        *vars(tools.arguments).values(),
    ]
    texts = (text for text in written if isinstance(text, str))
    runs = [run for text in texts for run in re.findall(r"[ \t\r\n]+", text)]
    unusual = [len(run) for run in runs if not _IS_WHITESPACE.fullmatch(run)]
    return Rep(chars(" \t\r\n"), 1, max(USUAL_MARGIN, *unusual)) if unusual else None


def margin_length(analysis: Analysis) -> int:
    """How many characters of whitespace may stand between the parts of a response.

    As many as the chat template writes; mostly that is less than is usual.
    """
    texts = (*analysis.joints.values(), analysis.reasoning.end)
    runs = (len(run) for text in texts for run in re.findall(r"[ \t\r\n]+", text))
    return max([USUAL_MARGIN, *runs])


def whitespace(builder: Builder) -> Ref:
    """Whitespace between tokens, not empty."""
    return builder.token("ws", builder.whitespace or WHITESPACE)


def margin(builder: Builder) -> Ref:
    """Whitespace between the parts of a response, not empty."""
    return builder.token("margin", Rep(chars(" \t\r\n"), 1, builder.margin))


def gap(builder: Builder) -> Ref:
    """Whitespace between markers beside raw values, not empty."""
    return builder.token("gap", GAP)


def spelled(
    expr: Expr,
    special: Mapping[str, str],
    never: Sequence[tuple[str, str]] = (),
    *,
    numbers: bool = False,
) -> Expr:
    """An expression with its `special` characters escaped and those of `never` left out.

    With `numbers` what is not ASCII's, and what is of `never`, may be escaped by its number.
    """
    if isinstance(expr, Lit):
        text = "".join(special.get(char, char) for char in expr.text)
        return as_it_is_or_by_number(text) if numbers else Lit(text)
    if isinstance(expr, (Seq, Alt)):
        items = (spelled(item, special, never, numbers=numbers) for item in expr.items)
        return type(expr)(tuple(items))
    if isinstance(expr, Rep):
        return Rep(spelled(expr.item, special, never, numbers=numbers), expr.low, expr.high)
    if isinstance(expr, CharClass):
        escaped = [Lit(text) for char, text in special.items() if contains(expr, char)]
        hidden = [*((char, char) for char in special), *never]
        if expr.negated:
            plain = CharClass(tuple(dict.fromkeys((*expr.ranges, *hidden))), negated=True)
        else:
            plain = CharClass(without(expr.ranges, hidden))
        more = by_number(expr) if numbers else ()
        return alt(*([] if is_empty(plain) else [plain]), *escaped, *more)
    if isinstance(expr, Ref):
        return Ref(f"escaped-{expr.name}")
    raise TypeError(f"characters of a string cannot be {expr}")


def verbatim(expr: Expr, marker: str) -> Expr:
    """An expression whose texts do not hold the marker that ends them, where nothing is escaped.

    Its classes lose a character of the marker that none of its literals has, the first such one.
    """
    literal = {char for node in walk(expr) if isinstance(node, Lit) for char in node.text}
    lost = next((char for char in marker if char not in literal), marker[0])
    return spelled(expr, {}, ((lost, lost),))


def escaped_rules(source: Builder, start: Ref, target: Builder) -> Ref:
    """Copies of the rules that `start` reaches, as their text stands inside a JSON string."""
    special = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    for rule in reachable(source.rules, start.name):
        body = spelled(rule.body, special, (_CONTROL,))
        copy = Rule(f"escaped-{rule.name}", body, rule.token, rule.capture)
        target.rules[copy.name] = copy
    return Ref(f"escaped-{start.name}")


class Syntax:
    """The pieces of one syntax, as rules of a builder."""

    def __init__(
        self,
        builder: Builder,
        literals: LiteralSyntax = JSON,
        space: Expr | None = None,
        string_stops: Sequence[Stop] = (),
        prefix: str = "",
    ) -> None:
        """Rules are added to the builder when they are asked for; `space` is whitespace, if not its own.

        `string_stops` must not stand in strings, since a parser would see them there. `prefix`
        keeps the rules apart from those of another syntax.
        """
        self.builder = builder
        self.literals = literals
        self.space = space or builder.whitespace or WHITESPACE
        self.string_stops = string_stops
        self.prefix = prefix

    # ---- tokens ----

    def punctuation(self, name: str, text: str, *, before: bool, after: bool) -> Ref:
        """A token with the whitespace around it that does not count."""
        ws = opt(self.builder.token("ws", self.space))
        nothing = Lit("")
        return self.builder.token(
            name, seq(ws if before else nothing, text, ws if after else nothing)
        )

    def colon(self) -> Ref:
        """Between a key and its value."""
        return self.punctuation("colon", ":", before=True, after=True)

    def comma(self) -> Ref:
        """Between members, items, arguments."""
        return self.punctuation("comma", ",", before=True, after=True)

    def bracket(self, name: str, text: str) -> Ref:
        """An opening bracket with the whitespace after it, a closing one with that before it."""
        opens = text in "{[("
        return self.punctuation(name, text, before=not opens, after=opens)

    def integer(self) -> Ref:
        """A whole number."""
        return self.builder.token("integer", INTEGER)

    def number(self) -> Expr:
        """A number. Whole ones are tokens of their own, so that a lexer can tell both apart."""
        return alt(self.integer(), self.builder.token("decimal", DECIMAL))

    def word(self, value: bool | None) -> Expr:
        """True, false or null, as this syntax spells it."""
        spelled = json.dumps(value)
        return alt(spelled, repr(value)) if self.literals.python_words else Lit(spelled)

    # ---- strings ----

    def string(self) -> Expr:
        """Any string."""
        name = self.prefix + "string"
        if not self.literals.escapes:
            return self._verbatim_string(name)
        stops = tuple(stop for stop in self.string_stops if stop[-1])
        if stops:
            quoted = [
                seq(quote, self._text_without(stops, quote, name), quote)
                for quote in self.literals.quotes
            ]
        else:
            quoted = [seq(quote, many(self._char(quote)), quote) for quote in self.literals.quotes]
        return self.builder.token(name, alt(*quoted))

    def _text_without(self, stops: tuple[Stop, ...], quote: str, name: str) -> Ref:
        text = StringText(stops, quote, self._is_python())
        return self.builder.token(f"{name}-text", text)

    def string_literal(self, text: str) -> Expr:
        """Exactly this string; in JSON what is not ASCII stands as it is, or all of it is escaped."""
        spelled = list(self._spellings(text))
        whole = [
            quote + inner + quote
            for quote, inner in spelled
            if end_inside(inner, self._stops(quote), quote) is None
        ]
        if not whole:
            quote, inner = spelled[0]
            require_whole("a schema", text, self._stops(quote), quote, inner)
        return alt(*whole)

    def _spellings(self, text: str) -> Iterator[tuple[str, str]]:
        """The ways to write a string: its quote, and what stands between two of them."""
        if self.literals.escapes and not self._is_python():
            yield '"', json.dumps(text, ensure_ascii=False)[1:-1]
            yield '"', json.dumps(text)[1:-1]
            return
        yield from ((quote, self._escaped(text, quote)) for quote in self.literals.quotes)
        if self.literals.escapes:
            yield repr(text)[0], repr(text)[1:-1]

    def _stops(self, quote: str) -> tuple[Stop, ...]:
        """What must not stand in a string between such quotes."""
        stops = tuple(stop for stop in self.string_stops if stop[-1])
        return stops if self.literals.escapes else (*stops, (quote,))

    def name_string(self) -> Expr:
        """A string that can be a tool's name."""
        quoted = (seq(quote, NAME, quote) for quote in self.literals.quotes)
        return self.builder.token("quoted-name", alt(*quoted), capture="name")

    def string_of(self, name: str, body: Expr) -> Expr:
        """A string whose characters, before quoting and escaping, are those of `body`."""
        quotes = self.literals.quotes
        quoted = []
        for number, quote in enumerate(quotes):
            rule = f"{name}-{number + 1}" if len(quotes) > 1 else name
            write = self._escaped_text if self.literals.escapes else self._unescaped
            quoted.append(seq(quote, write(rule, body, quote), quote))
        return self.builder.token(name, alt(*quoted))

    def _escaped_text(self, name: str, body: Expr, quote: str) -> Expr:
        """The characters of a string as they are escaped, without what a parser would end it at."""
        stops = self._stops(quote)
        plain = self._without_stops(body)
        text = self._spelled(plain, quote, numbers=True)
        if not is_whole(text, stops, quote):
            # Without these escapes there is less to tell apart.
            text = self._spelled(plain, quote)
            text = whole_texts(f"schema of {name}", text, stops, quote)
        warn_of_lost(self.builder, name, body, stops)
        # What stands in place of a character must begin no stop, and be in the middle of none.
        if plain == body or not all(is_apart(stop[0]) for stop in stops):
            return text
        apart = Builder()
        found = unmarked(apart, name, body, stops, quote)
        if found is None:
            return text
        for rule in apart.rules.values():
            self.builder.token(f"escaped-{rule.name}", self._spelled(rule.body, quote))
        return alt(text, self._spelled(found, quote))

    def _unescaped(self, name: str, body: Expr, quote: str) -> Expr:
        """The characters of a string that the first closing quote ends, whatever stands before it."""
        stops = self._stops(quote)
        warn_of_lost(self.builder, name, body, stops)
        found = unmarked(self.builder, name, body, stops, quote)
        if found is not None:
            return found
        return whole_texts(f"schema of {name}", verbatim(body, quote), stops, quote)

    def _without_stops(self, body: Expr) -> Expr:
        """An expression of characters, of which no class holds what a stop begins with."""
        firsts = sorted(first_characters(self.string_stops))
        return spelled(body, {}, [(first, first) for first in firsts]) if firsts else body

    def key(self, text: str) -> Expr:
        """A given key with its colon."""
        spelled: list[Expr] = []
        if not self._may_quote_keys():
            require_readable("the key", text, UNQUOTED_KEY)
        if not self.literals.quoted_keys and is_readable(text, UNQUOTED_KEY):
            spelled.append(Lit(text))
        if self._may_quote_keys():
            spelled.append(self.string_literal(text))
        return seq(alt(*spelled), self.colon())

    def _may_quote_keys(self) -> bool:
        """Whether keys have quotes, or may have: those of a nested object that is JSON."""
        return self.literals.quoted_keys or self.literals.escapes

    def member(self, key: str, value: Expr) -> Expr:
        """A member of an object with a given key."""
        return seq(self.key(key), value)

    def other_member(self, name: str, keys: Sequence[str], value: Expr) -> Expr:
        """A member with any key except these; such a key is written without escapes.

        A key without quotes is one token with its colon: a lexer would read the beginning of a key.
        """
        spelled: list[Expr] = []
        if not self.literals.quoted_keys:
            bare = self._without_stops(other_than(keys, _BARE_KEY_CHAR))
            spelled.append(seq(bare, self.colon()))
        if self._may_quote_keys():
            body = self._without_stops(other_than(keys, KEY_CHAR))
            spelled += [seq(quote, body, quote) for quote in self.literals.quotes]
        if self.literals.quoted_keys:
            return seq(self.builder.token(name, alt(*spelled)), self.colon(), value)
        first, *quoted = spelled
        closed = (seq(key, self.colon()) for key in quoted)
        return seq(self.builder.token(name, alt(first, *closed)), value)

    def _any_key(self) -> Expr:
        if self.literals.quoted_keys:
            return self.string()
        bare = self._without_stops(many(_BARE_KEY_CHAR, 1))
        key = self.builder.token(self.prefix + "key", bare)
        return alt(key, self.string()) if self._may_quote_keys() else key

    def _verbatim_string(self, name: str) -> Expr:
        choices = []
        for number, quote in enumerate(self.literals.quotes):
            suffix = f"-{number + 1}" if number else ""
            mark = self.builder.token(f"quote{suffix}", Lit(quote))
            text = self.builder.token(f"{name}-text{suffix}", Text(((quote,),)))
            choices.append(seq(mark, text, mark))
        return self.builder.rule(name, alt(*choices))

    def _is_python(self) -> bool:
        """Whether escapes are Python's: where strings may have other quotes than JSON's."""
        return self.literals.quotes != ('"',)

    def _char(self, quote: str) -> Expr:
        special = ((quote, quote), ("\\", "\\"))
        if not self._is_python():
            return alt(CharClass((*special, _CONTROL), negated=True), seq("\\", _JSON_ESCAPE))
        # Not every chat template escapes tabs, and Python wants only line breaks escaped.
        never = (("\x00", "\x08"), ("\n", "\x1f"))
        return alt(CharClass((*special, *never), negated=True), seq("\\", _PYTHON_ESCAPE))

    def _spelled(self, body: Expr, quote: str, *, numbers: bool = False) -> Expr:
        """An expression of characters as this syntax writes them between quotes.

        With `numbers` characters may be escaped by their number, where the syntax is JSON.
        """
        is_json = not self._is_python()
        letters = "\\\n\r\t\b\f" if is_json else "\\\n\r\t"
        special = {char: self._escaped(char, quote) for char in (quote, *letters)}
        return spelled(body, special, (_CONTROL,), numbers=numbers and is_json)

    def _escaped(self, text: str, quote: str) -> str:
        if not self.literals.escapes:
            return text
        escaped = json.dumps(text, ensure_ascii=False)[1:-1]
        return escaped if quote == '"' else escaped.replace('\\"', '"').replace(quote, "\\" + quote)

    # ---- any value ----

    def value(self) -> Ref:
        """Any value."""
        name = self.prefix + "value"
        if name in self.builder.rules:
            return Ref(name)
        self.builder.reserve(name)
        words = (self.word(word) for word in (True, False, None))
        choices = (self.object(), self.array(), self.string(), self.number(), *words)
        return self.builder.define(name, alt(*choices))

    def object(self) -> Ref:
        """Any object."""
        name = self.prefix + "object"
        if name in self.builder.rules:
            return Ref(name)
        self.builder.reserve(name)
        member = self.prefix + "member"
        self.builder.define(
            self.builder.reserve(member), seq(self._any_key(), self.colon(), self.value())
        )
        return self.builder.define(name, self.braced(self.listed(Ref(member))))

    def array(self) -> Ref:
        """Any array."""
        name = self.prefix + "array"
        if name in self.builder.rules:
            return Ref(name)
        self.builder.reserve(name)
        return self.builder.define(name, self.bracketed(self.listed(self.value())))

    # ---- containers ----

    def braced(self, inner: Expr) -> Expr:
        """An object around its members."""
        return seq(self.bracket("lbrace", "{"), inner, self.bracket("rbrace", "}"))

    def bracketed(self, inner: Expr) -> Expr:
        """An array around its items."""
        return seq(self.bracket("lbrack", "["), inner, self.bracket("rbrack", "]"))

    def listed(self, item: Expr, low: int = 0) -> Expr:
        """Items with commas between them."""
        items = seq(item, many(seq(self.comma(), item)))
        return items if low else opt(items)

    def exactly(self, value: Any) -> Expr:
        """One given value, with any whitespace where it does not count."""
        if isinstance(value, str):
            return self.string_literal(value)
        if value is None or isinstance(value, bool):
            return self.word(value)
        if isinstance(value, dict):
            members = [seq(self.key(key), self.exactly(inner)) for key, inner in value.items()]
            return self.braced(self.joined(members))
        if isinstance(value, list):
            return self.bracketed(self.joined([self.exactly(item) for item in value]))
        return Lit(json.dumps(value))

    def joined(self, items: list[Expr]) -> Expr:
        """Members or items with commas between them."""
        joined: list[Expr] = []
        for item in items:
            joined.extend((self.comma(), item) if joined else (item,))
        return seq(*joined)
