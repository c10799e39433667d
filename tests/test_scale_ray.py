"""Ray Data over a generated module reads what the module reads by itself. Needs `ray[data]`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ray.data", reason="needs ray[data]")

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "scale_ray.py"


def test_the_same_messages() -> None:
    count = os.environ.get("AUTOPARSER_SCALE_OUTPUTS", "2000")
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--outputs", count],
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.endswith("the same messages\n")
    print(done.stdout)
