"""Read every message back from its rendering.

Each message is rendered; the module must read it back from the turn, whole and in pieces, and the
Lark grammar must accept the turn. Formats without escaping cannot tell all messages apart, so a
message that renders to the same text is as good. A part that the chat template drops is not
expected back: which parts it renders is seen with needles.
"""

from __future__ import annotations

import contextlib
import itertools
import os.path
import random
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autoparser_gen.analysis.model import Analysis
from autoparser_gen.errors import VerificationError
from autoparser_gen.probe import Prober, Turn
from autoparser_gen.verify.cases import (
    Case,
    calls_behind_section,
    fullest,
    holds_closers,
    prompt_before,
    why_unlike_output,
    without_repeats,
)
from autoparser_gen.verify.messages import (
    Kind,
    ProbeMessage,
    Reading,
    messages,
    not_rendered,
    same,
    same_untyped,
)
from autoparser_gen.verify.start import Start
from autoparser_gen.verify.subject import Subject

SHORT = 32  # as far into the shortest turn, every two places are tried for cuts
PIECES = (1, 3, 7)
VARIANTS = 3  # sets of options to try


@dataclass(frozen=True)
class Report:
    """What verification saw: the names of the messages it read back, and what was not rendered."""

    readings: int
    rendered: tuple[str, ...]
    not_rendered: tuple[str, ...]
    examples: tuple[str, ...] = ()  # messages of the request, which its own grammar takes

    def lines(self) -> list[str]:
        """For a person, one sentence a line."""
        turns = len(self.rendered)
        said = [f"verified: {turns} turns read {self.readings} times, whole, in pieces, truncated"]
        if self.examples:
            said.append(f"the grammar of the request takes: {'; '.join(self.examples)}")
        if self.not_rendered:
            said.append(f"not rendered by the chat template: {'; '.join(self.not_rendered)}")
        return said


def verify(prober: Prober, analysis: Analysis, subject: Subject) -> Report:
    """Read every message back. Raises VerificationError at the first that comes back wrong."""
    return _verifier(prober, analysis, subject).run()


def turns(prober: Prober, analysis: Analysis, subject: Subject) -> list[Case]:
    """All turns that `verify` would have read back, each once."""
    verifier = _verifier(prober, analysis, subject)
    return list(without_repeats(verifier.cases(verifier.messages(), {}, {})))


def _verifier(prober: Prober, analysis: Analysis, subject: Subject) -> Verifier:
    module = subject.load_module(analysis.source)
    reject_reason = subject.load_grammar(analysis.source)
    start = Start(analysis.generation_prompts.default)
    return Verifier(prober, analysis, module, reject_reason, start)


