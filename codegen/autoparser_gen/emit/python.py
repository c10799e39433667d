"""The Python target: a standalone parser module."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from autoparser_gen.analysis.as_json import triggers
from autoparser_gen.analysis.model import FORMAT_VERSION, Analysis, CallIdPosition
from autoparser_gen.emit.carried import (
    FENCE,
    PACKAGE,
    Carried,
    Source,
    carried_for,
    names_given_twice,
    source_of,
)
from autoparser_gen.emit.describe import describe
from autoparser_gen.emit.layout import assignment, formatted, imports_from, literal, string
from autoparser_gen.emit.quoting import code_points, one_line
from autoparser_gen.emit.skeletons.tables import Go, Region
from autoparser_gen.errors import GrammarError
from autoparser_gen.grammar.table_builder import Marker, Tables
from autoparser_gen.grammar.tables import build_tables

if TYPE_CHECKING:
    from autoparser_gen.targets import GrammarCommands

# Which skeleton a decoder stands in, and which others that one needs before it.
_JSON = ("states", "json_values")
_LITERALS = ("states", "literal_states", "literal_strings", "literals")
_RAW_VALUES = (*_JSON, *_LITERALS, "raw_values")
_DECODERS = {
    "BarePythonCalls": (*_RAW_VALUES, "python_calls", "bare_calls"),
    "Header": ("headers",),
    "JsonArguments": _JSON,
    "JsonCalls": (*_JSON, "json_calls"),
    "LiteralArguments": (*_LITERALS, "literal_arguments"),
    "PythonCalls": (*_LITERALS, "python_calls"),
    "RawValue": _RAW_VALUES,
    "TreeArguments": (*_RAW_VALUES, "tree_arguments"),
}


def emit(
    analysis: Analysis,
    header: Sequence[str],
    special: frozenset[str] | None = None,
    commands: GrammarCommands | None = None,
    *,
    ending: Sequence[str] = ("command",),
    settings: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The module's text, formatted.

    `header` holds the comment lines at its top, without the leading "#". `special` holds the
    tokens that a detokenizer drops by default, None where that is not known. With `commands` the
    module prints grammars. `ending` names the skeletons behind the parser, and `settings` the
    constants that they need.
    """
    tables = build_tables(analysis)
    blocks = [
        "tables",
        "messages",
        "search",
        "regions",
        "parse_state",
        "turn",
        "reading",
        "runtime",
    ]
    for decoder in tables.decoders.values():
        blocks += _DECODERS[decoder]
    blocks = [*dict.fromkeys(blocks), "parse"]
    carried = carried_for(f"{PACKAGE}.emit.skeletons.grammars") if commands else Carried()
    about = [*(f"# {one_line(line)}".rstrip() for line in header), _docstring(analysis)]
    imports = [
        "from __future__ import annotations\n",
        _imports([*blocks, *(["grammars"] if commands else []), *ending], carried),
        _public(with_grammar=commands is not None),
    ]
    constants = [
        _constants(analysis, tables, special),
        *(assignment(name, value) for name, value in settings.items()),
    ]
    # Comments and a docstring are left as they are, however long.
    head = ["\n".join(about).strip("\n"), *(formatted("\n".join(x)) for x in (imports, constants))]
    table = "\n".join([_regions(tables), _transitions(tables)])
    text = (
        "\n\n\n".join(
            [
                "\n\n".join(head),
                _block("tables"),
                formatted(table),
                *(_block(block) for block in blocks[1:]),
                formatted(_registry(tables)),
                *(_grammars(analysis, carried, commands) if commands else []),
                *(_block(block) for block in ending),
            ]
        )
        + "\n"
    )
    if commands and (twice := names_given_twice(text)):
        raise GrammarError(f"two parts of the module define {', '.join(twice)}.")
    return text


