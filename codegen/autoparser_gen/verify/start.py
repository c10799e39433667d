"""Where in a turn a grammar begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autoparser_gen.analysis.model import Analysis, ToolFormat
from autoparser_gen.grammar.lower import prompt_state
from autoparser_gen.grammar.markup import core, loses_types
from autoparser_gen.probe import Turn
from autoparser_gen.probe.needles import Call

REASONING = "Let me see."


@dataclass(frozen=True)
class Start:
    """Where in a turn a grammar begins: behind a prompt, or, if lazy, at the text that triggers it.

    `typed` says that it holds arguments to their types.
    """

    prompt: str
    trigger: str = ""
    typed: bool = False

    def text(self, turn: Turn, analysis: Analysis, calls: Sequence[Call] = ()) -> str | None:
        """What the grammar covers of a turn, which makes these calls; None where that is nothing."""
        text = grammar_text(turn, analysis, self.prompt)
        if text is not None and self.typed and len(calls) == 1:
            text = with_types(text, calls[0], analysis)
        if text is None or self.trigger not in text:
            return None
        return text[text.index(self.trigger) :]


def grammar_text(turn: Turn, analysis: Analysis, prompt: str) -> str | None:
    """What a model writes behind a prompt to make such a turn, without its end; None where it cannot."""
    text = turn.after(prompt)
    if text is None:
        text = _behind(turn, analysis, prompt)
    if text is None or _is_left_open(text, analysis.tools.format):
        return None
    for end in (analysis.end_of_turn_after_calls, analysis.end_of_turn):
        before, found, rest = text.rpartition(end.strip() or "\0")
        if found and not rest.strip():
            return before
    return text


def with_types(text: str, call: Call, analysis: Analysis) -> str:
    """A text whose call has its arguments as Python writes them, where history loses their types.

    History may put no string between quotes, or every value; grammars of tools ask for the types.
    """
    name, arguments = call
    literals = analysis.tools.arguments.literals
    start, end = text.find(f"{name}("), text.rfind(")")
    if literals is None or not loses_types(analysis) or not 0 <= start < end:
        return text
    quote = "" if literals.bare_strings else literals.quotes[0]
    members = (
        f"{key}={quote + value + quote if quote and isinstance(value, str) else repr(value)}"
        for key, value in arguments.items()
    )
    return f"{text[:start]}{name}({', '.join(members)}{text[end:]}"


def _is_left_open(text: str, form: ToolFormat) -> bool:
    """Whether history does not close a section of calls, which models do."""
    start, end = core(form.section_start), core(form.section_end)
    return bool(start and end) and start in text and end not in text


def _behind(turn: Turn, analysis: Analysis, prompt: str) -> str | None:
    """The same where the prompt holds a line end or reasoning, opened or closed, that history lacks."""
    start, end = core(analysis.reasoning.start), core(analysis.reasoning.end)
    prefill = prompt.removeprefix(analysis.assistant_header)
    if not prefill.strip():
        return turn.text.lstrip()
    if turn.text.lstrip().startswith(prefill.lstrip()):  # with other whitespace behind the header
        return turn.text.lstrip()[len(prefill.lstrip()) :]
    state = prompt_state(analysis, prefill)
    if analysis.headers is not None or not end or not state:
        return None
    body = turn.text
    if body.lstrip().startswith(end):  # of the block that the prompt opened
        body = body.lstrip()[len(end) :]
    if end in body or (start and start in body):
        return None
    return body if state == "closed" else REASONING + analysis.reasoning.end + body
