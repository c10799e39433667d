"""Recorded outputs of other engines: every case is read as expected, or argued in known_differences.md.

The modules are made in memory and not verified; `.ci/run` scores a few through the command line.
"""

from __future__ import annotations

import importlib.util
import json
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from known_differences import known_differences
from parsers import parser_from

from autoparser_gen.errors import AutoparserError
from autoparser_gen.pool import Pool

pytestmark = pytest.mark.corpus


def test_every_case_is_read_or_argued(corpus: Path) -> None:
    groups = defaultdict(list)
    for cases in sorted((corpus / "cases").glob("*.jsonl")):
        for line in cases.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            groups[case["template"]].append(case)
    sources = {path.name: path for path in (corpus / "chat_templates").rglob("*.jinja")}
    scorer = Path(os.environ.get("AUTOPARSER_SCORER", corpus.parent / "tools" / "score_cases.py"))
    tasks = [(scorer, sources[template], cases) for template, cases in sorted(groups.items())]
    wrong = {id_: why for found in Pool(2).map(_score, tasks) for id_, why in found}
    listed = known_differences("Recorded cases")
    assert {id_: why for id_, why in wrong.items() if id_ not in listed} == {}
    assert listed - set(wrong) == set(), "listed, but read as expected: take it off the list"


def _score(task: tuple[Path, Path, list[dict[str, Any]]]) -> list[tuple[str, str]]:
    """(id, what is wrong) for each case of one chat template that is not read as expected."""
    scorer, source, cases = task
    return list(_wrong(_import(scorer), source, cases))


def _wrong(
    scorer: ModuleType, source: Path, cases: list[dict[str, Any]]
) -> Iterator[tuple[str, str]]:
    try:
        module = parser_from(source)
    except AutoparserError as error:
        yield from ((case["id"], f"not generated: {error}") for case in cases)
        return
    for case in cases:
        why = scorer.judge(module, case)
        if why is not None:
            yield case["id"], why


def _import(scorer: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(scorer.stem, scorer)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
