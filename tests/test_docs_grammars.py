"""docs/grammars.md: the table of keywords, each row's example run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from commands import Runner
from engines import engines
from formats import JSON_IN_TAGS

from autoparser_gen.grammar import pattern, shapes
from autoparser_gen.grammar.alternatives import MAX_STEPS
from autoparser_gen.grammar.branch import CONSTRAINTS
from autoparser_gen.grammar.lower import lower
from autoparser_gen.grammar.schema import MAX_COUNT

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs/grammars.md").read_text("utf-8")
HERMES = ROOT / "templates/hermes_2_pro.jinja"
CODE = re.compile(r"`([^`]+)`")


class Row(NamedTuple):
    keyword: str
    schema: Any
    permits: list[str]
    refuses: list[str]
    said: str


def _rows() -> dict[str, Row]:
    table = TEXT.partition("| keyword |")[2]
    found = {}
    for line in re.findall(r"^\| .+ \|$", table, re.MULTILINE):
        cells = [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        keyword, _, example, permits, refuses, said = cells
        [schema] = CODE.findall(example)
        values = CODE.findall(permits), CODE.findall(refuses)
        found[schema] = Row(keyword, json.loads(schema), *values, said)
    return found


ROWS = _rows()


def accepts_content(schema: Any) -> Any:
    """Every engine's verdict on a text as content."""
    grammar = lower(JSON_IN_TAGS, response_schema=schema)
    return engines(grammar, JSON_IN_TAGS)


@pytest.mark.parametrize("example", ROWS)
def test_the_row_is_right(run: Runner, tmp_path: Path, example: str) -> None:
    row = ROWS[example]
    (tmp_path / "schema.json").write_text(example)
    done = run(HERMES, "-o", "x.gbnf", "--no-verify", "--response-schema", "schema.json")
    kind, _, what = row.said.partition(": ")
    if kind == "error":
        assert done.status == 2
        assert what.strip("`") in done.err
        assert not (tmp_path / "x.gbnf").exists()
        return
    assert done.status == 0
    warnings = [line.removeprefix("warning: ") for line in done.err.splitlines()]
    expected = f"schema of content-value: {what[1:-1]} is not enforced by the grammar."
    assert warnings == ([expected] if kind == "warning" else [])
    for engine, accepts in accepts_content(row.schema).items():
        assert [text for text in row.permits if not accepts(text)] == [], engine
        assert [text for text in row.refuses if accepts(text)] == [], engine


def test_every_keyword_has_a_row() -> None:
    named = {word for row in ROWS.values() for word in CODE.findall(row.keyword)}
    used = {word for example in ROWS for word in re.findall(r'"([$a-zA-Z]+)":', example)}
    known = {word for words in CONSTRAINTS.values() for word in words} | set(shapes.SHAPES)
    assert known - named - used - {"definitions", "additionalItems"} == set()


def test_the_formats_and_limits_are_these() -> None:
    [formats] = re.findall(r"^\| `format` \| (.*) are enforced", TEXT, re.MULTILINE)
    assert CODE.findall(formats) == list(pattern.FORMATS)
    assert f"deeper than {shapes.MAX_LEVELS} levels" in TEXT
    assert f"over {MAX_STEPS:,} schemas" in TEXT
    assert f"above {MAX_COUNT} not" in TEXT
