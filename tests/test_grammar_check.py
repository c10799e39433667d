"""Guards against grammars that engines cannot read, or that kill them."""

from __future__ import annotations

import pytest

from autoparser_gen.errors import GrammarError
from autoparser_gen.grammar.check import check
from autoparser_gen.grammar.ir import (
    Alt,
    CharClass,
    Expr,
    Lit,
    Ref,
    Rep,
    ResponseGrammar,
    Rule,
    Text,
    Thru,
    alt,
    many,
    opt,
    seq,
)


def grammar(**rules: Expr) -> ResponseGrammar:
    return ResponseGrammar(tuple(Rule(name, body) for name, body in rules.items()), "start")


def test_a_sound_grammar_passes() -> None:
    check(
        grammar(start=seq(many(Ref("item")), opt("x")), item=alt("a", seq("(", Ref("item"), ")")))
    )


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"start": seq(Ref("start"), "a")}, "begin with itself"),
        ({"start": Ref("b"), "b": alt(seq(Ref("start"), "x"), "y")}, "begin with itself"),
        ({"start": alt(seq(Ref("e"), Ref("start")), "a"), "e": opt("b")}, "begin with itself"),
        ({"start": many(opt("a"))}, "repeats something that can be empty"),
        ({"start": many(Ref("e")), "e": opt("b")}, "repeats something that can be empty"),
        ({"start": Rep(Lit("a"), 0, 2001)}, "llama.cpp's limit is 2000"),
        ({"start": Rep(seq(Rep(Lit("a"), 0, 100), "b"), 0, 100)}, "repeats 10000 times"),
        ({"start": Rep(Lit("a"), 3, 2)}, "at least 3 and at most 2"),
        ({"start": Alt(())}, "without alternatives"),
        ({"start": Ref("missing")}, "'missing', which is not defined"),
        ({"start": Text((("",),))}, "until an empty marker"),
        ({"start": Text((("<a>",), ("<a><b>",)))}, "markers that the analysis found are ambiguous"),
        ({"start": Thru((("<a>",),), ("<b>",))}, "none of its stops"),
        ({"start": CharClass((("z", "a"),))}, "no character"),
        ({"start": CharClass(())}, "no character"),
        ({"start": opt(Ref("b")), "b": seq("x", Ref("b"))}, "'b' requires itself"),
        (
            {"start": seq("x", Ref("b")), "b": seq("y", alt(Ref("start"), Ref("b")))},
            "requires itself",
        ),
    ],
)
def test_faults_are_named(rules: dict[str, Expr], message: str) -> None:
    with pytest.raises(GrammarError, match=message):
        check(grammar(**rules))


@pytest.mark.parametrize("name", ["Upper", "under_score", "-a", "a-", "a--b", "1a", "ä", ""])
def test_names_that_some_engine_refuses(name: str) -> None:
    rules = (Rule("start", Lit("a")), Rule(name, Lit("b")))
    with pytest.raises(GrammarError, match="small letters"):
        check(ResponseGrammar(rules, "start"))


def test_a_name_that_is_defined_twice() -> None:
    rules = (Rule("start", Lit("a")), Rule("start", Lit("b")))
    with pytest.raises(GrammarError, match="defined twice"):
        check(ResponseGrammar(rules, "start"))


def test_a_token_that_refers_to_a_rule() -> None:
    rules = (Rule("start", Ref("t")), Rule("t", Ref("r"), token=True), Rule("r", Lit("a")))
    with pytest.raises(GrammarError, match="a lexer cannot read it"):
        check(ResponseGrammar(rules, "start"))
