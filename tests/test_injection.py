"""Strangers' text in every generated file: it is data there, and a reviewer sees all of it."""

from __future__ import annotations

import ast
import functools
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from odd_templates import CONTENT, EACH, calls, chat

from autoparser_gen import inspect, verify
from autoparser_gen.analysis import Analysis, analyze
from autoparser_gen.analysis.as_json import as_dict
from autoparser_gen.chat_template import ChatTemplate, Renderer
from autoparser_gen.emit.quoting import visible
from autoparser_gen.grammar.lower import lower
from autoparser_gen.header import header
from autoparser_gen.probe import Prober
from autoparser_gen.request import Options
from autoparser_gen.targets import TARGETS, Draft

HARMLESS = "mark"
HOSTILE = {
    "a quote": 'a"b',
    "triple quotes": 'a"""b',
    "single quotes": "a'''b",
    "a backslash": "a\\nb",
    "a backslash at the end": "a\\",
    "a line end": "a\nb",
    "a carriage return": "a\rb",
    "a line separator": "a\u2028b",
    "a C1 line end": "a\x85b",
    "a statement": '"\nimport os\n"',
    "a rule": '"\nroot ::= x\nstart: /.*/\n"',
    "the end of a comment": "a*/ b",
    "a comment": "a # b // c",
    "an expression of Jinja": "{{ b }}{% c %}{# d #}",
    "an encoding": "-*- coding: utf-7 -*-",
    "NUL": "a\0b",
    "a lone surrogate": "a\ud800b",
    "bidirectional controls": "a\u202eb\u2066c",
    "a terminal's escapes": "a\x1b[2J\x07b",
    "DEL": "a\x7fb",
    "no width": "a\u200bb\ufeffc",
    "an invisible letter": "a\U000e0041b",
    "a regular expression": "a.*(b[c]+)\\Z|/i",
    "places in a format": "%s{0}%(x)d",
    "markup": "a&amp;b<!--c",
    "many letters": "a" * 40,  # more are refused: test_hostile_templates.py
}


def text(value: str) -> str:
    """A text that Jinja prints; all but ASCII is an escape."""
    return "{{ " + ascii(value) + " }}"


def in_tags(hostile: str) -> str:
    """A chat template with the text in every marker of reasoning, calls, arguments and the end."""

    def tag(name: str) -> str:
        return text(f"<{name}{hostile}>")

    thought = (
        "{%- if m.reasoning_content -%}"
        + tag("r")
        + "{{ m.reasoning_content }}"
        + tag("/r")
        + "{%- endif -%}"
    )
    argument = tag("k") + "{{ k }}" + tag("v") + "{{ v if v is string else v|tojson }}" + tag("/v")
    call = tag("c") + tag("n") + "{{ c.name }}" + tag("/n") + EACH + argument
    printed = call + "{%- endfor -%}" + tag("/c")
    body = thought + CONTENT + calls(printed, before=tag("s"), after=tag("/s"))
    return chat(body, end="END").replace("{{ 'END' }}", tag("e"))


def in_json(hostile: str) -> str:
    """A chat template with the text in the names of a JSON call's fields and around it."""

    def key(name: str) -> str:
        return text(json.dumps(name + hostile, ensure_ascii=False) + ": ")

    fields = f"{key('n')}{{{{ c.name|tojson }}}}, {key('a')}{{{{ c.arguments|tojson }}}}"
    call = f"{{{{ '{{' }}}}{fields}, {key('i')}{{{{ t.id|tojson }}}}{{{{ '}}' }}}}"
    return chat(CONTENT + calls(text(f"<c{hostile}>") + call + text(f"</c{hostile}>")))


def unreadable(hostile: str) -> str:
    """A chat template whose calls no parser can read: the note shows one."""
    call = (
        f"CALL {{{{ c.name }}}}~{EACH}{{{{ k }}}}: {{{{ v }}}}~{{%- endfor -%}}END{text(hostile)}"
    )
    return chat(CONTENT + calls(call))


PLACES = {"in tags": in_tags, "in JSON": in_json, "in a note": unreadable}


@dataclass(frozen=True)
class Made:
    prober: Prober
    analysis: Analysis
    files: dict[str, str]


