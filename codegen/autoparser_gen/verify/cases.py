"""Turns to read back: what is in them, which of them are alike, and which no model would write."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autoparser_gen.analysis.model import SAME_KEY, SAME_NAME, Analysis, ToolMode
from autoparser_gen.grammar.markup import core
from autoparser_gen.probe import Turn
from autoparser_gen.verify.messages import ProbeMessage, Reading


@dataclass(frozen=True)
class Case:
    """A message, the turn that the chat template makes of it, and what must be read back."""

    message: ProbeMessage
    turn: Turn
    prompt: str
    parts: frozenset[str]  # of the message, that are in the turn

    @property
    def expected(self) -> Reading:
        """The message as it must come back."""
        return self.message.expected(self.parts)

    @functools.cached_property
    def tools(self) -> Sequence[Mapping[str, Any]] | None:
        """The tools that were offered; None where the message calls none."""
        return self.message.tools() if self.message.calls else None

    @property
    def text(self) -> str:
        """What a model would have written."""
        return self.turn.generated


def why_unlike_output(message: ProbeMessage, turn: Turn, analysis: Analysis) -> str:
    """What a chat template does to history that no model does to its output; "" where nothing.

    Content and calls may be rendered as messages of their own, each with its header: no model
    writes them in one go, unless turns of the format are made of several messages.
    """
    facts, header = analysis.capabilities, analysis.assistant_header.strip()
    repeats_header = bool(header) and header in turn.text
    two_turns = repeats_header or not facts.renders_content_beside_calls
    if message.calls and analysis.tools.format.mode is ToolMode.NONE:
        return "calls in a format that can be read"
    if message.content and message.calls and two_turns:
        return "content beside calls in one turn"
    if message.reasoning and not facts.reasoning_comes_first:
        return f"reasoning in front of {'calls' if message.calls else 'content'}"
    if not facts.renders_empty_arguments and any(not given for _, given in message.calls):
        return "a call without arguments that can be read"
    return ""


def prompt_before(turn: Turn, analysis: Analysis) -> str:
    """What a model was given before such a turn.

    Where history begins with the end of reasoning, that is a prompt which opened it.
    """
    reasoning, prompts = analysis.reasoning, analysis.generation_prompts
    closer = reasoning.end.strip()
    if closer and turn.generated.lstrip().startswith(closer):
        for prompt in (turn.prompt, prompts.default, prompts.thinking):
            if prompt.rstrip().endswith(reasoning.start.strip()):
                return prompt
    return turn.prompt


def holds_closers(message: ProbeMessage, analysis: Analysis) -> bool:
    """Whether a value holds what may end it, which a grammar cannot tell from what does.

    Where the closers of argument and call repeat names, only these tell the closers apart; where no
    marker closes a value, only the exact spelling of the next name does.
    """
    function, arguments = analysis.tools.function, analysis.tools.arguments
    start, key, _ = arguments.value_suffix.strip().partition(SAME_KEY)
    if not start and analysis.tools.format.mode is ToolMode.TAG_WITH_TAGGED:
        start = arguments.name_prefix.strip()
    elif not (key and SAME_NAME in function.close):
        return False
    values = json.dumps([arguments for _, arguments in message.calls], ensure_ascii=False)
    return json.dumps(start)[1:-1] in values


def calls_behind_section(case: Case, text: str, analysis: Analysis) -> bool:
    """Whether history closes the section before the last call, which models do not."""
    form = analysis.tools.format
    call, end = core(form.per_call_start), core(form.section_end)
    if not call or not end or case.message.holds(end):
        return False
    return call in text.partition(end)[2]


def fullest(cases: Sequence[Case]) -> list[Case]:
    """One case for each kind of turn whose parts are not all in another one."""
    kinds = {
        case.message.kind.only(case.parts): case
        for case in reversed(cases)
        if not case.message.options
    }
    return [
        case
        for kind, case in kinds.items()
        if not any(other != kind and other.contains(kind) for other in kinds)
    ]


def without_repeats(cases: Sequence[Case]) -> Iterable[Case]:
    """Cases that differ in what is read: an option may leave a turn as it was."""
    different: dict[tuple[str, str, str], Case] = {}
    for case in cases:
        different.setdefault((case.text, case.prompt, repr(case.tools)), case)
    return different.values()
