"""`--inspect` for people: the terminal's colours, and the page that `--html` writes."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import click
import pytest
from commands import Runner
from test_injection import HOSTILE, in_json, in_tags, unreadable

from autoparser_gen import inspect, pipeline, report
from autoparser_gen.analysis.model import Analysis
from autoparser_gen.emit import python
from autoparser_gen.emit.quoting import visible
from autoparser_gen.report.markup import shown
from autoparser_gen.request import Options

TEMPLATES = Path(__file__).parents[1] / "templates"
QWEN3 = TEMPLATES / "qwen3.jinja"

IN_HTML = {  # short enough for markers that stand side by side
    "a script": "<script>f(1)",
    "the end of the head": "</style></head></svg>",
    "the end of a title": "</title>",
    "an image": '<img src=x onerror="f()">',
    "attributes": "\" onload='f()' y=`z`",
    "entities": "&lt;&amp;lt;&#0;&quot;",
    "a comment in HTML": "<!-- --><![CDATA[]]>",
    "what is hidden": "a\0b\u202ec\u2066d\u200be\x1b[2Jf\ud800g\u2028h\ufeffi\U000e0041j",
}
HAVE_NO_END = {"meta", "circle", "path", "rect", "br"}
ELEMENTS = {
    *("html", "title", "style", "body", "header", "nav", "section", "h1", "h2", "h3", "p"),
    *("dl", "div", "dt", "dd", "ul", "li", "a", "pre", "code", "mark", "span", "details"),
    *("summary", "table", "thead", "tbody", "tr", "th", "td", "svg", "g", "text", *HAVE_NO_END),
}
ATTRIBUTES = {
    *("lang", "charset", "name", "content", "http-equiv", "class", "id", "href", "title", "scope"),
    *("xmlns", "role", "aria-labelledby", "width", "height", "viewbox", "d", "x", "y", "rx", "cx"),
    *("cy", "r", "text-anchor"),
}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    text: str = ""  # all of it, that of elements inside included


@dataclass
class Page(HTMLParser):
    """What a page holds, as a browser reads it; an element that is not closed is an error."""

    source: str
    elements: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[Element] = []
        self.feed(self.source)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        assert len(element.attributes) == len(attrs)
        self.elements.append(element)
        if tag not in HAVE_NO_END:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in HAVE_NO_END
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def all(self, tag: str, of: str | None = None) -> list[Element]:
        """The elements of a kind, or only those of a class."""
        return [
            element
            for element in self.elements
            if element.tag == tag and of in (None, *element.attributes.get("class", "").split())
        ]


def page(source: Path, **options: bool) -> Page:
    asked = Options(**options)  # type: ignore[arg-type]
    found = pipeline.find_format(source, asked)
    text = report.page(source, found, asked)
    found.prober.renderer.close()
    return Page(text)


@pytest.fixture(scope="module")
def qwen3() -> Page:
    return page(QWEN3)


# ---- The page ----


def test_it_shows_the_turn_its_markers_and_fields(qwen3: Page) -> None:
    marks = [
        (mark.text, mark.attributes["title"])
        for mark in qwen3.all("mark")
        if mark.attributes.get("title")
    ]
    assert marks[0] == ("<|im_start|>assistant↵\n", "assistant_header")
    assert ("<tool_call>↵\n", "tools.format.per_call_start") in marks
    (turn,) = qwen3.all("pre", "turn")
    assert "assistant↵\n<think>↵\nWhich city? Oslo, then Rome.↵\n</think>" in turn.text
    rows = [row.text for row in qwen3.all("tr")]
    assert r'tools.format.per_call_end"\n</tool_call>"1 call / 2 calls' in rows
    assert [pre.text for pre in qwen3.all("pre", "good")][0].startswith("verified: ")


def test_it_shows_what_the_generated_parser_reads(qwen3: Page) -> None:
    assert [h3.text for h3 in qwen3.all("h3")] == [
        "An answer",
        "All that a turn can hold",
        "A marker inside an argument",
        "A call that was cut off",
        "Markers",
    ]
    kinds = {span.attributes["class"].split()[1] for span in qwen3.all("span", "span")}
    assert kinds == {"reasoning", "content", "call", "marker", "separator", "incomplete"}
    messages = [pre.text for pre in qwen3.all("pre") if pre.text.startswith('{\n  "role"')]
    assert len(messages) == 4
    assert r'"{\"city\": \"a </tool_call> b\", \"days\": 1}"' in messages[2]
    assert '"incomplete": "<tool_call>' in messages[3]


def test_the_diagram_has_every_region_and_row(qwen3: Page) -> None:
    texts = [element.text for element in qwen3.all("text", "region")]
    assert texts == ["start", "reasoning", "content", "call", "end", "call_end"]
    assert len(qwen3.all("text", "marker")) == len(qwen3.all("circle")) == 12
    targets = [element.text.removeprefix("→ ") for element in qwen3.all("text", "target")]
    assert set(targets) == set(texts) - {"start"}


def test_it_has_the_grammars(qwen3: Page) -> None:
    texts = [pre.text.replace("↵\n", "\n") for pre in qwen3.all("pre")]
    assert any(text.startswith("turn      : [reasoning] content [calls]") for text in texts)
    assert any(text.startswith("start: reasoning? CONTENT?") for text in texts)
    assert any("\nroot ::= reasoning? content" in text for text in texts)


def harmless(found: Page) -> None:
    """Assert that a page loads nothing, runs nothing, leads nowhere and hides nothing."""
    assert {element.tag for element in found.elements} <= ELEMENTS
    assert {name for element in found.elements for name in element.attributes} <= ATTRIBUTES
    assert all(link.attributes["href"].startswith("#") for link in found.all("a"))
    assert not re.search(r"url\(|@import|//", found.all("style")[0].text)
    assert not {ascii(char) for char in found.source if not visible(char) and char != "\n"}
    digest = hashlib.sha256(found.all("style")[0].text.encode()).digest()
    (policy,) = (e.attributes["content"] for e in found.all("meta") if "http-equiv" in e.attributes)
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{base64.b64encode(digest).decode()}';"
        " base-uri 'none'; form-action 'none'"
    )


def test_it_stands_alone(qwen3: Page) -> None:
    harmless(qwen3)


# In markers of tags there is less room, and a closer in one would make them ambiguous.
ALL_VISIBLE = "".join(text for kind, text in IN_HTML.items() if kind != "what is hidden")
PAGES = {
    "in tags": (in_tags, IN_HTML["an image"]),
    "hidden in tags": (in_tags, IN_HTML["what is hidden"]),
    "in JSON": (in_json, ALL_VISIBLE[:90]),
    "in a note": (unreadable, ALL_VISIBLE + IN_HTML["what is hidden"]),
}


@pytest.mark.parametrize("case", PAGES)
def test_texts_of_strangers_are_text(case: str, tmp_path: Path) -> None:
    place, hostile = PAGES[case]
    # A file's name may hold all but what a file system refuses.
    name = "".join(char for char in hostile[:40] if char not in "/\0\ud800")
    source = tmp_path / f"{name}.jinja"
    source.write_text(place(hostile), encoding="utf-8")
    found = page(source, verify=False)
    harmless(found)
    if place is not unreadable:
        expected = Page(f"<p>{shown(hostile)}</p>").elements[0].text
        (turn,) = found.all("pre", "turn")
        assert f"<c{expected}>" in turn.text


TEXTS = {**HOSTILE, **IN_HTML}


@pytest.mark.parametrize("kind", TEXTS)
def test_every_character_is_there(kind: str) -> None:
    text = TEXTS[kind]
    markup = str(shown(text))
    assert not {char for char in markup if not visible(char) and char != "\n"}
    parts = Page(f"<p>{markup}</p>")
    assert {element.tag for element in parts.elements} <= {"p", "span"}
    # What is set apart is an escape of a character; all else is the text itself.
    read = parts.elements[0].text.replace("↵\n", "\n")
    for span in parts.all("span", "esc"):
        read = read.replace(span.text, span.text.encode().decode("unicode_escape"))
    assert read == text


def test_what_fails_verification_is_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(*_: object) -> None:
        raise report.page.__globals__["VerificationError"]("turn <b>: not read back")

    monkeypatch.setitem(report.page.__globals__, "verify_files", fail)
    assert [pre.text for pre in page(QWEN3).all("pre", "bad")] == ["turn <b>: not read back"]


# ---- The command ----


def test_the_module_is_emitted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    emitted: list[object] = []
    emit = python.emit

    def counted(analysis: Analysis, *rest: Any, **options: Any) -> str:
        emitted.append(analysis.source)
        return emit(analysis, *rest, **options)

    monkeypatch.setattr(python, "emit", counted)
    page(QWEN3)
    assert emitted == ["qwen3.jinja"]


def test_a_page_is_written_once(run: Runner, tmp_path: Path) -> None:
    done = run(QWEN3, "--no-verify", "--inspect", "--html", "report.html")
    assert (done.status, done.out) == (0, "created report.html\n")
    printed = run(QWEN3, "--no-verify", "--inspect", "--html", "-").out
    assert printed == (tmp_path / "report.html").read_text(
        "utf-8"
    )  # so a second run changes nothing


def test_a_file_that_is_not_ours_is_kept(run: Runner, tmp_path: Path) -> None:
    (tmp_path / "mine.html").write_text("mine")
    done = run(QWEN3, "--no-verify", "--inspect", "--html", "mine.html")
    assert done.status == 1
    assert "replace it with --force" in done.err
    assert (tmp_path / "mine.html").read_text() == "mine"
    assert run(QWEN3, "--no-verify", "--inspect", "--html", "mine.html", "--force").status == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([QWEN3, "--html", "x.html"], "--html goes with --inspect"),
        ([QWEN3, "--inspect", "--json", "--html", "x.html"], "do not go together"),
        ([TEMPLATES, "--inspect", "--html", "x.html"], "is a folder of chat templates"),
        ([QWEN3, "--inspect", "--force"], "leave out --force"),
    ],
)
def test_wrong_use(run: Runner, words: list[object], message: str) -> None:
    done = run(*words)
    assert done.status == 2
    assert message in done.err


# ---- The terminal ----


def test_colours_add_nothing_but_colour() -> None:
    plain = inspect.one(QWEN3, Options(), as_json=False)
    coloured = inspect.one(QWEN3, Options(), as_json=False, colour=True)
    assert "\x1b" not in plain
    assert '\x1b[35m"<think>\\n"\x1b[0m' in coloured
    assert click.unstyle(coloured) == plain


@pytest.mark.parametrize(
    ("terminal", "variables", "coloured"),
    [
        (True, {"NO_COLOR": "", "TERM": "xterm"}, True),
        (True, {"NO_COLOR": "1", "TERM": "xterm"}, False),
        (True, {"NO_COLOR": "", "TERM": "dumb"}, False),
        (False, {"NO_COLOR": "", "TERM": "xterm"}, False),
    ],
)
def test_who_sees_colour(
    run: Runner,
    monkeypatch: pytest.MonkeyPatch,
    terminal: bool,
    variables: dict[str, str],
    coloured: bool,
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert ("\x1b[" in run(QWEN3, "--inspect").out) == coloured
