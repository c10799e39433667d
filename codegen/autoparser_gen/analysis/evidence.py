"""Which comparison found each field, for the fields whose phase does not say so itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum

from autoparser_gen.analysis.model import Analysis

# By the beginning of a field's path; the first that fits.
COMPARISONS = (
    ("capabilities.", "each message shape and option"),
    ("reasoning.", "content without / with reasoning"),
    ("content.", "content alone / with a call"),
    ("tools.format.section", "1 call / 2 calls"),
    ("tools.format.per_call", "1 call / 2 calls"),
    ("tools.format.call_separator", "1 call / 2 calls"),
    ("tools.format.", "1 call, decoded"),
    ("tools.function.close", "1 argument / 2 arguments"),
    ("tools.function.", "function alpha / function beta"),
    ("tools.arguments.name", "1 argument / 2 arguments"),
    ("tools.arguments.separator", "1 argument / 2 arguments"),
    ("tools.arguments.value_suffix", "1 argument / 2 arguments"),
    ("tools.arguments.start", "no arguments / 2 arguments"),
    ("tools.arguments.end", "no arguments / 2 arguments"),
    ("tools.arguments.empty", "no arguments / 2 arguments"),
    ("tools.arguments.", "one value of each type"),
    ("tools.call_id.", "call with an id, 1 call / 2 calls"),
    ("generation_prompts.default", "without / with a generation prompt"),
    ("generation_prompts.", "each option on / off"),
    ("assistant_header", "generation prompts / turns"),
    ("end_of_turn_after_calls", "content / a call"),
    ("end_of_turn", "content / a call"),
    ("headers.", "messages of one turn"),
)


def complete_evidence(analysis: Analysis) -> dict[str, str]:
    """The evidence found so far for fields that are set, and the usual comparison for the others."""
    evidence = {}
    for path in _set_fields("", analysis):
        known = analysis.evidence.get(path)
        usual = (text for start, text in COMPARISONS if path.startswith(start))
        sentence = known or next(usual, "")
        if sentence:
            evidence[path] = sentence
    return evidence


def _set_fields(path: str, value: object) -> Iterator[str]:
    """Paths of all fields that hold something."""
    if is_dataclass(value):
        for field in fields(value):
            inner = f"{path}.{field.name}" if path else field.name
            yield from _set_fields(inner, getattr(value, field.name))
    elif isinstance(value, Mapping):
        return
    elif value.value != "NONE" if isinstance(value, Enum) else value:
        yield path
