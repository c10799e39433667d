"""Arguments in markup: a name, a value as it stands, and the marker that ends it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from autoparser_gen.analysis.model import (
    SAME_KEY,
    Analysis,
    LiteralSyntax,
    ToolMode,
    ValueSyntax,
)
from autoparser_gen.grammar.branch import ANY_BRANCH, Branch, simplified
from autoparser_gen.grammar.early import whole_texts
from autoparser_gen.grammar.ir import (
    EMPTY,
    Builder,
    Expr,
    Lit,
    Ref,
    Stop,
    Text,
    alt,
    opt,
    seq,
    walk,
)
from autoparser_gen.grammar.markup import (
    Kind,
    Marker,
    Part,
    core,
    markup,
    pieces,
    repeating,
    single_markers,
)
from autoparser_gen.grammar.readable import require_whole
from autoparser_gen.grammar.schema import SchemaRules
from autoparser_gen.grammar.syntax import (
    JSON,
    KEY_NAME_CHAR,
    PYTHON,
    Syntax,
    spelled,
    verbatim,
)
from autoparser_gen.grammar.unlike import unlike
from autoparser_gen.grammar.unmarked import unmarked, warn_of_lost
from autoparser_gen.grammar.until import first_characters
from autoparser_gen.grammar.value_ends import value_stops, value_suffixes
from autoparser_gen.grammar.words import other_than


class MarkedValues:
    """Builds the rules of single arguments."""

    def __init__(self, builder: Builder, analysis: Analysis, space: Expr) -> None:
        """`space` is what may stand between markers."""
        self.builder = builder
        self.analysis = analysis
        self.tools = analysis.tools
        self.marks = analysis.tools.arguments
        self.space = space
        in_markup = self.tools.format.mode is ToolMode.TAG_WITH_TAGGED
        raw = in_markup and self.marks.value_syntax is ValueSyntax.RAW
        in_python = raw and self.marks.python_containers
        self.syntax = Syntax(
            builder, PYTHON if in_python else JSON, string_stops=self.stops if raw else ()
        )
        # Whole values may be Python's words where lists and objects are JSON.
        self.words = Syntax(builder, LiteralSyntax(python_words=self.marks.python_words))

    def argument(
        self,
        key: Expr,
        rules: SchemaRules | None = None,
        schema: Any = True,
        name: str = "argument",
        closed: Part | None = None,
    ) -> Expr:
        """One argument with its markers; its value is what the schema permits, or any.

        `closed` is the key together with the marker behind it, where they are one token.
        """
        branches = [ANY_BRANCH] if rules is None else simplified(rules.branches(schema, name))
        suffix, type_prefix = self.marks.name_suffix, self.marks.type_prefix
        if closed is not None:
            rest = self._split(self._behind_name())[2]
            suffix, type_prefix = (rest, type_prefix) if core(suffix) else ("", rest)
        head: list[Marker | Part] = [
            Marker("argument-open", self.marks.name_prefix),
            closed or Part(key, Kind.NAME),
            Marker("argument-name-close", suffix),
        ]
        groups = list(self._groups(branches))
        tails: list[Expr] = []
        for at, (spelling, group) in enumerate(groups):
            named: list[Marker | Part] = []
            if spelling:
                named = [Marker("type-open", type_prefix), Part(Lit(spelling), Kind.NAME)]
            inner = f"{name}-{at + 1}" if len(groups) > 1 else name
            tails.append(self._tail(key, named, group, rules, inner))
        return seq(markup(self.builder, head, self.space, Kind.MARKER), alt(*tails))

    def other_argument(
        self, keys: Sequence[str], rules: SchemaRules, schema: Any, name: str
    ) -> Expr:
        """One argument with any other name than these.

        The name's closer is part of the token: a lexer would read the beginning of one of `keys`.
        """
        word = other_than(keys, KEY_NAME_CHAR)
        space, closer, _ = self._split(self._behind_name())
        whole = seq(word, opt(self.space) if space else "", closer)
        closed = self.builder.token(f"{name}-name", whole, capture="argument name")
        return self.argument(word, rules, schema, name, Part(closed, Kind.NAME, Kind.MARKER))

    def _behind_name(self) -> str:
        """The marker field behind an argument's name."""
        return self.marks.name_suffix if core(self.marks.name_suffix) else self.marks.type_prefix

    def _split(self, suffix: str) -> tuple[str, str, str]:
        """A marker field as the whitespace before its first marker, that marker, and the rest."""
        first = next(iter(single_markers(suffix)), "")
        space, _, rest = suffix.partition(first) if first else (suffix, "", "")
        return space, first, rest

    # ---- types in the markup ----

    def _groups(self, branches: list[Branch]) -> Iterator[tuple[str, list[Branch]]]:
        """The alternatives by the type that the markup gives, "" where it gives none."""
        if not self.marks.types:
            yield "", branches
            return
        for spelling, kind in self.marks.types:
            group = [
                branch
                for wide in branches
                for branch in _of_kind(wide, kind)
                if self._spelling(branch) == spelling
            ]
            if group:
                yield spelling, group

    def _spelling(self, branch: Branch) -> str:
        """The type that the markup gives for a kind of value."""
        kinds = {kind: spelling for spelling, kind in reversed(self.marks.types)}
        wider = {"integer": "number"}.get(branch.type, branch.type)
        return kinds.get(branch.type, kinds.get(wider, kinds.get("json", "")))

    def _tail(
        self,
        key: Expr,
        named: list[Marker | Part],
        branches: list[Branch],
        rules: SchemaRules | None,
        name: str,
    ) -> Expr:
        """Everything behind the argument's name, which the closer may repeat; `named` is its type."""
        marks = self.marks
        parts = [*named, Marker("value-open", marks.value_prefix)]
        raw = marks.value_syntax is not ValueSyntax.JSON
        if not raw:
            value = Part(self._data(branches, rules, name), Kind.DATA)
            body = markup(self.builder, [*parts, value], self.space, Kind.MARKER)
            space = EMPTY if named or core(marks.value_prefix) else opt(self.space)
            return seq(space, body, self._closer(key, Kind.DATA))
        before = Kind.NAME if named else Kind.MARKER
        opens = markup(self.builder, parts, self.space, before)
        return seq(opens, alt(*self._raw(key, branches, rules, name)))

    # ---- values with what closes them ----

    def _raw(
        self, key: Expr, branches: list[Branch], rules: SchemaRules | None, name: str
    ) -> Iterator[Expr]:
        strings = [branch.schema for branch in branches if branch.kind == "string"]
        bodies = [rules.string_body(schema, name) if rules else None for schema in strings]
        if None in bodies or any(branch.kind == "any" for branch in branches):
            if rules is not None:
                rules.warn_beside_text(branches, name)
            yield seq(self._text(), self._closer(key, Kind.RAW))
            return
        for body in bodies:
            if body is not None and not self.marks.value_escapes:
                warn_of_lost(self.builder, name, body, self.stops)
        given = self._given([text for each in branches for text in each.strings], key, name)
        data = [branch.without_strings() for branch in branches if branch.kind != "string"]
        data = [branch for branch in data if branch.kind != "values" or branch.values]
        kinds = {kind for branch in data for kind in branch.types}
        others = [
            text for body in bodies if body is not None for text in self._beside_data(body, kinds)
        ]
        known = [*given, *(text for text in others if text is not None)]
        values = self._data(data, rules, name) if data else None
        if values is not None and not known:
            yield seq(opt(self.space), values, self._closer(key, Kind.DATA))
        elif values is None or kinds.isdisjoint(("object", "array")):
            yield self._exact(key, alt(*known), name, values)
        else:
            # Apart, since a lexer reads the whitespace before both without knowing which it will be.
            before, text = self._around()[0], self._exact(key, alt(*known), name, before="")
            yield seq(before, alt(seq(values, self._closer(key, Kind.DATA)), text))

    def _beside_data(self, body: Expr, kinds: set[str]) -> Iterator[Expr | None]:
        """Texts that do not read as data of these types.

        What begins like data holds nothing that begins a marker: its beginnings are written one by
        one, each with all that may follow.
        """
        if not kinds:
            yield body
            return
        known = unlike(body, kinds)
        wrap = self.marks.optional_wrap
        firsts = first_characters(self.stops if wrap is None else (*self.stops, (wrap[1],)))
        never = [(first, first) for first in sorted(firsts)]
        yield None if known is None else spelled(known, {}, never)
        yield unlike(body, kinds, longest=0)

    def _given(self, texts: list[str], key: Expr, name: str) -> list[Expr]:
        """Given texts. Raises RequestError where a parser would not read all of one.

        Behind one that begins with another and its closer comes the other: engines that try what
        they match in order would take that for the whole text.
        """
        closer = self._exact_closer(key)
        for text in texts:
            written = self._escaped(Lit(text))
            assert isinstance(written, Lit)
            require_whole(f"schema of {name}", text, self.stops, closer, written.text)
        begun = {
            text[: at.start()] for text in texts for at in re.finditer(re.escape(closer), text)
        }
        if not begun.isdisjoint(texts):
            texts = sorted(texts, key=len, reverse=True)
        return [Lit(text) for text in texts]

    def _closer(self, key: Expr, before: Kind) -> Expr:
        """Any of the markers that end a value, which `before` stands in front of."""
        closers = (
            repeating("argument-close", suffix, {SAME_KEY: key})
            for suffix in value_suffixes(self.marks)
        )
        return alt(*(markup(self.builder, parts, self.space, before) for parts in closers))

    def _data(self, branches: list[Branch], rules: SchemaRules | None, name: str) -> Expr:
        if rules is None:
            return alt(*(self._any_of(branch) for branch in branches))
        several = len(branches) > 1
        found: list[Expr] = []
        for at, branch in enumerate(branches):
            if branch.kind in ("boolean", "null", "json"):
                found.append(self._any_of(branch))
            elif branch.kind == "values":
                found += map(self._exactly, branch.values)
            else:
                found.append(rules.branch(branch, f"{name}-{at + 1}" if several else name))
        return alt(*found)

    def _exactly(self, value: Any) -> Expr:
        """One given value."""
        is_word = value is None or isinstance(value, bool)
        return (self.words if is_word else self.syntax).exactly(value)

    def _any_of(self, branch: Branch) -> Expr:
        """Any value of a kind."""
        syntax = self.syntax
        if branch.kind == "boolean":
            return alt(self.words.word(True), self.words.word(False))
        if branch.kind == "null":
            return self.words.word(None)
        kinds = {"object": syntax.object, "array": syntax.array, "string": syntax.string}
        kinds["integer"], kinds["number"] = syntax.integer, syntax.number
        return kinds.get(branch.kind, self._any_value)()

    def _any_value(self) -> Expr:
        """Any value; where values are JSON, Python's words may stand for its own."""
        if self.marks.value_syntax is not ValueSyntax.JSON or not self.marks.python_words:
            return self.syntax.value()
        return alt(self.syntax.value(), *(repr(word) for word in (True, False, None)))

    def _text(self) -> Ref:
        return self.builder.token("argument-value", Text(self.stops), capture="argument value")

    def _exact(
        self,
        key: Expr,
        body: Expr,
        name: str,
        data: Expr | None = None,
        before: str | None = None,
    ) -> Expr:
        """Constrained text, or `data`: with the whitespace that is written around it, and its closer.

        The closer is part of the token, since a lexer could not tell where such text ends.
        """
        marks = self.marks
        closer = core(marks.value_suffix)
        written, after = self._around()
        inner = self._unended(key, body, name)
        whole = seq(written if before is None else before, inner, after)
        if data is not None:
            beside = seq(opt(self.space), data, opt(self.space))
            literals = (node.text for node in walk(body) if isinstance(node, Lit))
            # A text that begins with data and its closer must be tried before the data.
            holds_closer = bool(closer) and any(pieces(closer)[0] in text for text in literals)
            whole = alt(whole, beside) if holds_closer else alt(beside, whole)
        return self.builder.token(f"{name}-text", seq(whole, *self._closes(key)))

    def _unended(self, key: Expr, body: Expr, name: str) -> Expr:
        """Constrained text as it is written, without what a parser would take for its end."""
        marks, closer = self.marks, self._exact_closer(key)
        wrap = marks.optional_wrap
        stops = self.stops if wrap is None else (*self.stops, (wrap[0],))
        plain = None
        if not marks.value_escapes:
            plain = unmarked(self.builder, f"{name}-text", body, stops, closer)
        inner = plain
        if inner is None:
            first = (core(marks.value_suffix) or core(marks.name_prefix))[0]
            inner = self._escaped(body, first)
        if wrap is not None:
            opens, ends = wrap
            wrapped = unmarked(self.builder, f"{name}-wrapped", body, (*self.stops, (ends,)), ends)
            if wrapped is None or plain is None:
                wrapped, plain = verbatim(body, ends), None
            inner = alt(inner, seq(opens, wrapped, ends))
        if plain is not None:
            return inner
        return whole_texts(f"schema of {name}", inner, self.stops, closer)

    def _closes(self, key: Expr) -> list[Expr]:
        """The pieces of the closer, which may repeat the key."""
        closer = core(self.marks.value_suffix)
        return [key if piece == SAME_KEY else Lit(piece) for piece in pieces(closer)]

    def _exact_closer(self, key: Expr) -> str:
        """What stands behind a value, up to a name in it that is not given."""
        closer = self._around()[1]
        for part in self._closes(key):
            if not isinstance(part, Lit):
                break
            closer += part.text
        return closer

    def _escaped(self, body: Expr, *never: str) -> Expr:
        """Characters as the chat template writes them, without those that must `never` be there."""
        escapes = {char: text for text, char in self.marks.value_escapes}
        return spelled(body, escapes, [(char, char) for char in never])

    def _around(self) -> tuple[str, str]:
        """The whitespace that is written before a value and behind it."""
        opening, suffix = self.marks.name_suffix + self.marks.value_prefix, self.marks.value_suffix
        return opening[len(opening.rstrip()) :], suffix[: suffix.find(core(suffix))]

    @cached_property
    def stops(self) -> tuple[Stop, ...]:
        """What ends a raw value."""
        return value_stops(self.analysis)


def _of_kind(branch: Branch, kind: str) -> Iterator[Branch]:
    """The part of an alternative that a type in the markup can stand for."""
    if branch.kind == "any":
        yield Branch("json" if kind == "json" else kind, {})
    elif branch.kind == "values":
        yield from branch.by_type()
    else:
        yield branch
