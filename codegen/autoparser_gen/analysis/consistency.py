"""The last check: what is left of a probe in a field shows that the renderings were misread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace

from autoparser_gen.analysis.model import Analysis
from autoparser_gen.analysis.study import Study
from autoparser_gen.analysis.typed import INNER, INNER_KEY, ITEM
from autoparser_gen.errors import AnalysisError, shown
from autoparser_gen.probe import needles

NEEDLES = (
    *(needles.USER, needles.USER_AGAIN, needles.SYSTEM, needles.CONTENT, needles.REASONING),
    *needles.FUNCTIONS,
    *(key for keys in needles.KEYS for key in keys),
    *(value for values in needles.VALUES for value in values),
    *needles.IDS,
    *(ITEM, INNER_KEY, INNER),
)

# The longest marker of real chat templates has 64 characters; grammars take a state for each.
MAX_MARKER = 100


def require_short_markers(study: Study, analysis: Analysis) -> Analysis:
    """The analysis itself. Raises AnalysisError where a marker is too long for a grammar."""
    prompts = replace(analysis.generation_prompts, default="", thinking="", no_thinking="")
    markers = replace(analysis, joints={}, evidence={}, notes=(), generation_prompts=prompts)
    for path, text in _texts("", markers):
        if len(text) > MAX_MARKER:
            raise AnalysisError(
                f"{study.prober.name}: {path} would be a marker of {len(text)} characters,"
                f" {shown(text)}. Markers have at most {MAX_MARKER}: look where the chat"
                " template prints this, it may be text that does not belong to the assistant's turn."
            )
    return analysis


def require_no_needle(study: Study, analysis: Analysis) -> Analysis:
    """The analysis without joints that hold a probe's text.

    Raises AnalysisError where such a text is in any other field.
    """
    joints = {pair: glue for pair, glue in analysis.joints.items() if not _holds_needle(glue)}
    analysis = replace(analysis, joints=joints)
    for path, text in _texts("", replace(analysis, joints={}, evidence={}, notes=())):
        if _holds_needle(text):
            raise inconsistent(
                study, f"{path} would be {shown(text)}, which holds a probe's own text"
            )
    return analysis


def inconsistent(study: Study, why: str) -> AnalysisError:
    """An error that shows what was compared."""
    one, two = study.layout(calls=1), study.layout(calls=2)
    compared = [
        f"{name}: {shown(layout.text)}"
        for name, layout in (("one call", one), ("two calls", two))
        if layout is not None
    ] or [f"an answer: {shown(study.prober.after_user(content=needles.CONTENT))}"]
    return AnalysisError(
        f"{study.prober.name}: the renderings do not show one consistent format: {why}."
        f" Compared were {'; '.join(compared)}."
    )


def _holds_needle(text: str) -> bool:
    return any(needle in text for needle in NEEDLES)


def _texts(path: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, tuple):
        for item in value:
            yield from _texts(path, item)
    elif is_dataclass(value) and not isinstance(value, Mapping):
        for field in fields(value):
            yield from _texts(f"{path}.{field.name}".lstrip("."), getattr(value, field.name))