class Verifier:
    """Reads messages back, each in every way."""

    def __init__(
        self,
        prober: Prober,
        analysis: Analysis,
        module: types.ModuleType,
        reject_reason: Callable[[str], str | None],
        start: Start,
    ) -> None:
        """`reject_reason` says what a grammar has against a text that begins at `start`."""
        self._prober = prober
        self._analysis = analysis
        self._module = module
        self._reject_reason = reject_reason
        self._start = start
        self._parts_by_name: dict[str, frozenset[str]] = {}
        self._readings = 0

    def messages(self) -> Iterable[ProbeMessage]:
        """What every format is tried with."""
        return messages(self._analysis, self._variants())

    def cases(
        self,
        tried: Iterable[ProbeMessage],
        seen: dict[Kind, frozenset[str]],
        apart: dict[str, None],
    ) -> list[Case]:
        """What is to be read back; notes the parts of each kind that were seen, and what was not."""
        cases: list[Case] = []
        for message in tried:
            parts = self._parts_rendered(message)
            turn = self._turn(message) if parts else None
            if turn and message.quotes and str(message.content) not in turn.text:
                continue  # the chat template takes reasoning out of content
            case = turn and Case(message, turn, prompt_before(turn, self._analysis), parts)
            reason = case and self._why_unlike_output(case)
            if reason:
                apart[reason] = None
                continue
            if not message.options:
                seen[message.kind] = parts
            if case:
                cases.append(case)
        return cases

    def run(self) -> Report:
        """Read all back, the shortest at every cut. Raises VerificationError."""
        seen: dict[Kind, frozenset[str]] = {}
        apart: dict[str, None] = {}
        cases = self.cases(self.messages(), seen, apart)
        for case in without_repeats(cases):
            self.check(case)
        for case in sorted(cases, key=lambda case: len(case.text))[:1]:
            self._check_every_cut(case)
        for case in fullest(cases):
            self._check_truncated(case)
        names = tuple(case.message.name for case in cases)
        return Report(self._readings, names, (*not_rendered(seen), *apart))

    def _variants(self) -> list[Mapping[str, Any]]:
        """Options of the chat template that change the generation prompt, such as thinking."""
        by_prompt: dict[str, Mapping[str, Any]] = {}
        for options, prompt in self._prober.prompt_variants():
            by_prompt.setdefault(prompt, options)
        return [options for options in by_prompt.values() if options][:VARIANTS]

    def _turn(self, message: ProbeMessage) -> Turn | None:
        """The turn; where no marker ends it, without the whitespace that begins the next one."""
        turn = self._prober.turn(
            message.content, message.reasoning, message.calls, options=message.options
        )
        if turn is None or self._analysis.end_of_turn:
            return turn
        return replace(turn, text=turn.text.rstrip(), generated=turn.generated.rstrip())

    def _parts_rendered(self, message: ProbeMessage) -> frozenset[str]:
        """Which parts of such a message the chat template prints; none where it refuses."""
        plain = message.plain()
        if plain.name not in self._parts_by_name:
            turn = self._turn(plain)
            self._parts_by_name[plain.name] = plain.parts_in(turn.text) if turn else frozenset()
        return self._parts_by_name[plain.name]

    def _why_unlike_output(self, case: Case) -> str:
        """Why a rendering need not be read back, where the module does not read it all the same."""
        reason = why_unlike_output(case.message, case.turn, self._analysis)
        if not reason:
            return ""
        try:
            got = Reading.of(self._parse(case, case.text, case.tools))
        except Exception:  # the checks will show it
            return ""
        return "" if same(case.expected, got) else reason

    # -- checks ------------------------------------------------------------------------------

    def check(self, case: Case) -> None:
        """Read one back in every way but cut everywhere. Raises VerificationError."""
        with self._failing(case, "whole"):
            whole = self._parse(case, case.text, case.tools)
            self._compare(case, whole, same)
            self._compare_ids(case, whole)
        with self._failing(case, "whole, strictly"):
            self._require_equal(whole, self._parse(case, case.text, case.tools, strict=True))
        if case.tools is not None:
            with self._failing(case, "whole, without tools"):
                self._compare(case, self._parse(case, case.text, None), same_untyped)
        text = case.text
        for size in PIECES:
            pieces = [text[i : i + size] for i in range(0, len(text), size)]
            with self._failing(case, f"in pieces of {size}"):
                self._check_pieces(case, pieces, whole)
        pieces = _random_pieces(text)
        with self._failing(case, "in random pieces"):
            self._check_pieces(case, pieces, whole)
        with self._failing(case, "in random pieces, each call at once"):
            self._check_pieces(case, pieces, whole, stream_arguments=False)
        with self._failing(case, "by the Lark grammar"):
            self._check_grammar(case)

    def _parse(self, case: Case, text: str, tools: Any, **options: Any) -> Any:
        self._readings += 1
        return self._module.parse(text, prompt=case.prompt, tools=tools, **options)

    def _compare(self, case: Case, got: Any, alike: Callable[[Any, Any], bool]) -> None:
        """The message itself, or one that the chat template renders to the same text."""
        reading = Reading.of(got)
        if got.incomplete:
            raise _Mismatch(case.expected, f"{reading}, incomplete {got.incomplete!r}")
        if alike(case.expected, reading):
            return
        if len(reading.calls) < len(case.expected.calls):  # as text they render to the same
            raise _Mismatch(case.expected, reading)
        again = self._turn(case.message.reread(reading, case.parts))
        if again is None or again.text != case.turn.text:
            raise _Mismatch(case.expected, reading)

    def _compare_ids(self, case: Case, got: Any) -> None:
        """Ids come back where the chat template prints them."""
        message = self._prober.shape.assistant(None, None, case.message.calls)
        ids = [call["id"] for call in message.get("tool_calls", ())]
        if case.expected.calls and all(id_ in case.text for id_ in ids):
            self._require_equal(ids, [call.id for call in got.tool_calls])

    def _check_pieces(
        self, case: Case, pieces: Iterable[str], whole: Any, *, stream_arguments: bool = True
    ) -> None:
        self._readings += 1
        parser = self._module.Parser(
            prompt=case.prompt, tools=case.tools, stream_arguments=stream_arguments
        )
        deltas = [delta for piece in pieces for delta in parser.feed(piece)]
        deltas += parser.finish()
        for got in (self._module.merge(deltas), parser.message):
            self._require_equal(whole, got)

    @staticmethod
    def _require_equal(expected: Any, got: Any) -> None:
        if expected != got:
            raise _Mismatch(expected, got)

    def _check_every_cut(self, case: Case) -> None:
        """In every way into three, which grows with the square of the length."""
        whole = self._parse(case, case.text, case.tools)
        length = min(len(case.text), SHORT)
        for i, j in itertools.combinations(range(length + 1), 2):
            with self._failing(case, f"cut at {i} and {j}"):
                pieces = (case.text[:i], case.text[i:j], case.text[j:])
                self._check_pieces(case, pieces, whole)

    def _check_truncated(self, case: Case) -> None:
        """At every point: no exception, no character lost, and complete calls kept."""
        whole = self._parse(case, case.text, case.tools)
        spans = self._module.spans(case.text, prompt=case.prompt, tools=case.tools)
        ends = [span.end for span in spans if span.kind == "call"]
        for end in range(len(case.text)):
            text = case.text[:end]
            with self._failing(case, f"truncated to {text!r}"):
                calls = self._parse(case, text, case.tools).tool_calls
                complete = _complete_calls(text, ends)
                if len(calls) < complete or not _are_first_of(calls, whole.tool_calls):
                    raise _Mismatch(whole.tool_calls[:complete], calls)
                spans = self._module.spans(text, prompt=case.prompt, tools=case.tools)
                _require_cover(spans, text)

    def _check_grammar(self, case: Case) -> None:
        text = self._start.text(case.turn, self._analysis, case.message.calls)
        quotes = case.message.quotes or holds_closers(case.message, self._analysis)
        if text is None or quotes or calls_behind_section(case, text, self._analysis):
            return
        problem = self._reject_reason(text)
        if problem is not None:
            raise _Mismatch(f"the grammar accepts {text!r}", problem)

    @contextlib.contextmanager
    def _failing(self, case: Case, how: str) -> Iterator[None]:
        """Turn whatever goes wrong into an error that shows the message and the turn."""
        try:
            yield
        except _Mismatch as mismatch:
            expected, got = str(mismatch.expected), str(mismatch.got)
        except Exception as error:  # generated code may raise anything
            expected, got = "no exception", f"{type(error).__name__}: {error}"
        else:
            return
        raise VerificationError(
            f"{self._analysis.source}: verification failed: {case.message.name}, read {how}.\n"
            f"  prompt    {case.prompt!r}\n"
            f"  turn      {case.text!r}\n"
            f"  expected  {expected}\n"
            f"  got       {got}\n"
            f"  {first_difference(expected, got)}\n"
            "  Nothing was written. --no-verify writes anyway and says so in the header."
        )


