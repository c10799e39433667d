"""What a request asks for: calls of its tools, content of its schema.

The rest of verification makes up tools for the values that it tries; here it is the other way
round. The grammar must accept what the chat template makes of such a message, and the module read it.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from autoparser_gen.analysis.as_json import triggers
from autoparser_gen.analysis.model import Analysis, ToolMode
from autoparser_gen.grammar import instances
from autoparser_gen.grammar.ir import ResponseGrammar
from autoparser_gen.grammar.recognize import reject_reason
from autoparser_gen.grammar.request import Tool, choose, read_tools
from autoparser_gen.probe import Prober, needles
from autoparser_gen.targets import Asked
from autoparser_gen.verify.cases import Case, without_repeats
from autoparser_gen.verify.check import Verifier
from autoparser_gen.verify.messages import ProbeMessage
from autoparser_gen.verify.start import REASONING, Start
from autoparser_gen.verify.subject import Subject


def verify_examples(
    prober: Prober, analysis: Analysis, module: str, grammar: ResponseGrammar, asked: Asked
) -> tuple[str, ...]:
    """Read messages of a request back, with the grammar that was made for it; returns their names.

    `module` is the text of the parser.

    Raises VerificationError at the first that comes back wrong.
    """
    start = _start(analysis, asked)
    loaded = Subject(module, "").load_module(analysis.source)
    verifier = Verifier(prober, analysis, loaded, partial(reject_reason, grammar), start)
    messages = list(_messages(asked, _reasoning(prober, analysis, start)))
    cases = [
        case
        for case in without_repeats(verifier.cases(messages, {}, {}))
        if _shows_names(case, analysis)
    ]
    for case in cases:
        verifier.check(case)
    return tuple(case.message.name for case in cases if start.text(case.turn, analysis) is not None)


def _start(analysis: Analysis, asked: Asked) -> Start:
    prompts = analysis.generation_prompts
    by_option = {None: prompts.default, True: prompts.thinking, False: prompts.no_thinking}
    words = (trigger["value"] for trigger in triggers(analysis) if asked.lazy)
    return Start(by_option[asked.thinking], next(words, ""), typed=asked.tools is not None)


def _reasoning(prober: Prober, analysis: Analysis, start: Start) -> str | None:
    """Reasoning where no call follows the prompt without it."""
    for reasoning in (None, REASONING):
        turn = prober.turn(None, reasoning, needles.calls(1))
        if turn is not None and start.text(turn, analysis) is not None:
            return reasoning
    return None


def _shows_names(case: Case, analysis: Analysis) -> bool:
    """Whether names are written so that they can be read; some chat templates escape none in JSON."""
    if analysis.tools.format.mode is not ToolMode.JSON_NATIVE:
        return True
    written = [
        (json.dumps(name), json.dumps(name, ensure_ascii=False)) for name, _ in case.message.calls
    ]
    return all(any(text[1:-1] in case.text for text in texts) for texts in written)


def _messages(asked: Asked, reasoning: str | None) -> Iterator[ProbeMessage]:
    tools = choose(None if asked.tools is None else read_tools(asked.tools), asked.tool_choice)
    yield from calls_of(tools or (), reasoning)
    if asked.response_schema is not None and asked.tool_choice in ("auto", "none"):
        yield from content_of(asked.response_schema, reasoning)


def calls_of(tools: Sequence[Tool], reasoning: str | None) -> Iterator[ProbeMessage]:
    """A call of each tool with the arguments that it requires, and one with all that it has."""
    offered = [
        {"type": "function", "function": {"name": tool.name, "parameters": tool.schema}}
        for tool in tools
    ]
    for tool in tools:
        made: list[Any] = []
        for every in (False, True):
            with contextlib.suppress(instances.Impossible):
                made += [instances.arguments(tool, every=every)]
        for arguments in made if made[:1] != made[1:] else made[:1]:
            name = f"a call of {tool.name!r} with {', '.join(arguments) or 'no arguments'}"
            call = (tool.name, arguments)
            yield ProbeMessage(name, reasoning=reasoning, calls=(call,), offered=offered)


def content_of(schema: Any, reasoning: str | None) -> Iterator[ProbeMessage]:
    """Content that the schema of the response permits."""
    with contextlib.suppress(instances.Impossible):
        text = json.dumps(instances.value(schema), ensure_ascii=False)
        yield ProbeMessage("content by the schema", text, reasoning)
