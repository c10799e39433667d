"""Reasoning: the markers around it (phases R1 to R3)."""

from __future__ import annotations

import re

from autoparser_gen.analysis.conventions import opener_in_header
from autoparser_gen.analysis.model import Reasoning, ReasoningMode
from autoparser_gen.analysis.study import Study
from autoparser_gen.probe import needles
from autoparser_gen.probe.glue import shared_start, without_prefix
from autoparser_gen.probe.prober import Options

THINKING_SWITCHES: tuple[Options, ...] = (
    {},
    {"enable_thinking": True},
    {"thinking": True},
)


def analyze_reasoning(study: Study) -> Reasoning:
    """Find the reasoning markers: in history, else in the generation prompts."""
    reasoning = compare_reasoning_presence(study)
    if reasoning.mode is ReasoningMode.NONE:
        reasoning = compare_reasoning_scope(study)
    if not (reasoning.start.strip() and reasoning.end.strip()):
        reasoning = compare_thinking_enabled(study, reasoning)
    return reasoning


def _find_field(study: Study, calls: int) -> bool:
    """Look for the message key and the switch that make reasoning appear; keep both."""
    prober = study.prober
    for options in THINKING_SWITCHES:
        name = prober.find_reasoning_field(options, needles.calls(calls))
        if name:
            prober.set_reasoning_field(name)
            study.reasoning_options = dict(options)
            return True
    return False


def compare_reasoning_presence(study: Study) -> Reasoning:
    """R1: content with and without a reasoning field."""
    if not _find_field(study, calls=0):
        return Reasoning()
    layout = study.layout(reasoning=True, content=True)
    start = layout.glue("prompt_to_reasoning") if layout else None
    to_content = layout.glue("reasoning_to_content") if layout else None
    if start is None or to_content is None:
        return Reasoning()
    study.found("reasoning.start", "content without / with reasoning")
    study.found("reasoning.end", "reasoning before content / before a call")
    to_call = study.glue("reasoning_to_call", reasoning=True, calls=1)
    end = _end(to_content, to_call, study)
    return opener_in_header(study, Reasoning(ReasoningMode.TAG_BASED, start.lstrip(), end))


def _end(to_content: str, to_call: str | None, study: Study) -> str:
    if to_call is not None:
        return shared_start(to_content, to_call)
    return to_content


def compare_reasoning_scope(study: Study) -> Reasoning:
    """R3: reasoning with a call, where a turn without a call does not show it."""
    if not study.prober.renders_calls or not _find_field(study, calls=1):
        return Reasoning()
    layout = study.layout(reasoning=True, calls=1)
    start = layout.glue("prompt_to_reasoning") if layout else None
    to_call = layout.glue("reasoning_to_call") if layout else None
    if start is None or to_call is None:
        return Reasoning()
    study.found("reasoning.start", "reasoning with content / with a call")
    end = ""
    # The call's own opener follows the closer: what an empty block, in the generation prompt or
    # before content, holds behind the opener is the closer.
    leads = [
        prompt[len(study.header) :] for prompt in study.prompts() if prompt.startswith(study.header)
    ]
    leads.append(study.glue("prompt_to_content", content=True) or "")
    for lead in leads:
        if start.strip() and lead.startswith(start.strip()):
            closer = lead[len(start.strip()) :].lstrip()
            shared = shared_start(closer, to_call.lstrip())
            if shared.strip():
                end = to_call[: len(to_call) - len(to_call.lstrip())] + shared
                study.found("reasoning.end", "reasoning before a call / an empty block")
                break
    return opener_in_header(study, Reasoning(ReasoningMode.TOOLS_ONLY, start.lstrip(), end))


def compare_thinking_enabled(study: Study, known: Reasoning) -> Reasoning:
    """R2: generation prompts with thinking switched on and off."""
    opened, closed = study.prompt_pair()
    if opened is None or closed is None:
        return known
    end = without_prefix(closed, opened)
    head = opened.rstrip()
    tail = re.search(r"(<[^<>]*>|\[[^\[\]]*\])$", head)
    if tail is None or not end.strip():
        return known
    start = opened[tail.start() :]
    if not known.end.strip():
        study.found("reasoning.end", "generation prompt with thinking on / off")
    if not known.start.strip():
        study.found("reasoning.start", "generation prompt with thinking on / off")
        study.move_header(len(start.rstrip()))
    mode = known.mode if known.mode is not ReasoningMode.NONE else ReasoningMode.TAG_BASED
    return Reasoning(mode, known.start or start, known.end if known.end.strip() else end)
