"""Content: what wraps it (phase C1), and what ends a turn."""

from __future__ import annotations

from autoparser_gen.analysis.model import Content, ContentMode, Reasoning, ReasoningMode
from autoparser_gen.analysis.study import Study
from autoparser_gen.errors import AnalysisError
from autoparser_gen.probe.glue import shared_end, without_suffix


def find_end_of_turn(study: Study) -> str:
    """What ends both a turn of content and a turn of calls."""
    after_content = study.glue("content_to_end", content=True)
    if after_content is None:
        raise AnalysisError("the content of an assistant message is not rendered")
    after_call = study.glue("call_to_end", calls=1)
    study.found("end_of_turn", "content / a call")
    if after_call is not None:
        shared = shared_end(after_content, after_call)
        if shared.strip():
            return shared
    return after_content


def analyze_content(study: Study, reasoning: Reasoning, end_of_turn: str) -> Content:
    """C1: content alone, beside reasoning, and beside a call."""
    alone = study.layout(content=True)
    if alone is None:
        raise AnalysisError("the content of an assistant message is not rendered")
    before = without_reasoning(alone.glue("prompt_to_content") or "", reasoning)
    after = without_suffix(alone.glue("content_to_end") or "", end_of_turn)
    beside = None
    if reasoning.mode is ReasoningMode.TAG_BASED:
        glue = study.glue("reasoning_to_content", reasoning=True, content=True)
        beside = None if glue is None else without_reasoning(glue, reasoning)
    if before.strip():
        study.found("content.start", "content alone / with reasoning")
        return Content(ContentMode.ALWAYS_WRAPPED, before.lstrip(), after.rstrip())
    if beside is not None and beside.strip():
        study.found("content.start", "content alone / with reasoning")
        return Content(ContentMode.WRAPPED_WITH_REASONING, beside.lstrip(), after.rstrip())
    return Content()


def without_reasoning(glue: str, reasoning: Reasoning) -> str:
    """Glue without the empty or closed reasoning block at its start."""
    start, end = reasoning.start.strip(), reasoning.end.strip()
    bare = glue.lstrip()
    if start and bare.startswith(start):
        bare = bare[len(start) :].lstrip()
    elif not (end and bare.startswith(end)):
        return glue
    return bare[len(end) :] if end and bare.startswith(end) else glue