def _grammars(analysis: Analysis, carried: Carried, commands: GrammarCommands) -> Iterator[str]:
    """What prints grammars: code of the generator, this format's analysis, and the functions."""
    yield from carried.blocks()
    # What was found where, and what was not, changes no grammar.
    bare = replace(analysis, evidence={}, notes=())
    options = {name: value for name, value in commands.options.items() if value}
    lines = [
        assignment("ANALYSIS", bare),
        assignment("GBNF_OUTPUT", list(commands.outputs["gbnf"])),
        assignment("LARK_OUTPUT", list(commands.outputs["lark"])),
        assignment("COMMAND_OPTIONS: dict[str, str | bool | None]", options),
        assignment("UNKNOWN_TOKENS: list[str]", list(commands.unknown)),
    ]
    yield formatted("\n".join(["# ---- What the grammars are printed from ----\n", *lines]))
    yield _block("grammars")


def parser_name(analysis: Analysis) -> str:
    """What servers know a plugin by; a name of their own means something else."""
    name = re.sub(r"\.(?:jinja2?|j2|json|gguf)$", "", analysis.source.rpartition("/")[2].lower())
    return "_".join([*re.findall("[a-z0-9]+", name), "generated"])


def _skeleton(block: str) -> Source:
    return source_of(f"{PACKAGE}.emit.skeletons.{block}")


@lru_cache
def _block(block: str) -> str:
    """What stands between the fences of a skeleton, fences included."""
    lines = _skeleton(block).text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(FENCE))
    last = next(i for i, line in enumerate(lines) if line.startswith("# ==== End"))
    return "\n".join(lines[first : last + 1])


def _imports(blocks: Iterable[str], carried: Carried) -> str:
    """The imports of all the skeletons and of carried code, merged: the standard library's first."""
    found = {item for block in blocks for item in _skeleton(block).imports} | carried.standard
    # All skeletons are one module, so none of them imports what another defines, for types neither.
    foreign = (item for item in found if not item.module.startswith(PACKAGE))
    standard = [item for item in foreign if item.name != "TYPE_CHECKING"]
    names: dict[str, set[str]] = {}
    for item in standard:
        if item.name:
            names.setdefault(item.module, set()).add(item.name)
    lines = [f"import {module}" for module in sorted({i.module for i in standard if not i.name})]
    for module in sorted(names, key=lambda name: (_is_foreign(name), name)):
        if _is_foreign(module) and "" not in lines:
            lines.append("")
        lines.append(imports_from(module, sorted(names[module], key=_public_order)))
    return "\n".join(lines) + "\n"


def _is_foreign(module: str) -> bool:
    return module.partition(".")[0] not in sys.stdlib_module_names


def _public(*, with_grammar: bool) -> str:
    names = [
        "Delta",
        "LimitError",
        "Message",
        "ParseError",
        "Parser",
        "Span",
        "ToolCall",
        "merge",
        "parse",
        "spans",
    ]
    if with_grammar:
        names = sorted([*names, "GrammarError", "gbnf", "lark"], key=_public_order)
    return assignment("__all__", names) + "\n"


def _public_order(name: str) -> tuple[bool, str]:
    """Classes before functions, each by name."""
    return not name[0].isupper(), name


def _docstring(analysis: Analysis) -> str:
    lines = [one_line(line).replace('"""', '\\"\\"\\"').rstrip() for line in describe(analysis)]
    text = "\n".join(lines)
    return f'"""{text}\n"""\n'


