"""The functions of a module that prints grammars for the tools of a request.

What they need of the generator is carried into the module, under the names that are imported here.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from autoparser_gen.analysis.model import Analysis
from autoparser_gen.emit.gbnf import emit as gbnf_text
from autoparser_gen.emit.lark import emit as lark_text
from autoparser_gen.grammar.ir import ResponseGrammar
from autoparser_gen.grammar.lower import lower
from autoparser_gen.header import header, option_words, request_options

FORMAT_VERSION = 1
ANALYSIS = Analysis(source="toy.jinja", sha256="")
GBNF_OUTPUT = ["-o", "toy_parser.gbnf"]
LARK_OUTPUT = ["-o", "toy_parser.lark"]
COMMAND_OPTIONS: dict[str, str | bool | None] = {}
UNKNOWN_TOKENS: list[str] = []

# ==== Begin grammars block (identical in every file that has it) ====


def gbnf(
    tools: Sequence[Mapping[str, Any]] | None = None,
    tool_choice: str = "auto",
    parallel: bool = True,
    *,
    response_schema: Any = None,
    thinking: bool | None = None,
    lazy: bool = False,
) -> str:
    """The GBNF grammar of the response to a request, as the command line prints it.

    `tools` is OpenAI's list; None permits any name and any arguments. `tool_choice` is auto,
    required, none or a tool's name; `parallel` permits several calls. With a `response_schema`
    content is JSON. `thinking` says which of GENERATION_PROMPTS the grammar follows; None is the
    default. With `lazy` it begins at its trigger. The header names the tools `tools.json` and the
    schema `schema.json`.
    Warns (UserWarning) of each part of a schema that the grammar cannot express, and lets it be
    anything. Raises GrammarError where no sound grammar follows from the tools or schemas.
    """
    grammar, options = _asked(tools, tool_choice, parallel, response_schema, thinking, lazy)
    text = gbnf_text(ANALYSIS, grammar, _grammar_header(GBNF_OUTPUT, options))
    _warn_of(grammar.warnings)
    return text


def lark(
    tools: Sequence[Mapping[str, Any]] | None = None,
    tool_choice: str = "auto",
    parallel: bool = True,
    *,
    response_schema: Any = None,
    thinking: bool | None = None,
    lazy: bool = False,
    portable: bool = False,
    special_tokens: bool = False,
) -> str:
    """The Lark grammar of the response to a request, as the command line prints it.

    `portable` leaves out look-around, for llguidance and xgrammar; `special_tokens` writes special
    tokens as llguidance has them. All else is as in `gbnf`.
    """
    grammar, options = _asked(tools, tool_choice, parallel, response_schema, thinking, lazy)
    options |= {"--portable": portable, "--special-tokens": special_tokens}
    text = lark_text(
        ANALYSIS,
        grammar,
        _grammar_header(LARK_OUTPUT, options),
        portable=portable,
        special_tokens=special_tokens,
    )
    _warn_of(grammar.warnings)
    return text


def _asked(
    tools: Sequence[Mapping[str, Any]] | None,
    tool_choice: str,
    parallel: bool,
    response_schema: Any,
    thinking: bool | None,
    lazy: bool,
) -> tuple[ResponseGrammar, dict[str, str | bool | None]]:
    """The grammar of the response to a request, and the request as options of the command line."""
    grammar = lower(
        ANALYSIS,
        tools=tools,
        tool_choice=tool_choice,
        parallel=parallel,
        response_schema=response_schema,
        thinking=thinking,
        lazy=lazy,
    )
    options = request_options(
        None if tools is None else "tools.json",
        tool_choice,
        parallel,
        None if response_schema is None else "schema.json",
        thinking,
        lazy,
    )
    return grammar, options


def _grammar_header(output: list[str], options: dict[str, str | bool | None]) -> list[str]:
    """The lines at the top of a grammar, with the command that prints the same."""
    words = option_words({**COMMAND_OPTIONS, **options})
    return header(
        format_version=FORMAT_VERSION,
        source=ANALYSIS.source,
        sha256=ANALYSIS.sha256,
        command=["autoparser-gen", ANALYSIS.source, *output, *words],
        unknown=UNKNOWN_TOKENS,
        verified=not COMMAND_OPTIONS.get("--no-verify"),
    )


def _warn_of(said: Sequence[str]) -> None:
    """Warn the caller of `gbnf` or `lark`."""
    for line in said:
        warnings.warn(line, stacklevel=3)


# ==== End grammars block ====
