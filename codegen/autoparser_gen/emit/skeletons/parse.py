"""The functions at the end of a generated module."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autoparser_gen.emit.skeletons.messages import Message, Span
from autoparser_gen.emit.skeletons.runtime import Parser

# ==== Begin parse block (identical in every file) ====


def parse(
    text: str,
    *,
    tools: Sequence[Mapping[str, Any]] | None = None,
    prompt: str | None = None,
    reasoning: bool = True,
    partial: bool = False,
    strict: bool = False,
    make_id: Callable[[], str] | None = None,
    max_calls: int | None = None,
    max_arguments: int | None = None,
) -> Message:
    """Parse a model's whole output; the arguments are those of `Parser`.

    With `partial` the text is the beginning of an output, and a call in progress is included.
    Raises ParseError only with `strict`, where the text leaves the format, and LimitError only
    with `max_calls` or `max_arguments`, where it has more.
    """
    parser = Parser(
        tools=tools,
        prompt=prompt,
        reasoning=reasoning,
        strict=strict,
        make_id=make_id,
        max_calls=max_calls,
        max_arguments=max_arguments,
    )
    parser.feed(text)
    if not partial:
        parser.finish()
    return parser.message


def spans(
    text: str,
    *,
    tools: Sequence[Mapping[str, Any]] | None = None,
    prompt: str | None = None,
    reasoning: bool = True,
) -> list[Span]:
    """What each character of a model's output is: pieces that cover it without gaps."""
    parser = Parser(tools=tools, prompt=prompt, reasoning=reasoning)
    parser.feed(text)
    parser.finish()
    return parser.spans


# ==== End parse block ====
