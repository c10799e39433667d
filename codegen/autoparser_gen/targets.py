"""The targets: one back end for each end of a file's name, of which the longest counts.

Adding one is a module in `emit` and a row here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autoparser_gen.analysis.model import Analysis
    from autoparser_gen.grammar.ir import ResponseGrammar


@dataclass(frozen=True)
class GrammarCommands:
    """What a module that prints grammars writes into their headers: the words of commands."""

    outputs: Mapping[str, Sequence[str]]  # by target
    options: Mapping[str, str | bool | None]  # that say how the chat template was read
    unknown: Sequence[str]  # special tokens that were left out


@dataclass(frozen=True)
class Asked:
    """What a request asks for: the arguments of `lower`, and of the functions of a module."""

    tools: Any = None
    tool_choice: str = "auto"
    parallel: bool = True
    response_schema: Any = None
    thinking: bool | None = None
    lazy: bool = False


@dataclass(frozen=True)
class Draft:
    """All that a back end may print."""

    analysis: Analysis
    grammar: ResponseGrammar
    header: Sequence[str]
    portable: bool = False
    special_tokens: bool = False
    special: frozenset[str] | None = None  # as in ChatTemplate
    grammar_commands: GrammarCommands | None = None  # of a module that prints grammars
    asked: Asked = Asked()


@dataclass(frozen=True)
class Target:
    """A kind of file that is generated."""

    name: str
    suffix: str
    file_name: str  # in a folder of generated files, of the chat template's stem; "" for none
    what: str  # for people
    emit: Callable[[Draft], str]
    companions: tuple[str, ...] = ()  # targets that are written beside it
    prints: tuple[str, ...] = ()  # targets that it can print itself, with --with-grammar


# Back ends are imported when they run, so that asking for help or one target costs no other.


def _python(draft: Draft) -> str:
    from autoparser_gen.emit import python

    header = list(draft.header)
    return python.emit(draft.analysis, header, draft.special, draft.grammar_commands)


def _lark(draft: Draft) -> str:
    from autoparser_gen.emit import lark

    return lark.emit(
        draft.analysis,
        draft.grammar,
        list(draft.header),
        portable=draft.portable,
        special_tokens=draft.special_tokens,
    )


def _gbnf(draft: Draft) -> str:
    from autoparser_gen.emit import gbnf

    return gbnf.emit(draft.analysis, draft.grammar, list(draft.header))


def _vllm(draft: Draft) -> str:
    from autoparser_gen.emit import plugin

    return plugin.emit(draft.analysis, list(draft.header), draft.special, "vllm_plugin")


def _sglang(draft: Draft) -> str:
    from autoparser_gen.emit import plugin

    return plugin.emit(draft.analysis, list(draft.header), draft.special, "sglang_plugin")


def _json(draft: Draft) -> str:
    from autoparser_gen.analysis import as_json

    return as_json.to_json(draft.analysis)


def _structural_tag(draft: Draft) -> str:
    from autoparser_gen.emit import structural_tag

    asked = draft.asked
    return structural_tag.emit(
        draft.analysis,
        asked.tools,
        tool_choice=asked.tool_choice,
        parallel=asked.parallel,
        thinking=asked.thinking,
    )


def _response_template(draft: Draft) -> str:
    from autoparser_gen.emit import response_template

    return response_template.emit(draft.analysis)


TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target(
            "python",
            ".py",
            "{stem}_parser.py",
            "parser module",
            _python,
            ("lark",),
            ("gbnf", "lark"),
        ),
        Target("lark", ".lark", "{stem}_parser.lark", "Lark grammar", _lark),
        Target("gbnf", ".gbnf", "{stem}.gbnf", "GBNF grammar", _gbnf),
        Target("json", ".json", "{stem}.json", "analysis", _json),
        Target(
            "structural-tag", ".structural_tag.json", "", "xgrammar structural tag", _structural_tag
        ),
        Target(
            "response-template",
            ".response_template.json",
            "",
            "transformers response template",
            _response_template,
        ),
        Target("vllm", "_vllm.py", "", "vLLM plugin", _vllm),
        Target("sglang", "_sglang.py", "", "SGLang plugin", _sglang),
    )
}