class _Mismatch(Exception):
    def __init__(self, expected: object, got: object) -> None:
        super().__init__()
        self.expected, self.got = expected, got


def _random_pieces(text: str) -> list[str]:
    rng = random.Random(len(text))  # seeded, so that a failure comes back
    cuts = sorted({0, len(text), *(rng.randint(0, len(text)) for _ in range(len(text) // 8 + 1))})
    return [text[i:j] for i, j in itertools.pairwise(cuts)]


def first_difference(expected: str, got: str) -> str:
    """Where two texts part, with what surrounds the place in each."""
    at = len(os.path.commonprefix([expected, got]))
    around = slice(max(0, at - 20), at + 20)
    return f"first difference: {expected[around]!r} / {got[around]!r}"


def _are_first_of(calls: Sequence[Any], whole: Sequence[Any]) -> bool:
    """Whether these are the first of all calls; an id behind the last one may be cut off."""
    first = list(whole[: len(calls)])
    if first and calls[-1].id is None:
        first[-1] = replace(first[-1], id=None)
    return calls == first


def _complete_calls(text: str, ends: Sequence[int]) -> int:
    """How many calls of the whole must be there in a beginning of it.

    Whether the last one is over may depend on the marker after it, which may be cut.
    """
    over = [end for end in ends if end <= len(text)]
    return len(over) - bool(over and text[over[-1] :].strip())


def _require_cover(spans: Iterable[Any], text: str) -> None:
    at = 0
    for span in spans:
        if span.start != at or span.end < span.start:
            break
        at = span.end
    if at != len(text):
        raise _Mismatch(f"spans that cover all {len(text)} characters", f"a gap at {at}")
