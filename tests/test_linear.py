"""The cost of reading is linear, whatever the text: work is counted, not timed.

Work is characters that a search, a copy or the JSON decoder goes through, and calls of functions.
"""

from __future__ import annotations

import json
import re
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import pytest
import texts
from parsers import parser_of
from splits import pieces

from autoparser_gen import verify

# Formats that have all decoders between them.
STEMS = [*texts.FORMATS.values(), "gemma_4", "kimi_k2_instruct", "minimax_m3", "functionary_v3_2"]
SIZE = 1000
MOST = 2.3  # times the work for twice the text
ONCE = 1000  # work that may come with the text's length only once
PIECES = (16, None)  # None: the whole text


class Work:
    """A counter."""

    def __init__(self) -> None:
        self.done = 0

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count calls too."""

        def count(frame: object, event: str, argument: object) -> None:
            self.done += 1

        self.done = 0
        sys.setprofile(count)
        try:
            yield
        finally:
            sys.setprofile(None)


class CountedText(str):
    """A text that counts what is looked for in it and copied from it."""

    work: Work

    def made(self, text: str) -> CountedText:
        """A text of the same counter."""
        new = CountedText(text)
        new.work = self.work
        return new

    def __getitem__(self, index: Any) -> CountedText:
        part = super().__getitem__(index)
        self.work.done += len(part)
        return self.made(part)

    def __add__(self, other: str) -> CountedText:
        self.work.done += len(other)  # `+=` grows a text in place that has no other name
        return self.made(super().__add__(other))

    def find(self, sub: str, start: Any = 0, end: Any = None, /) -> int:
        end = len(self) if end is None else min(end, len(self))
        at = super().find(sub, start, end)
        self.work.done += (end if at < 0 else at) - start
        return at

    def rfind(self, sub: str, start: Any = 0, end: Any = None, /) -> int:
        at = super().rfind(sub, start, end)
        self.work.done += len(self) - max(at, 0)
        return at

    def rstrip(self, chars: str | None = None, /) -> CountedText:
        return self[: len(super().rstrip(chars))]

    def strip(self, chars: str | None = None, /) -> CountedText:
        self.work.done += len(self)
        return self.made(super().strip(chars))


class CountedPattern:
    """A pattern that counts what it goes through. A match that fails counts as a call."""

    def __init__(self, work: Work, pattern: re.Pattern[str]) -> None:
        self._work = work
        self._pattern = pattern
        self.pattern = pattern.pattern

    def _count(self, how: str, text: str, start: int = 0, end: int | None = None) -> Any:
        end = len(text) if end is None else end
        found = getattr(self._pattern, how)(text, start, end)
        looked_at = found.end() if found else end if how == "search" else start
        self._work.done += max(0, looked_at - start)
        return found

    def search(self, *given: Any) -> Any:
        return self._count("search", *given)

    def match(self, *given: Any) -> Any:
        return self._count("match", *given)

    def fullmatch(self, *given: Any) -> Any:
        return self._count("fullmatch", *given)

    def sub(self, *given: Any) -> str:
        self._work.done += len(given[1])
        return self._pattern.sub(*given)


class CountedDecoder:
    """The C decoder; where it fails it counts all lines up to there."""

    def __init__(self, work: Work, decoder: json.JSONDecoder) -> None:
        self._work = work
        self._decoder = decoder

    def raw_decode(self, text: str, at: int) -> tuple[Any, int]:
        try:
            value, close = self._decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            self._work.done += error.pos
            raise
        except (ValueError, RecursionError):
            self._work.done += len(text) - at
            raise
        self._work.done += close - at
        return value, close


def counted_parser(parser_text: str, work: Work, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A parser whose searches count."""
    counted_re: Any = types.ModuleType("re")
    counted_re.__dict__.update(vars(re))
    counted_re.compile = lambda *given: CountedPattern(work, re.compile(*given))
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "re", counted_re)
        module: Any = verify.import_text(parser_text)
    if hasattr(module, "_WHOLE"):
        module._WHOLE = CountedDecoder(work, module._WHOLE)
    return module


def work_of(work: Work, read: Callable[[], object]) -> int:
    with work.counted():
        read()
    return work.done


def reading(parser: Any, text: str, size: int | None, work: Work) -> int:
    """The work of reading a text in pieces, or whole."""
    cut = [text] if size is None else pieces(text, size)
    counted = []
    for piece in cut:
        counted.append(CountedText(piece))
        counted[-1].work = work

    def read() -> None:
        reader = parser.Parser()
        for piece in counted:
            reader.feed(piece)
        reader.finish()

    return work_of(work, read)


@pytest.mark.parametrize("stem", STEMS)
def test_work_is_linear(stem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    format_, work = texts.load(stem), Work()
    parser = counted_parser(format_.source, work, monkeypatch)
    short, long = (texts.hostile(format_, SIZE, times) for times in (1, 2))
    wrong = []
    for name, text in short.items():
        for size in PIECES:
            once, twice = (reading(parser, t, size, work) for t in (text, long[name]))
            if twice > MOST * once + ONCE:
                wrong.append(f"{name}, in pieces of {size}: {once} to {twice}")
    assert wrong == []


# Work for each of many small calls in a whole text. Step by step, tagged calls take 1000
# and Python's 500.
CALL_WORK = {"qwen3": 400, "qwen3_coder": 500, "lfm2_5": 300}


@pytest.mark.parametrize("stem", CALL_WORK)
def test_whole_calls_take_one_step(stem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    format_, work = texts.load(stem), Work()
    parser = counted_parser(format_.source, work, monkeypatch)
    text = format_.text("calls", 20_000)
    assert reading(parser, text, None, work) < CALL_WORK[stem] * len(parser.parse(text).tool_calls)


def test_no_pattern_is_made_for_an_argument_s_name() -> None:
    module = parser_of("minimax_m3")
    mark = "]<]minimax[>["
    arguments = "".join(f"{mark}<k{at}>{at}{mark}</k{at}>" for at in range(300))
    call = f'{mark}<tool_call>\n{mark}<invoke name="f">{arguments}{mark}</invoke>\n'
    with mock.patch.object(re, "compile", wraps=re.compile) as made:
        message = module.parse(f"{call}{mark}</tool_call>")
    assert len(json.loads(message.tool_calls[0].arguments)) == 300
    assert made.call_count < 100  # those of the format
