"""Arguments whose objects and lists are tags themselves: <key>value</key>, <item>value</item>."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from autoparser_gen.analysis.model import Arguments, LiteralSyntax
from autoparser_gen.errors import RequestError, shown
from autoparser_gen.grammar.branch import Branch, simplified
from autoparser_gen.grammar.definitions import Definitions
from autoparser_gen.grammar.early import whole_texts
from autoparser_gen.grammar.given_tags import GivenTags
from autoparser_gen.grammar.ir import (
    EMPTY,
    Builder,
    CharClass,
    Expr,
    Lit,
    Ref,
    Stop,
    Text,
    Word,
    alt,
    many,
    opt,
    seq,
)
from autoparser_gen.grammar.markup import core
from autoparser_gen.grammar.readable import TAG_KEY, require_readable, require_whole
from autoparser_gen.grammar.schema import SchemaRules, slug
from autoparser_gen.grammar.syntax import KEY_NAME_CHAR, NAME_CHAR, Syntax, gap, verbatim
from autoparser_gen.grammar.unlike import unlike
from autoparser_gen.grammar.unmarked import unmarked, warn_of_lost
from autoparser_gen.grammar.until import SPACES
from autoparser_gen.grammar.words import spelled_out

_CLOSER_KEY = "{key}"  # stands in the analysis for the name that the closing tag repeats


class NestedTags:
    """Builds the rules of elements: opening tag, value, closing tag."""

    def __init__(self, builder: Builder, marks: Arguments, call_ends: tuple[Stop, ...]) -> None:
        """Rules are added to the builder when they are asked for; no text holds `call_ends`."""
        self.builder = builder
        self.marks = marks
        self.call_ends = call_ends
        closing = marks.value_suffix.partition(_CLOSER_KEY)
        self.closer, self.closer_end = core(closing[0]), core(closing[2])
        mark = self.closer.removeprefix(core(marks.name_prefix))  # tells a closing tag from another
        self.readable = re.compile(f"(?!{re.escape(mark)}){TAG_KEY.pattern}")
        self.words = Syntax(builder, LiteralSyntax(python_words=marks.python_words))
        self._definitions = Definitions(builder)

    def argument(
        self,
        key: str | None,
        rules: SchemaRules | None = None,
        schema: Any = True,
        name: str = "argument",
    ) -> Expr:
        """An element with a given key, or with any."""
        if rules is None or key is None:
            return self._any_element()
        require_readable("the key", key, self.readable, core(self.marks.name_suffix)[:1])
        branches = simplified(rules.branches(schema, name))
        return alt(*self._element(key, branches, rules, name))

    def other(self, keys: Sequence[str], rules: SchemaRules, schema: Any, name: str) -> Expr:
        """An element with any other key than these, whose value is what the schema permits."""
        word = Word(NAME_CHAR, (*keys, *self._names_of_ends()))
        # One token: a lexer would read the beginning of one of the keys.
        ends = seq(spelled_out(word), core(self.marks.name_suffix))
        opened = self.builder.token(f"{name}-opened", ends, capture="argument name")
        branches = simplified(rules.branches(schema, name))
        if any(_is_free(branch, rules, name) for branch in branches):
            if all(branch.kind != "any" for branch in branches):
                self.builder.warn(f"schema of {name}: what values may be is not enforced here.")
            value = self._any_closed(name, word)
        else:
            key = self.builder.token(f"{name}-name", word, capture="argument name")
            value = alt(*self._typed(key, branches, rules, name))
        return seq(self._opener(), opened, value)

    def _opened(self, key: Expr) -> Expr:
        if self._is_item(key):
            return self._item_mark("open")
        opened = self.builder.token("argument-name-close", Lit(core(self.marks.name_suffix)))
        return seq(self._opener(), key, opened)

    def _opener(self) -> Ref:
        return self.builder.token("argument-open", Lit(core(self.marks.name_prefix)))

    def _closed(self, key: Expr) -> Expr:
        if self._is_item(key):
            return self._item_mark("close")
        closes = self.builder.token("argument-close", Lit(self.closer))
        closed = self.builder.token("argument-close-end", Lit(self.closer_end))
        return seq(closes, key, closed)

    def _is_item(self, key: Expr) -> bool:
        return bool(self.marks.item_tag) and key == Lit(self.marks.item_tag)

    def _item_mark(self, which: str) -> Ref:
        """An item's tag as one token, wherever it is: a lexer takes that one for any part of it."""
        opens = which == "open"
        before, after = (
            (core(self.marks.name_prefix), core(self.marks.name_suffix))
            if opens
            else (self.closer, self.closer_end)
        )
        return self.builder.token(f"item-{which}", Lit(before + self.marks.item_tag + after))

    # ---- any value ----

    def _any_element(self) -> Expr:
        """An element with any key, or an item of a list."""
        return alt(self._named_element(), *([self._any_item()] if self.marks.item_tag else []))

    def _named_element(self) -> Ref:
        """An element with any key. A grammar cannot demand the same key in the closing tag."""
        if "element" in self.builder.rules:
            return Ref("element")
        name = self.builder.reserve("element")
        item = (self.marks.item_tag,) if self.marks.item_tag else ()
        word = Word(KEY_NAME_CHAR, (*self._names_of_ends(), *item))
        return self.builder.define(name, self._any("argument", word))

    def _any_item(self) -> Ref:
        """An item with any value, which nothing but its own closing tag ends."""
        if "item" in self.builder.rules:
            return Ref("item")
        name = self.builder.reserve("item")
        closer = self.closer + self.marks.item_tag + self.closer_end
        value = self._any_value("item", (closer,), self._item_mark("close"))
        return self.builder.define(name, seq(self._item_mark("open"), value))

    def _elements(self) -> Iterator[Expr]:
        """What is inside of an object or a list: the first element says which of both it is."""
        yield seq(self._named_element(), many(self._any_element()))
        if self.marks.item_tag:
            yield many(self._any_item(), 1)

    def _names_of_ends(self) -> tuple[str, ...]:
        """The names with which an element would end like a call."""
        markers = dict.fromkeys(stop[0] for stop in self.call_ends)
        return tuple(
            marker.removeprefix(self.closer).removesuffix(self.closer_end)
            for marker in markers
            if isinstance(marker, str)
            and marker.startswith(self.closer)
            and marker.endswith(self.closer_end)
        )

    def _any(self, name: str, word: Word) -> Expr:
        """An element with any value, whose key is a word.

        Behind a closing tag in text there is more text, and no other tag: its key cannot be told
        from that of the element, so that what follows it shows whether it is the last one.
        """
        found = self.builder.token(f"{name}-name", word, capture="argument name")
        return seq(self._opened(found), self._any_closed(name, word))

    def _any_closed(self, name: str, word: Word) -> Expr:
        """Any value and the closing tag of any such name."""
        found = self.builder.token(f"{name}-name", word, capture="argument name")
        stop = (self.closer, word, self.closer_end)
        return self._any_value(name, stop, self._closed(found))

    def _any_value(self, name: str, stop: Stop, closed: Expr) -> Expr:
        """Any value and the closing tag, which is a `stop` of text."""
        text = Text((stop, *self.call_ends))
        words = self.builder.token(f"{name}-text", text, capture="argument value")
        part = self.builder.rule(f"{name}-value", seq(self._first_char(), words, closed))
        return alt(many(part, 1), self._no_text(closed))

    def _first_char(self) -> Ref:
        """How text begins that is not taken for a tag: what is not blank in it, and that before."""
        tags = {core(self.marks.name_prefix)[0], self.closer[0]}
        hidden = tuple((char, char) for char in sorted({*SPACES, *tags}))
        first = seq(opt(gap(self.builder)), CharClass(hidden, negated=True))
        return self.builder.token("argument-begin", first)

    def _no_text(self, closed: Expr) -> Expr:
        """Elements, whitespace or nothing, and the closing tag."""
        return seq(alt(*self._elements(), opt(gap(self.builder))), closed)

    # ---- values by schema ----

    def _element(
        self, key: str, branches: list[Branch], rules: SchemaRules, name: str
    ) -> list[Expr]:
        if any(_is_free(branch, rules, name) for branch in branches):
            rules.warn_beside_text(branches, name)
            return [seq(self._opened(Lit(key)), self._free(key, branches, rules, name))]
        values = self._typed(Lit(key), branches, rules, name)
        return [seq(self._opened(Lit(key)), value) for value in values]

    def _typed(
        self, key: Expr, branches: list[Branch], rules: SchemaRules, name: str
    ) -> list[Expr]:
        """Values that are not any text, each with the closing tag of the key."""
        closed = self._closed(key)
        found, scalars = [], []
        for at, branch in enumerate(branches):
            inner = f"{name}-{at + 1}" if len(branches) > 1 else name
            if branch.kind in ("object", "array"):
                found.append(seq(self._container(branch, rules, inner), closed))
            elif branch.kind != "string":
                scalars.append(self._data(branch, rules, inner))
        kinds = {kind for branch in branches for kind in branch.types} - {"string"}
        if self._is_item(key) and _may_be_no_text(branches):
            scalars.append(EMPTY)
        found += self._given_tags(key, branches, name)
        self._require_whole(key, branches, kinds, name)
        strings = [branch.schema for branch in branches if branch.kind == "string"]
        texts = [self._constrained(key, schema, rules, name, kinds) for schema in strings]
        given = [text for branch in branches for text in branch.strings]
        known = [text for text in texts if text is not None]
        if known or (given and kinds):
            # A token with the closing tag: it must not be empty, nor end where a number in it does.
            body = seq(alt(*scalars, *known), self.closer, key, self.closer_end)
            found.append(self.builder.token(f"{name}-text", body))
        else:
            found += [seq(scalar, closed) for scalar in scalars]
        return found

    def _given_tags(self, key: Expr, branches: list[Branch], name: str) -> list[Ref]:
        """Given objects and lists in tags, each with the closing tag of the key."""
        given = [v for branch in branches if branch.kind == "values" for v in branch.values]
        only = {kind for branch in branches for kind in branch.types}
        tags = GivenTags(self.marks, self.closer, self.closer_end, self.readable)
        written = []
        for value in (value for value in given if isinstance(value, (dict, list))):
            inside = tags.inside(value)
            if inside is None or (not inside and len(only) > 1):
                json_text = shown(json.dumps(value, ensure_ascii=False), 200)
                self.builder.warn(
                    f"schema of {name}: the grammar permits {json_text} as JSON only, not in tags."
                )
            else:
                written.append(Lit(inside))
        if not written:
            return []
        body = seq(alt(*written), self.closer, key, self.closer_end)
        return [self.builder.token(f"{name}-tags", body)]

    def _require_whole(self, key: Expr, branches: list[Branch], kinds: set[str], name: str) -> None:
        """Raise RequestError for a given text that a parser would end early, or take for elements."""
        closer, stops = self._ends_of(key)
        opener = core(self.marks.name_prefix)
        for text in (text for branch in branches for text in branch.strings):
            require_whole(f"schema of {name}", text, stops, closer)
            begun = text.lstrip(SPACES)
            if kinds and begun.startswith(opener) and not begun.startswith(self.closer):
                raise RequestError(
                    f"schema of {name}: the given text {shown(text, 200)} begins like an element, and"
                    " the schema permits more than strings. Change it, or leave it out."
                )

    def _ends_of(self, key: Expr) -> tuple[str, tuple[Stop, ...]]:
        """The closing tag of a text, as far as its key is given, and all that ends the text."""
        closer = self.closer + (key.text + self.closer_end if isinstance(key, Lit) else "")
        return closer, ((closer,), *self.call_ends)

    def _free(self, key: str, branches: list[Branch], rules: SchemaRules, name: str) -> Expr:
        """Any text up to the closing tag, or any value, and that tag.

        A parser looks for elements first where the schema allows for more than strings.
        """
        words = self._text(key)
        if all(branch.kind == "string" for branch in branches):
            return words
        begun = seq(self._first_char(), words)
        if any(branch.kind == "any" for branch in branches):
            return alt(begun, self._no_text(self._closed(Lit(key))))
        inner = alt(*self._beside_text(branches, rules, name), opt(gap(self.builder)))
        given = self._given_tags(Lit(key), branches, name)
        return alt(begun, seq(inner, self._closed(Lit(key))), *given)

    def _beside_text(self, branches: list[Branch], rules: SchemaRules, name: str) -> Iterator[Expr]:
        """The elements of objects and lists that free text may stand instead of.

        As JSON they may be any, so that they are any here too where a parser generator could not
        tell two alternatives apart: of one type, or rules that may both be empty.
        """
        holders = {at: each for at, each in enumerate(branches, 1) if each.holds_values}
        kinds = {branch.kind for branch in holders.values()}
        named = [branch for branch in holders.values() if branch.pointer]
        if len(kinds) == len(holders) and len(named) < 2:
            for at, branch in holders.items():
                yield self._container(branch, rules, f"{name}-{at}")
            return
        if "object" in kinds:
            yield seq(self._named_element(), many(self._any_element()))
        if "array" in kinds and self.marks.item_tag:
            yield many(self._any_item(), 1)

    def _text(self, key: str) -> Expr:
        """Text up to the closing tag of a given key, and that tag: the same in all tools."""
        name = f"argument-{slug(key)}"
        closer = self.closer + key + self.closer_end
        until = Text(((closer,), *self.call_ends))
        body = self.builder.token(f"{name}-text", until, capture="argument value")
        if self._is_item(Lit(key)):
            return seq(body, self._item_mark("close"))
        return seq(body, self.builder.token(f"{name}-close", Lit(closer)))

    def _data(self, branch: Branch, rules: SchemaRules, name: str) -> Expr:
        """What an alternative permits, other than strings and what has tags of its own."""
        if branch.kind == "values":
            return self._given(branch.values)
        if branch.kind == "boolean":
            return alt(self.words.word(True), self.words.word(False))
        return self.words.word(None) if branch.kind == "null" else rules.branch(branch, name)

    def _given(self, values: list[Any]) -> Expr:
        """One of the given values; an empty text is nothing, not a token."""
        written = [self._exactly(value) for value in values if value != ""]
        if not written:
            return EMPTY
        return alt(*written) if len(written) == len(values) else opt(alt(*written))

    def _exactly(self, value: Any) -> Expr:
        return Lit(value) if isinstance(value, str) else self.words.exactly(value)

    def _constrained(
        self, key: Expr, schema: Mapping[str, Any], rules: SchemaRules, name: str, kinds: set[str]
    ) -> Expr | None:
        """Text that a schema constrains, beside data of some types; None where all would be data."""
        permitted = rules.string_body(schema, name)
        assert permitted is not None, "a free string is no branch of its own"
        opener = core(self.marks.name_prefix)[0]
        body = unlike(permitted, kinds, (opener,) if kinds else ())
        if body is None:
            return None
        closer, stops = self._ends_of(key)
        plain = None
        if not kinds:
            warn_of_lost(self.builder, name, body, stops)
            plain = unmarked(self.builder, f"{name}-text", body, stops, closer)
        if plain is not None:
            return plain
        text = verbatim(body, self.closer)
        return whole_texts(f"schema of {name}", text, stops, closer)

    def _container(self, branch: Branch, rules: SchemaRules, name: str) -> Expr:
        """An object or a list; a definition is a rule that may refer to itself."""
        if not branch.pointer:
            return self.children(branch, rules, name)
        rule = rules.name_of(branch)
        return self._definitions.rule(branch, rule, lambda free: self.children(branch, rules, free))

    def children(self, branch: Branch, rules: SchemaRules, name: str) -> Expr:
        """The elements inside of an object or a list."""
        if branch.kind == "array":
            return self._items(branch, rules, name)

        def one(key: str, schema: Any, name: str) -> Expr:
            return self.argument(key, rules, schema, name)

        def other(keys: Sequence[str], schema: Any, name: str) -> Expr:
            return self.other(keys, rules, schema, name)

        return rules.members(branch.schema, name, one, other)

    def _items(self, branch: Branch, rules: SchemaRules, name: str) -> Expr:
        items = branch.schema.get("items", True)
        if set(branch.schema) - {"items"}:
            self.builder.warn(f"schema of {name}: the number of items is not enforced here.")
        return many(
            self.builder.rule(
                f"{name}-item", self.argument(self.marks.item_tag, rules, items, f"{name}-item")
            )
        )


def _may_be_no_text(branches: list[Branch]) -> bool:
    """Whether a tag with nothing in it is null, and no object or list could be so empty."""
    types = {kind for branch in branches for kind in branch.types}
    empty = (branch.kind == "object" and not branch.schema.get("required") for branch in branches)
    arrays = (branch.kind == "array" for branch in branches)
    return "null" in types and "string" not in types and not any((*empty, *arrays))


def _is_free(branch: Branch, rules: SchemaRules, name: str) -> bool:
    """Whether a branch permits any text."""
    is_string = branch.kind == "string"
    return branch.kind == "any" or (is_string and rules.string_body(branch.schema, name) is None)