@functools.cache
def made(place: str, hostile: str) -> Made:
    """All files of a chat template that has the text in its markers, and in its name."""
    name = f"{hostile[:40]}.jinja"
    prober = Prober(Renderer(ChatTemplate(name, PLACES[place](hostile))))
    analysis = analyze(prober)
    command = ["autoparser-gen", name, "-o", "x_parser.py"]
    lines = header(format_version=1, source=name, sha256=analysis.sha256, command=command)
    draft = Draft(analysis, lower(analysis), lines)
    targets = {name: target for name, target in TARGETS.items() if target.file_name}
    return Made(prober, analysis, {name: target.emit(draft) for name, target in targets.items()})


EVERYWHERE = pytest.mark.parametrize("place", PLACES)
EVERY_TEXT = pytest.mark.parametrize("kind", HOSTILE)


# -- the module ------------------------------------------------------------------------------------


class Blank(ast.NodeTransformer):
    """Every text is the same."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:  # noqa: N802
        return ast.Constant("") if isinstance(node.value, str) else node


def structure(module: str) -> str:
    return ast.dump(Blank().visit(ast.parse(module)))


def own_statements(module: str) -> Iterator[ast.stmt]:
    """The statements outside the fenced blocks, which are the same in every module."""
    fences = re.compile(r"^# ==== Begin .*?^# ==== End .*?$", re.MULTILINE | re.DOTALL)
    yield from ast.parse(fences.sub("", module)).body


IMPORTED = {
    *("__future__", "collections", "collections.abc", "dataclasses", "enum", "functools"),
    *("itertools", "json", "re", "sys", "typing"),
}


def imported(statement: ast.Import | ast.ImportFrom) -> set[str]:
    if isinstance(statement, ast.ImportFrom):
        return {str(statement.module)}
    return {alias.name for alias in statement.names}


CONSTANT = re.compile(r"[A-Z][A-Z0-9_]*|__all__")
ROWS = {"Region", "Go"}


def is_data(node: ast.expr) -> bool:
    """Whether an expression is made of literals, rows of the table and names of constants."""
    if isinstance(node, ast.Call):
        is_row = isinstance(node.func, ast.Name) and node.func.id in ROWS
        return is_row and all(map(is_data, [*node.args, *(k.value for k in node.keywords)]))
    if isinstance(node, ast.Dict):
        return all(key is not None and is_data(key) for key in node.keys) and all(
            map(is_data, node.values)
        )
    if isinstance(node, (ast.List, ast.Tuple)):
        return all(map(is_data, node.elts))
    return isinstance(node, (ast.Constant, ast.Name))


@EVERYWHERE
@EVERY_TEXT
def test_a_module_is_imports_constants_and_the_same_blocks(place: str, kind: str) -> None:
    docstring, *statements = own_statements(made(place, HOSTILE[kind]).files["python"])
    assert isinstance(docstring, ast.Expr)
    for statement in statements:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            assert imported(statement) <= IMPORTED
        else:
            assert isinstance(statement, (ast.Assign, ast.AnnAssign)), ast.dump(statement)
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            assert all(isinstance(t, ast.Name) and CONSTANT.fullmatch(t.id) for t in targets)
            assert statement.value is not None
            assert is_data(statement.value), ast.dump(statement)


def renamed(data: Any, hostile: str) -> Any:
    """An analysis with the harmless text in place of the hostile one."""
    if isinstance(data, dict):
        return {renamed(k, hostile): renamed(v, hostile) for k, v in data.items()}
    if isinstance(data, (list, tuple)):
        return [renamed(item, hostile) for item in data]
    return data.replace(hostile, HARMLESS) if isinstance(data, str) else data


@EVERYWHERE
def test_modules_differ_in_texts_only(place: str) -> None:
    harmless = made(place, HARMLESS)
    expected, alike = as_dict(harmless.analysis), 0
    for hostile in HOSTILE.values():
        found = made(place, hostile)
        data = renamed(as_dict(found.analysis), hostile)
        differing = {
            name for name in expected if json.dumps(data[name]) != json.dumps(expected[name])
        }
        if differing <= {"source", "sha256", "notes"} and "\n" not in hostile:
            assert structure(found.files["python"]) == structure(harmless.files["python"])
            alike += 1
    assert alike >= 20  # the rest holds line ends or what is markup by itself


@EVERYWHERE
@EVERY_TEXT
def test_constants_are_the_analysis(place: str, kind: str) -> None:
    found = made(place, HOSTILE[kind])
    module, analysis = verify.import_text(found.files["python"]), found.analysis
    assert analysis.reasoning.start == module.REASONING_START
    assert analysis.reasoning.end == module.REASONING_END
    assert analysis.end_of_turn == module.END_OF_TURN
    assert tuple(module.PRESERVED_TOKENS) == analysis.preserved_tokens
    assert as_dict(analysis)["triggers"] == module.TRIGGERS
    assert module.GENERATION_PROMPTS["default"] == analysis.generation_prompts.default
    if place == "in tags":
        markers = {value for value in vars(module).values() if isinstance(value, str)}
        # A closer with line ends in it is several markers, between which whitespace may stand.
        lines = re.split(r"\s*\n\s*", f"</v{HOSTILE[kind]}>")
        assert markers.issuperset(lines)


@EVERYWHERE
@EVERY_TEXT
def test_the_analysis_as_json_is_the_analysis(place: str, kind: str) -> None:
    found = made(place, HOSTILE[kind])
    expected = json.loads(json.dumps(as_dict(found.analysis)))
    assert json.loads(found.files["json"]) == expected


@EVERYWHERE
@EVERY_TEXT
def test_module_and_grammar_read_the_renderings(place: str, kind: str) -> None:
    found = made(place, HOSTILE[kind])
    subject = verify.Subject(found.files["python"], found.files["lark"])
    report = verify.verify(found.prober, found.analysis, subject)
    assert ("call" in report.rendered) == (place != "in a note")


# -- what is seen ----------------------------------------------------------------------------------


@EVERYWHERE
@EVERY_TEXT
def test_nothing_in_a_file_is_hidden(place: str, kind: str) -> None:
    for name, content in made(place, HOSTILE[kind]).files.items():
        hidden = {ascii(char) for char in content if not visible(char) and char != "\n"}
        assert not hidden, name
        assert content.splitlines() == content.removesuffix("\n").split("\n"), name


@EVERY_TEXT
def test_nothing_in_a_report_is_hidden(kind: str, tmp_path: Path) -> None:
    for place, template in PLACES.items():
        source = tmp_path / "odd.jinja"
        source.write_text(template(HOSTILE[kind]), encoding="utf-8")
        for as_json in (False, True):
            report = inspect.one(source, Options(verify=False), as_json=as_json)
            assert not {ascii(char) for char in report if not visible(char) and char != "\n"}, place


@pytest.mark.parametrize(
    "body", ["{{ raise_exception(ALL) }}", "{{ messages[0].content }}{{ ALL }}", "{{ ALL"]
)
def test_nothing_in_an_error_is_hidden(body: str, tmp_path: Path) -> None:
    source = tmp_path / "odd\x1b[2J\u202e.jinja"
    source.write_text(body.replace("ALL", ascii("".join(HOSTILE.values()))), encoding="utf-8")
    command = [sys.executable, "-m", "autoparser_gen", str(source), "-o", "-", "--target", "json"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, check=False)
    assert done.returncode == 3
    assert done.stderr.startswith("autoparser-gen: ")
    assert not {ascii(char) for char in done.stderr if not visible(char) and char != "\n"}


# -- grammars --------------------------------------------------------------------------------------


def gbnf_rules(grammar: str) -> list[str]:
    return [line.split(" ::= ")[0] for line in grammar.splitlines() if not line.startswith("#")]


def lark_rules(grammar: str) -> list[str]:
    names = (re.match(r"[?!]?([\w.]+): ", line) for line in grammar.splitlines())
    return [name[1] for name in names if name]


@pytest.mark.parametrize("kind", [kind for kind, value in HOSTILE.items() if "\n" not in value])
def test_grammars_have_the_rules_of_the_harmless_one(kind: str) -> None:
    """In JSON calls, and apart from line ends: whitespace in a marker may be written otherwise."""
    harmless, found = made("in JSON", HARMLESS).files, made("in JSON", HOSTILE[kind]).files
    assert lark_rules(found["lark"]) == lark_rules(harmless["lark"])
    plain = [rule for rule in gbnf_rules(found["gbnf"]) if not re.search(r"-s\d+$", rule)]
    assert plain == [
        rule for rule in gbnf_rules(harmless["gbnf"]) if not re.search(r"-s\d+$", rule)
    ]
