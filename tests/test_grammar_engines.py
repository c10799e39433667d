"""Every format's grammars in the engines that read them: loaded, enforced, sampled, compared.

AUTOPARSER_SAMPLES says how many outputs llama.cpp's sampler draws for each format and tool set;
without it, it is one, and each format meets only one of the tool sets. With it the results are
written to docs/engines.md; `-k` with a format's name renews that format's row alone.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from engines import HAVE_GUIDANCE, HAVE_LLAMA_CPP, INSTALL, Accepts, engines, installed
from engines.results import Result, load_times, write_page
from engines.tool_sets import TOOL_SETS, Call, ToolSet
from parsers import SOURCES, parser_of

from autoparser_gen import pipeline, verify
from autoparser_gen.analysis.model import LiteralSyntax, ToolMode, ValueSyntax
from autoparser_gen.emit import gbnf
from autoparser_gen.emit import lark as lark_printer
from autoparser_gen.grammar.ir import ResponseGrammar
from autoparser_gen.grammar.lower import lower
from autoparser_gen.request import Options

pytestmark = pytest.mark.skipif(
    not (HAVE_GUIDANCE and HAVE_LLAMA_CPP and installed("jsonschema")), reason=INSTALL
)

SAMPLES = int(os.environ.get("AUTOPARSER_SAMPLES", "1"))
MUTANTS = 8  # of each text
TRIES = 4  # for each output, since random text may find no end
PROSE = "The keeper of lighthouse 3 wrote <b>notes</b> [all day]; and so on. "
NO_CALL = "no call"
LENGTHS = (4_000, 64_000)  # characters of an argument
CASES = (
    itertools.product(SOURCES, TOOL_SETS)
    if "AUTOPARSER_SAMPLES" in os.environ
    else zip(SOURCES, itertools.cycle(TOOL_SETS))
)

# Faults that are open, by test, format and tool set: these may fail.
OPEN: dict[tuple[str, str, str], str] = {}


@dataclass(frozen=True)
class Subject:
    """One format with one tool set: the grammar of a response that must hold a call."""

    stem: str
    name: str
    found: pipeline.Format
    grammar: ResponseGrammar
    prompt: str
    reasoning: str | None
    verdicts: Mapping[str, Accepts]
    result: Result

    @property
    def tool_set(self) -> ToolSet:
        return TOOL_SETS[self.name]

    def text(self, call: Call) -> str | None:
        """What a model would write to make a call; None where the chat template does not show it."""
        turn = self.found.prober.turn(None, self.reasoning, [call])
        text = turn and verify.grammar_text(turn, self.found.analysis, self.prompt)
        return verify.with_types(text, call, self.found.analysis) if text else None

    def texts(self, calls: tuple[Call, ...]) -> list[str]:
        return [text for call in calls if (text := self.text(call)) is not None]


@pytest.fixture(scope="module")
def results() -> list[Result]:
    """What the tests found so far."""
    return []


@pytest.fixture(scope="module", params=list(CASES), ids="-".join)
def result(request: pytest.FixtureRequest, results: list[Result]) -> Iterator[Result]:
    """What becomes of a format with a tool set; a row of the page once it met all of them."""
    found = Result(*request.param)
    results.append(found)
    yield found
    if "AUTOPARSER_SAMPLES" in os.environ:
        write_page(results, OPEN)


@pytest.fixture(scope="module")
def subject(result: Result) -> Subject:
    stem, name = result.stem, result.tool_set
    found = pipeline.find_format(SOURCES[stem], Options())
    analysis = found.analysis
    if analysis.tools.format.mode is ToolMode.NONE:
        result.has_calls = False
        pytest.skip("the format has no calls")
    prompts = analysis.generation_prompts
    by_option = {None: prompts.default, True: prompts.thinking, False: prompts.no_thinking}

    def rank(way: tuple[bool | None, str | None]) -> tuple[bool, bool, int]:
        """Which prompt a call continues in history, and whether reasoning has to be there."""
        turn = found.prober.turn(None, way[1], [("f", {"a": "b"})])
        text = turn and turn.after(by_option[way[0]])
        return text is None, way[1] is not None, len(text or "")

    thinking, reasoning = min(itertools.product(by_option, (None, "So.")), key=rank)
    tools = TOOL_SETS[name].tools
    grammar = lower(analysis, tools=tools, tool_choice="required", thinking=thinking)

    verdicts = engines(grammar, analysis)
    result.engines, result.loads = tuple(verdicts), load_times(analysis, name, tools)
    return Subject(stem, name, found, grammar, by_option[thinking], reasoning, verdicts, result)


@pytest.fixture(autouse=True)
def _expect_open_faults(request: pytest.FixtureRequest, subject: Subject) -> None:
    test = request.node.originalname
    reason = OPEN.get((test, subject.stem, subject.name))
    if reason:
        request.applymarker(pytest.mark.xfail(reason=reason))


def test_accepted(subject: Subject) -> None:
    """What the tools permit is accepted; other calls and truncated ones are not."""
    good, bad = subject.texts(subject.tool_set.good), subject.texts(subject.tool_set.bad)
    if not good:
        pytest.skip("the chat template shows no call behind a generation prompt")
    expected = dict.fromkeys(good, True) | dict.fromkeys(bad, False)
    for text in good:
        for end in (len(text) // 2, 3 * len(text) // 4, len(text.rstrip()) - 1):
            expected[text[:end]] = False
    wrong = [
        (engine, text)
        for engine, accepts in subject.verdicts.items()
        for text, verdict in expected.items()
        if accepts(text) != verdict
    ]
    subject.result.judged = len(expected) * len(subject.verdicts)
    subject.result.misjudged = len(wrong)
    assert not wrong


def test_special_tokens(subject: Subject) -> None:
    """With special tokens llguidance takes the same calls, with markers as tokens, never spelled."""
    from engines import guidance

    analysis, grammar = subject.found.analysis, subject.grammar
    special = sorted(lark_printer.special_tokens_of(analysis, grammar))
    printed = lark_printer.emit(analysis, grammar, [], special_tokens=True)
    engine = guidance.Grammar(printed, special)
    for text in subject.texts(subject.tool_set.bad):
        assert not engine.accepts(text)
    for text in subject.texts(subject.tool_set.good):
        assert engine.accepts(text)
        assert not any(engine.accepts(text[:end]) for end in range(len(text.rstrip())))
        if any(token in text for token in special):
            assert not engine.accepts_bytes(text)


def test_long_values(subject: Subject) -> None:
    """Calls with long values are accepted; what a byte costs is kept, for each length."""
    if subject.name != "one tool":
        pytest.skip("one tool set is enough")
    name, arguments = subject.tool_set.good[0]
    costs = []
    for length in LENGTHS:
        value = PROSE * (length // len(PROSE))
        text = subject.text((name, dict.fromkeys(arguments, value)))
        if text is None:
            pytest.skip("the chat template shows no call behind a generation prompt")
        for engine in ("llguidance", "llama.cpp"):  # lark takes long for such a text
            start = time.process_time()
            assert subject.verdicts[engine](text), engine
            cost = time.process_time() - start
        costs.append(1e6 * cost / len(text.encode()))
    subject.result.costs = costs


def test_sampled(subject: Subject) -> None:
    """Sampled outputs are read as calls that the tools permit."""
    faults = {text: _fault(subject, text) for text in _samples(subject)}
    if (subject.found.analysis.tools.arguments.literals or LiteralSyntax()).escapes is False:
        # Nor can it say that a string holds no end of the turn, behind which a parser reads no call.
        end = subject.found.analysis.end_of_turn.strip() or "\0"
        faults = {text: fault for text, fault in faults.items() if not fault or end not in text}
    if subject.tool_set.has_open_names:
        # No grammar that is open to any name can say that each is another, or stands at both ends.
        ends_wrong = _other_names_at_ends(subject)
        faults = {
            text: fault
            for text, fault in faults.items()
            if not (_is_at_old_key(text, fault) or (fault and ends_wrong(text)))
        }
    wrong = {text: str(fault) for text, fault in faults.items() if fault}
    subject.result.samples, subject.result.misread = len(faults), len(wrong)
    assert not wrong


def _fault(subject: Subject, text: str) -> Exception | None:
    """What is wrong with the way in which the parser reads an output of the grammar."""
    import jsonschema

    try:
        message = parser_of(subject.stem).parse(
            text, tools=subject.tool_set.tools, prompt=subject.prompt, strict=True
        )
        for call in message.tool_calls:
            arguments = json.loads(call.arguments)
            if subject.tool_set.tools is not None:
                jsonschema.validate(arguments, subject.tool_set.schema(call.name))
    except (ValueError, KeyError, jsonschema.ValidationError) as error:
        return error
    return None if message.tool_calls else ValueError(NO_CALL)


def _is_at_old_key(text: str, fault: Exception | None) -> bool:
    """Whether the parser stopped at a key, in markup or in JSON, that it had read before."""
    if str(fault) == NO_CALL:  # a call that no marker begins is text then, even with strict=True
        return _repeats_key(text)
    before = text[: getattr(fault, "position", 0)]
    key, tag = before[before.rfind('"') :], before[before.rfind("<") :]
    again = bool(key) and re.search(re.escape(key) + r'"\s*:', before)
    in_tag = tag.startswith("<") and f"{tag}>" in before
    return "a new key" in str(fault) or bool(again) or in_tag


def _repeats_key(text: str) -> bool:
    """Whether an object has a key twice in the JSON that the first brace begins."""
    repeats = False

    def look(pairs: list[tuple[str, Any]]) -> None:
        nonlocal repeats
        repeats = repeats or len({key for key, _ in pairs}) < len(pairs)

    start = text.find("{")
    if start >= 0:
        with contextlib.suppress(ValueError):
            json.JSONDecoder(object_pairs_hook=look).raw_decode(text, start)
    return repeats


def _other_names_at_ends(subject: Subject) -> Callable[[str], bool]:
    """Tells whether some tag in a call ends with another name than its own, where tags are nested."""
    tools = subject.found.analysis.tools
    marks, function = tools.arguments, tools.function
    closer = re.escape(marks.value_suffix.partition("{key}")[0].strip())
    tag = re.compile(rf"({closer}|{re.escape(marks.name_prefix)})([^<>\"\s]+){marks.name_suffix}")
    inside = f"{re.escape(function.name_suffix)}(.*?){re.escape(function.close)}"

    def ends_wrong(text: str) -> bool:
        if marks.value_syntax is not ValueSyntax.NESTED_TAGS:
            return False
        for call in re.findall(inside, text, re.DOTALL):
            opened: list[str] = []
            for marker, name in tag.findall(call):
                if marker == marks.name_prefix:
                    opened.append(name)
                elif not opened or opened.pop() != name:
                    return True
        return False

    return ends_wrong


def test_agreement(subject: Subject) -> None:
    """All engines give the same verdict on renderings, sampled outputs and mutants of both."""
    rng = random.Random(f"{subject.stem} {subject.name}")
    calls = (*subject.tool_set.good, *subject.tool_set.bad)
    texts = [*subject.texts(calls), *_samples(subject)]
    texts += [_mutant(text, rng) for text in texts for _ in range(MUTANTS)]
    verdicts = {
        text: {e: accepts(text) for e, accepts in subject.verdicts.items()} for text in texts
    }
    apart = {text: found for text, found in verdicts.items() if len(set(found.values())) > 1}
    subject.result.strings, subject.result.apart = len(verdicts), len(apart)
    subject.result.accepted = sum(all(found.values()) for found in verdicts.values())
    assert not apart


def _samples(subject: Subject) -> Iterator[str]:
    """Random outputs, the same ones each time; one that finds no end is left out."""
    from engines import llama_cpp

    rng = random.Random(f"{subject.name} {subject.stem}")
    sampler = llama_cpp.Grammar(gbnf.emit(subject.found.analysis, subject.grammar, []))
    ways = itertools.product((None, "So."), subject.tool_set.good)
    turns = (subject.found.prober.turn(None, reasoning, [call]) for reasoning, call in ways)
    shown = subject.texts(subject.tool_set.good)
    hints = shown + [turn.text for turn in turns if turn]
    if not shown:  # the prompt may open reasoning that no rendering closes
        hints.append(subject.found.analysis.reasoning.end or "\n")
    left = SAMPLES
    try:
        for _ in range(TRIES * SAMPLES):
            text = sampler.sample(rng, hints) if left else None
            if text is not None:
                left -= 1
                yield text
    finally:
        sampler.close()


def _mutant(text: str, rng: random.Random) -> str:
    """The text with a part of it left out, repeated or moved, or with another character."""
    start, end = sorted(rng.randrange(len(text) + 1) for _ in range(2))
    end = min(end, start + 12)
    at = rng.randrange(len(text) + 1)
    ways: list[Any] = [
        lambda: text[:start] + text[end:],
        lambda: text[:at] + text[start:end] + text[at:],
        lambda: text[:at] + rng.choice(" \n\"'{}[]<>/,:x0é") + text[at:],
        lambda: text[:start] + text[end:at] + text[start:end] + text[at:],
    ]
    return str(rng.choice(ways)())
