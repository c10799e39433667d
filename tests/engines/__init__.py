"""Engines that read our grammars, as oracles: lark always, the others where they are installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence

import lark

from autoparser_gen.analysis.model import Analysis
from autoparser_gen.emit import gbnf
from autoparser_gen.emit import lark as lark_printer
from autoparser_gen.grammar.ir import ResponseGrammar

Accepts = Callable[[str], bool]

INSTALL = "pip install -e '.[engines]' installs what is needed"


def installed(*packages: str) -> bool:
    """Whether all of the packages can be imported."""
    return all(importlib.util.find_spec(package) for package in packages)


HAVE_GUIDANCE = installed("llguidance")
HAVE_LLAMA_CPP = installed("xllamacpp", "gguf")


def with_lark(text: str) -> Accepts:
    """lark's verdict. Raises lark's error where it does not take the grammar."""
    parser = lark.Lark(text, parser="lalr")

    def accepts(response: str) -> bool:
        try:
            parser.parse(response)
        except lark.exceptions.LarkError:
            return False
        return True

    return accepts


def engines(
    grammar: ResponseGrammar, analysis: Analysis | None = None, names: Sequence[str] = ()
) -> dict[str, Accepts]:
    """The verdicts of every installed engine, each on the form that is printed for it."""
    analysis = analysis or Analysis(source="", sha256="")
    portable = lark_printer.emit(analysis, grammar, [], portable=True)
    found = {
        "lark": with_lark(lark_printer.emit(analysis, grammar, [])),
        "lark, portable": with_lark(portable),
    }
    if HAVE_GUIDANCE:
        from engines import guidance

        found["llguidance"] = guidance.Grammar(portable).accepts
    if HAVE_LLAMA_CPP:
        from engines import llama_cpp

        found["llama.cpp"] = llama_cpp.Grammar(gbnf.emit(analysis, grammar, [])).accepts
    return {name: found[name] for name in names or found if name in found}
