"""The numbers in SECURITY.md are those of the tests."""

from __future__ import annotations

import inspect
import re

import pytest
import test_hostile_requests as hostile_requests
import test_hostile_schemas as schemas
import test_hostile_templates as hostile_templates
import test_injection as injection
import test_limits_of_outputs as limits_of_outputs
import test_nothing_lost as nothing_lost
import test_report as report
from conftest import ROOT

TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
# The number itself may be another one in this run.
DEFAULT_OUTPUTS = int(
    re.findall(r'"AUTOPARSER_FUZZ_INPUTS", "(\d+)"', inspect.getsource(nothing_lost))[0]
)
ALL_SCHEMAS = len(schemas.TAKEN) + len(schemas.EITHER) + len(schemas.REFUSED)


@pytest.mark.parametrize(
    "claim",
    [
        f"{len(hostile_templates.LIMITED)} chat templates that loop",
        f"{len(hostile_templates.LONG_TURNS) + 1} that render turns too long or too deep",
        f"{len(hostile_templates.REFUSED)} attempts",
        f"{len(hostile_requests.REQUESTS)} tool lists in {len(hostile_requests.STEMS)} formats",
        f"{len(limits_of_outputs.CALLS)} formats, cut in every way",
        f"{len(injection.HOSTILE)} hostile texts in {len(injection.PLACES)} places",
        f"the same {len(injection.HOSTILE)} texts",
        f"{len(report.PAGES)} pages full of hostile texts; the escapes alone: {len(report.TEXTS)} texts",
        f"{ALL_SCHEMAS} schemas in {len(schemas.FORMS)} formats",
        f"{DEFAULT_OUTPUTS:,} outputs in each run",
    ],
)
def test_claims(claim: str) -> None:
    assert claim in TEXT


def test_the_files_exist() -> None:
    named = re.findall(r"`(tests/\w+\.py)`", TEXT)
    assert len(named) > 10
    assert all((ROOT / name).is_file() for name in named)
