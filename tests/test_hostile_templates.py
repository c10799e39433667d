"""Chat templates that loop, bloat, recurse or break out end with a sentence, soon, and write nothing."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest
from odd_templates import CONTENT, JSON_CALL, calls, chat

from autoparser_gen.chat_template import ChatTemplate, Renderer
from autoparser_gen.environment import CompiledChatTemplate
from autoparser_gen.errors import AnalysisError, AutoparserError, ChatTemplateError, LimitError
from autoparser_gen.limits import Limits
from autoparser_gen.pipeline import generate
from autoparser_gen.request import Options, Request, outputs_for_file

SMALL = Limits(seconds=1.0, memory=256, output=1)
MESSAGES = [{"role": "user", "content": "hi"}]
ASK = "{{ messages[0].content }}"

LIMITED = {
    "a loop without end": (
        "seconds",
        "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}"
        "{% endfor %}{% endfor %}{% endfor %}",
    ),
    "a string that doubles": (
        "memory",
        "{% set ns = namespace(s='ab') %}{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
    ),
    "a constant too large, while compiling": ("memory", "{{ 'a' * 100000000000 }}"),
    "text without end": ("output", "{% for i in range(90000) %}{{ 'x' * 1000 }}{% endfor %}"),
    "one long text": ("output", "{{ 'x' * 3000000 }}"),
    "a slow filter": ("seconds", "{{ ('www.' * 3000000)|urlize }}"),
    "words without end": ("seconds", "{{ lipsum(n=100000000) }}"),
    "lists without end": (
        "seconds",
        "{% set l = [] %}{% for i in range(99999) %}{% for j in range(999) %}{{ l.append(l|length) or '' }}"
        "{% endfor %}{% endfor %}",
    ),
}

REFUSED = {
    "a macro that calls itself": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "a huge range": "{{ range(10**12)|list }}",
    "a file": "{% include '/etc/passwd' %}",
    "a module": "{% import 'os' as os %}{{ os.getcwd() }}",
    "an object's class": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "globals of a function": "{{ raise_exception.__globals__ }}{{ cycler.__init__.__globals__.os }}",
    "a class by formatting": "{{ '{0.__class__.__base__}'.format(messages) }}",
    "a class by an indirect format": "{{ ('{0.__class__.__init__.__globals__}'|attr('format'))(messages) }}",
    "attributes by name": "{{ (messages|attr('__class__')|attr('__base__')).x }}",
    "a frame of a generator": "{{ (messages|map('upper')).gi_frame.f_globals.x.y }}",
    "a list in itself": "{% set l = [] %}{{ l.append(l) }}{{ l|tojson }}",
}


def _render(text: str, limits: Limits = SMALL) -> str:
    return Renderer(ChatTemplate("hostile.jinja", text + ASK), limits).render(MESSAGES)


@pytest.mark.parametrize("kind", LIMITED)
def test_limits_end_it_with_a_sentence(kind: str) -> None:
    limit, text = LIMITED[kind]
    # On a machine that does other things as well, the other limits must be reached before the time.
    limits = SMALL if limit == "seconds" else replace(SMALL, seconds=25.0)
    started = time.monotonic()
    with pytest.raises(LimitError, match=rf"^hostile\.jinja: .*--max-{limit}\.$"):
        _render(text, limits)
    assert time.monotonic() - started < 30  # a hang, not a measure of speed


@pytest.mark.parametrize("kind", REFUSED)
def test_what_a_chat_template_must_not_do_is_refused(kind: str) -> None:
    with pytest.raises(ChatTemplateError, match=r"^hostile\.jinja: "):
        _render(REFUSED[kind])


def test_a_limit_stays_reached() -> None:
    renderer = Renderer(ChatTemplate("hostile.jinja", LIMITED["one long text"][1]), SMALL)
    for content in ("one", "two"):
        with pytest.raises(LimitError):
            renderer.try_render([{"role": "user", "content": content}])


def test_a_chat_template_that_kills_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    # Nothing that Jinja allows is known to do this; a bug of the interpreter may.
    monkeypatch.setattr(CompiledChatTemplate, "render", lambda *_: os._exit(11))
    with pytest.raises(LimitError, match=r"hostile\.jinja: .*status 11"):
        _render("")


def test_the_process_ends_with_the_renderer() -> None:
    renderer = Renderer(ChatTemplate("small.jinja", ASK))
    assert renderer.render(MESSAGES) == "hi"
    process = renderer._process._process
    assert process.is_alive()
    del renderer
    process.join(10)
    assert process.exitcode is not None


def test_markers_too_long_for_a_grammar(tmp_path: Path) -> None:
    source = tmp_path / "long.jinja"
    body = (
        "{% for m in messages %}<{{ m.role }}>{{ m.content }}</end" + "x" * 5000 + ">{% endfor %}"
    )
    source.write_text(body + "{% if add_generation_prompt %}<assistant>{% endif %}")
    with pytest.raises(
        AnalysisError, match=r"end_of_turn would be a marker of 5006 characters"
    ) as error:
        _generate(source)
    assert len(str(error.value)) < 3000


# What would take the square of its length to analyze, or all of Python's stack.
LONG_TURNS = {
    "braces": "{{ '{' * 100000 }}" + JSON_CALL,
    "quotes": "{{ '\"' * 100000 }}" + JSON_CALL,
    "whitespace": "<c>{{ c.name }}{{ ' ' * 200000 }}{{ c.arguments | tojson }}",
    "calls": "{% for i in range(3000) %}<c>" + JSON_CALL + "</c>{% endfor %}",
    "tags": "{% for i in range(20000) %}<t{{ i }}>{% endfor %}" + JSON_CALL,
    "levels": "{{ '[' * 50000 }}" + JSON_CALL + "{{ ']' * 50000 }}",
}


@pytest.mark.parametrize("kind", LONG_TURNS)
def test_turns_too_long_to_be_turns(kind: str, tmp_path: Path) -> None:
    source = tmp_path / "long.jinja"
    source.write_text(chat(CONTENT + calls(LONG_TURNS[kind])))
    with pytest.raises(AnalysisError, match=r"At most 10000 are read") as error:
        _generate(source)
    assert len(str(error.value)) < 3000


def test_the_longest_markers_of_equal_letters(tmp_path: Path) -> None:
    source = tmp_path / "letters.jinja"
    letters = "a" * 95
    source.write_text(
        chat(CONTENT + calls(f"<c{letters}>" + JSON_CALL + f"</c{letters}>"), end=f"<e{letters}>")
    )
    _generate(source)


def test_json_deeper_than_a_call_is_markers(tmp_path: Path) -> None:
    source = tmp_path / "deep.jinja"
    text = "{{ '[' * 1100 }}" + JSON_CALL + "{{ ']' * 1100 }}"
    source.write_text(chat(CONTENT + calls(text)))
    with pytest.raises(AnalysisError, match=r"would be a marker of \d+ characters"):
        _generate(source)


def test_long_renderings_are_shortened_in_messages(tmp_path: Path) -> None:
    source = tmp_path / "long.jinja"
    source.write_text("{{ 'x' * 100000 }}" + ASK)
    with pytest.raises(AutoparserError, match=r"characters \.\.\.\]") as error:
        _generate(source)
    assert len(str(error.value)) < 6000


def _generate(source: Path) -> None:
    outputs = outputs_for_file([source.with_name("out_parser.py")], None)
    generate(Request(source, outputs, Options()))
