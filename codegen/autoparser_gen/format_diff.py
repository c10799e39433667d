"""What changed in a format between two chat templates, for a person who reviews the change."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autoparser_gen import containers, request
from autoparser_gen.analysis.as_json import as_dict
from autoparser_gen.analysis.model import FORMAT_VERSION, Analysis
from autoparser_gen.errors import UsageError
from autoparser_gen.fields import MEANINGS, flatten, is_unset, quoted
from autoparser_gen.header import printable
from autoparser_gen.pipeline import find_format
from autoparser_gen.request import Options

# The parts of an analysis under the headings that a person looks for; the rest is no format.
HEADINGS = {
    "reasoning": "Reasoning",
    "content": "Content",
    "tools": "Calls",
    "headers": "The turn",
    "assistant_header": "The turn",
    "end_of_turn": "The turn",
    "end_of_turn_after_calls": "The turn",
    "generation_prompts": "The turn",
    "joints": "Text between two parts",
    "preserved_tokens": "For servers",
    "triggers": "For servers",
    "capabilities": "What the chat template renders",
    "notes": "Notes",
}
_WIDTH = 100


@dataclass(frozen=True)
class Side:
    """One of the two formats: where it was found, and its fields by their paths."""

    name: str
    sha256: str  # of the chat template's text
    fields: Mapping[str, Any]


@dataclass(frozen=True)
class FieldChange:
    """A field whose value differs; None where a side does not use it.

    `follows` says that it repeats markers that other fields hold, and differs by those alone.
    """

    path: str
    old: Any
    new: Any
    follows: bool = False


def read_side(source: Path, options: Options) -> Side:
    """A format from a chat template in any container, or from an analysis that was generated.

    Raises AutoparserError where there is none to read.
    """
    if request.is_folder(source):
        raise UsageError(f"{source} is a folder of chat templates; name one of them on each side.")
    if source.suffix == ".json" and source.is_file():
        content = containers.read_json(source)
        if isinstance(content, dict) and "format_version" in content:
            return _from_json(source, content)
    found = find_format(source, options)
    found.prober.renderer.close()
    return _side(str(source), json.loads(json.dumps(as_dict(found.analysis))))


def changes(old: Side, new: Side) -> list[FieldChange]:
    """Every field that differs, in the order of the analysis."""
    differing = []
    for path in dict.fromkeys([*old.fields, *new.fields]):
        before, after = (_value(side, path) for side in (old, new))
        if before != after:
            differing.append(FieldChange(path, before, after))
    respelled = _respelled(differing)
    return [
        FieldChange(change.path, change.old, change.new, _follows(change, respelled))
        for change in differing
    ]


def report(old: Side, new: Side, found: Sequence[FieldChange]) -> list[str]:
    """The summary of `changes` for people, line by line."""
    names = f"{printable(old.name)} -> {printable(new.name)}"
    if not found:
        same_text = old.sha256 == new.sha256
        text = "the same chat template" if same_text else "the text of the chat template changed"
        return [f"{names}: the same format ({text})"]
    shown = [change for change in found if not change.follows]
    lines = [f"{names}: the format changed"]
    heading = ""
    for change in sorted(shown, key=_place):
        if heading != _heading(change):
            heading = _heading(change)
            lines += ["", heading]
        lines += [f"  {line}" for line in _lines(change)]
    following = [change.path for change in found if change.follows]
    if following:
        lines += ["", f"Changed by these alone: {', '.join(map(printable, following))}"]
    return lines


def _from_json(source: Path, content: dict[str, Any]) -> Side:
    if content["format_version"] != FORMAT_VERSION:
        raise UsageError(
            f"{source}: an analysis of format version {quoted(content['format_version'])}; this"
            f" release compares version {FORMAT_VERSION}. Generate it again."
        )
    expected = as_dict(Analysis("", ""))
    if set(content) != set(expected) or not isinstance(content["sha256"], str):
        raise UsageError(f"{source}: no whole analysis. Generate it again, with -o {source.name}.")
    return _side(str(source), content)


def _side(name: str, content: Mapping[str, Any]) -> Side:
    parts = {part: content[part] for part in HEADINGS}
    return Side(name, content["sha256"], dict(flatten("", parts)))


def _value(side: Side, path: str) -> Any:
    value = side.fields.get(path)
    return None if is_unset(value) else value


def _respelled(differing: Sequence[FieldChange]) -> dict[str, str]:
    """Markers that are spelled otherwise, old text to new: whole, and without their whitespace."""
    pairs: dict[str, str] = {}
    for change in differing:
        is_marker = isinstance(change.old, str) and isinstance(change.new, str)
        if is_marker and change.path not in MEANINGS and not _repeats(change.path):
            pairs.setdefault(change.old, change.new)
            pairs.setdefault(change.old.strip(), change.new.strip())
    pairs.pop("", None)
    return pairs


def _repeats(path: str) -> bool:
    """Whether a field holds markers of other fields, beside text of its own."""
    return path.split(".")[0] in ("joints", "generation_prompts", "preserved_tokens", "triggers")


def _follows(change: FieldChange, respelled: Mapping[str, str]) -> bool:
    if not respelled or not _repeats(change.path) or change.old is None or change.new is None:
        return False
    # One pass, the longest first, so that what was put in is not replaced again.
    longest_first = sorted(respelled, key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, longest_first)))
    return bool(_replaced(change.old, pattern, respelled) == change.new)


def _replaced(value: Any, pattern: re.Pattern[str], respelled: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return pattern.sub(lambda match: respelled[match[0]], value)
    if isinstance(value, list):
        return [_replaced(item, pattern, respelled) for item in value]
    if isinstance(value, dict):
        return {key: _replaced(item, pattern, respelled) for key, item in value.items()}
    return value


def _heading(change: FieldChange) -> str:
    return HEADINGS[change.path.split(".")[0]]


def _place(change: FieldChange) -> int:
    return list(HEADINGS).index(change.path.split(".")[0])


def _lines(change: FieldChange) -> Iterator[str]:
    path = printable(change.path)
    if isinstance(change.old or [], list) and isinstance(change.new or [], list):
        yield from _listed(path, change.old or [], change.new or [])
        return
    is_flag = True in (change.old, change.new)
    old, new = (_shown(change.path, value, is_flag) for value in (change.old, change.new))
    line = f"{path}: {old} -> {new}"
    if len(line) <= _WIDTH:
        yield line
    else:
        yield from (f"{path}:", f"  {old}", f"  -> {new}")


def _listed(path: str, old: Sequence[Any], new: Sequence[Any]) -> Iterator[str]:
    gone, come = ([i for i in a if i not in b] for a, b in ((old, new), (new, old)))
    if not gone and not come:
        yield f"{path}: another order"
    yield from (f"{path}: no longer {quoted(item)}" for item in gone)
    yield from (f"{path}: now {quoted(item)}" for item in come)


def _shown(path: str, value: Any, is_flag: bool) -> str:
    if is_flag:
        return "yes" if value else "no"
    meaning = MEANINGS.get(path, {}).get(value) if isinstance(value, str) else None
    if meaning:
        return f"{value} ({meaning})"
    return "nothing" if value is None else quoted(value)
