"""Engines that read our grammars, as oracles: lark always, the others where they are installed.

What verification reads itself, without an engine, is one more.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

import lark

from autoparser_gen.analysis.model import Analysis
from autoparser_gen.emit import gbnf
from autoparser_gen.emit import lark as lark_printer
from autoparser_gen.grammar.ir import ResponseGrammar
from autoparser_gen.grammar.recognize import reject_reason

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


def engine_forms(
    grammar: ResponseGrammar, analysis: Analysis
) -> dict[str, tuple[Callable[[str], Accepts], str]]:
    """What loads a grammar into every installed engine, and the form that is printed for it."""
    portable = lark_printer.emit(analysis, grammar, [], portable=True)
    found: dict[str, tuple[Callable[[str], Accepts], str]] = {
        "lark": (with_lark, lark_printer.emit(analysis, grammar, [])),
        "lark, portable": (with_lark, portable),
    }
    if HAVE_GUIDANCE:
        from engines import guidance

        found["llguidance"] = (lambda text: guidance.Grammar(text).accepts, portable)
    if HAVE_LLAMA_CPP:
        from engines import llama_cpp

        printed = gbnf.emit(analysis, grammar, [])
        found["llama.cpp"] = (lambda text: llama_cpp.Grammar(text).accepts, printed)
    return found


def engines(grammar: ResponseGrammar, analysis: Analysis | None = None) -> dict[str, Accepts]:
    """The verdicts of every installed engine, each on the form that is printed for it."""
    forms = engine_forms(grammar, analysis or Analysis(source="", sha256=""))
    found = {name: load(text) for name, (load, text) in forms.items()}
    return found | {"unprinted": lambda response: reject_reason(grammar, response) is None}