def _constants(analysis: Analysis, tables: Tables, special: frozenset[str] | None) -> str:
    lines = [f"FORMAT_VERSION = {FORMAT_VERSION}", ""]
    lines.append(
        "# ---- Markers: every literal that the parser looks for, and the comparison that found it ----\n"
    )
    lines += [_constant(name, marker) for name, marker in tables.markers.items()]
    for name in ("REASONING_START", "REASONING_END", "END_OF_TURN"):
        if name not in tables.markers:
            lines.append(f'{name} = ""')
    lines.append(assignment("ASSISTANT_HEADER", analysis.assistant_header))
    after_prompt = analysis.joints.get("prompt_to_content", "")
    space = after_prompt[: len(after_prompt) - len(after_prompt.lstrip())]
    lines.append(assignment("SPACE_AFTER_PROMPT", space))
    lines.append(assignment("HAS_IDS", _has_ids(analysis)))
    lines.append(assignment("ID_AROUND_NAME", _around_name(analysis)))
    escapes = dict(analysis.tools.arguments.name_escapes)
    lines.append(assignment("KEY_ESCAPES: dict[str, str]", escapes))
    lines += ["", "# ---- Settings of the decoders, and what a server needs to know ----", ""]
    lines += [_setting(name, value) for name, value in tables.settings.items()]
    prompts = analysis.generation_prompts
    by_name = {
        "default": prompts.default,
        "thinking": prompts.thinking,
        "no_thinking": prompts.no_thinking,
    }
    lines.append(assignment("GENERATION_PROMPTS", by_name))
    lines.append(assignment("PRESERVED_TOKENS: list[str]", list(analysis.preserved_tokens)))
    if special is not None:
        found = [token for token in analysis.preserved_tokens if token in special]
        lines += ["# Of them, what a detokenizer drops unless skip_special_tokens is off."]
        lines.append(assignment("SPECIAL_MARKERS: list[str]", found))
    by_kind = [dict(trigger) for trigger in triggers(analysis)]
    lines.append(assignment("TRIGGERS: list[dict[str, str]]", by_kind))
    return "\n".join(lines)


def _has_ids(analysis: Analysis) -> bool:
    """Whether an id may stand in a call."""
    named = analysis.tools.format.id_field or analysis.tools.format.gen_id_field
    return bool(named) or analysis.tools.call_id.pos is not CallIdPosition.NONE


def _around_name(analysis: Analysis) -> tuple[str, str]:
    """What an id holds besides the function's name, where it carries that."""
    call_id = analysis.tools.call_id
    carries = call_id.pos is CallIdPosition.CARRIES_NAME
    return (call_id.prefix, call_id.suffix) if carries else ("", "")


def _setting(name: str, value: object) -> str:
    """A setting of a decoder; empty values need their type said."""
    types = {
        "RAW_WRAP": "tuple[str, str] | None",
        "RAW_TYPES": "dict[str, str]",
        "VALUE_ESCAPES": "dict[str, str]",
        "FIXED_FIELDS": "list[str]",
    }
    annotation = f": {types[name]}" if name in types else ""
    return assignment(f"{name}{annotation}", value)


def _constant(name: str, marker: Marker) -> str:
    notes = [note for note in (code_points(marker.text), one_line(marker.evidence)) if note]
    comment = f"  # {'; '.join(notes)}" if notes else ""
    return assignment(name, marker.text) + comment


def _regions(tables: Tables) -> str:
    rows = "\n".join(f"    {string(n)}: {_row(r)}," for n, r in tables.regions.items())
    return (
        "# ---- Regions and transitions: this table is the parser ----\n\n"
        f"START = {string(tables.start)}\n\nREGIONS: dict[str, Region] = {{\n{rows}\n}}\n"
    )


def _transitions(tables: Tables) -> str:
    parts = []
    for region, rows in tables.transitions.items():
        inner = "\n".join(
            f"        {marker if marker in tables.markers else string(marker)}: {_row(go)},"
            for marker, go in rows.items()
        )
        parts.append(f"    {string(region)}: {{\n{inner}\n    }},")
    body = "\n".join(parts)
    return f"TRANSITIONS: dict[str, dict[str, Go]] = {{\n{body}\n}}\n"


def _row(row: Region | Go) -> str:
    """A named tuple without the fields that have their default."""
    defaults = type(row)._field_defaults
    first, *others = row._fields
    parts = [literal(getattr(row, first))]
    parts += [f"{f}={literal(getattr(row, f))}" for f in others if getattr(row, f) != defaults[f]]
    return f"{type(row).__name__}({', '.join(parts)})"


def _registry(tables: Tables) -> str:
    rows = "\n".join(f"    {string(r)}: {name}," for r, name in tables.decoders.items())
    return (
        f"DECODERS: dict[str, type[Decoder]] = {{\n{rows}\n}}"
        if rows
        else "DECODERS: dict[str, type[Decoder]] = {}"
    )
