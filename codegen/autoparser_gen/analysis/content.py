"""Content: what wraps it (phase C1), and what ends a turn."""

from __future__ import annotations

from dataclasses import dataclass

from autoparser_gen.analysis.model import Content, ContentMode, Reasoning, ReasoningMode
from autoparser_gen.analysis.reasoning import instruction_pairs
from autoparser_gen.analysis.study import Study
from autoparser_gen.errors import AnalysisError, shown
from autoparser_gen.probe.glue import shared_end, shared_start, without_suffix


@dataclass(frozen=True)
class TurnEnd:
    """What ends a turn, and what ends a turn of calls where that is unlike."""

    text: str
    after_calls: str = ""


def find_end_of_turn(study: Study) -> TurnEnd:
    """What ends both a turn of content and a turn of calls."""
    after_content = study.glue("content_to_end", content=True)
    if after_content is None:
        raise AnalysisError(
            f"{study.prober.name}: an answer is rendered, but not inside the assistant's turn:"
            f" {shown(study.prober.after_user(content='Answer.'))} against"
            f" {shown(study.prober.opening(prompt=False))}"
        )
    if not after_content.strip():  # shown in history only
        history = study.glue("content_to_end", content=True, user_follows=True)
        after_content = history or after_content
    after_call = study.glue("call_to_end", calls=1)
    study.found("end_of_turn", "content / a call", after_content, after_call or "")
    if after_call is None:
        return TurnEnd(_own_end(study, after_content))
    shared = shared_end(after_content.rstrip(), after_call.rstrip())
    if shared.strip():
        return TurnEnd(shared)
    return TurnEnd(_own_end(study, after_content), after_call)


def _own_end(study: Study, after_content: str) -> str:
    """The end of a turn of content, without what may close the content itself."""
    user = study.prober.edges.user_close(
        study.prober.opening(prompt=False), study.prober.opening(prompt=True)
    )
    shared = shared_end(after_content.rstrip(), user.rstrip())
    return shared if shared.strip() else after_content


def analyze_content(study: Study, reasoning: Reasoning, end: TurnEnd) -> Content:
    """C1: content alone, beside reasoning, and beside a call."""
    alone = study.layout(content=True)
    assert alone is not None  # find_end_of_turn has seen it
    before = without_reasoning(alone.glue("prompt_to_content") or "", reasoning)
    after = without_end(alone.glue("content_to_end") or "", end.text)
    with_reasoning = None
    if reasoning.mode is ReasoningMode.TAG_BASED:
        glue = study.glue("reasoning_to_content", reasoning=True, content=True)
        with_reasoning = None if glue is None else without_reasoning(glue, reasoning)
        if with_reasoning is not None and study.header.strip() in with_reasoning:
            with_reasoning = with_reasoning.partition(study.header.strip())[2]
    if before.strip():
        study.found("content.start", "content alone / with a call", alone.text)
        found = Content(ContentMode.ALWAYS_WRAPPED, before.lstrip(), after.rstrip())
    elif with_reasoning is not None and with_reasoning.strip():
        study.found("content.start", "content alone / with reasoning", alone.text)
        found = Content(ContentMode.WRAPPED_WITH_REASONING, with_reasoning.lstrip(), after.rstrip())
    else:
        found = _wrapper_in_instructions(study)
    return _beside_calls(study, found, reasoning)


def _wrapper_in_instructions(study: Study) -> Content:
    """A second pair that a thinking option names in the text before the user's message."""
    if "pairs-in-instructions" not in study.evidence.get("reasoning.start", ""):
        return Content()
    pairs = instruction_pairs(study)
    if len(pairs) < 2:
        return Content()
    study.found("content.start", "convention pairs-in-instructions")
    return Content(ContentMode.WRAPPED_WITH_REASONING, *pairs[1])


def _beside_calls(study: Study, found: Content, reasoning: Reasoning) -> Content:
    """What wraps content beside a call, where that differs."""
    layout = study.layout(content=True, calls=1)
    before = layout.before("content") if layout else None
    to_call = layout.glue("content_to_call") if layout else None
    if before is None or to_call is None:
        return found
    before = without_reasoning(before, reasoning).strip()
    bare = study.glue("prompt_to_call", calls=1) or ""
    if found.start.strip():
        if before.startswith(found.start.strip()):
            return found
        return Content(found.mode, found.start, found.end, plain_beside_calls=not before)
    rest = without_reasoning(bare, reasoning).lstrip()
    if before and rest.startswith(before):
        # Without content the wrapper stands there empty: opener, closer, the call's own markers.
        closer = shared_start(rest[len(before) :], to_call)
        closer = closer[: closer.find(">") + 1 or len(closer)]
    else:  # or it is not there, and the call's own markers are all
        closer = without_suffix(to_call, shared_end(to_call, rest))
    # A call in a message of its own says nothing of what closes content.
    header = study.header.strip()
    if not before or not closer.strip() or (header and header in closer):
        return found
    study.found("content.beside_call_start", "a call without / with content", bare, to_call)
    return Content(found.mode, beside_call_start=before, beside_call_end=closer.strip())


def without_end(glue: str, end_of_turn: str) -> str:
    """Glue without the end of turn and the whitespace around that."""
    core = end_of_turn.strip()
    return without_suffix(glue.rstrip(), core) if core else glue


def without_reasoning(glue: str, reasoning: Reasoning) -> str:
    """Glue without the empty or closed reasoning block at its start."""
    start, end = reasoning.start.strip(), reasoning.end.strip()
    bare = glue.lstrip()
    if not end:
        return glue
    if start and bare.startswith(start):
        inside = bare[len(start) :].lstrip()
        if inside.startswith(end):
            return inside[len(end) :]
        if start != end:
            return glue
    return bare[len(end) :] if bare.startswith(end) else glue
