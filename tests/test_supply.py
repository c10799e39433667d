"""What a user installs: built alike everywhere, with all that it needs and nothing else."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT

PACKAGE = ROOT / "codegen" / "autoparser_gen"
LEFT_OUT = ("__pycache__", ".git", ".hypothesis", ".mypy_cache", ".pytest_cache", ".ruff_cache")


def build(source: Path, to: Path, hook: str) -> Path:
    """What the build back end makes of a folder."""
    code = f"import hatchling.build; print(hatchling.build.{hook}({str(to)!r}))"
    environment = {k: v for k, v in os.environ.items() if k != "SOURCE_DATE_EPOCH"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=source,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return to / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Path]]:
    """The wheel and the sdist, each from two copies of the project with other dates of files."""
    found: dict[str, list[Path]] = {"build_wheel": [], "build_sdist": []}
    for date in (1_500_000_000, 1_600_000_000):
        folder = tmp_path_factory.mktemp("copy")
        source = folder / "project"
        shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
        for path in source.rglob("*"):
            os.utime(path, (date, date))
        for hook, files in found.items():
            files.append(build(source, folder, hook))
    return found


@pytest.mark.parametrize("hook", ["build_wheel", "build_sdist"])
def test_the_same_bytes_from_the_same_files(built: dict[str, list[Path]], hook: str) -> None:
    first, second = (hashlib.sha256(path.read_bytes()).hexdigest() for path in built[hook])
    assert first == second


def test_the_wheel_is_the_package_alone(built: dict[str, list[Path]]) -> None:
    names = zipfile.ZipFile(built["build_wheel"][0]).namelist()
    package = {name for name in names if not name.partition("/")[0].endswith(".dist-info")}
    ours = (path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix != ".pyc")
    assert package == {path.relative_to(PACKAGE.parent).as_posix() for path in ours}
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_sdist_has_what_its_own_tests_need(built: dict[str, list[Path]]) -> None:
    with tarfile.open(built["build_sdist"][0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    tops = {name.partition("/")[0] for name in names}
    assert {"codegen", "templates", "generated", "tests", "benchmarks", "docs"} <= tops
    assert {"README.md", "SECURITY.md", "LICENSE", "pyproject.toml"} <= tops
    assert not any(re.search(r"__pycache__|\.pyc$|\.so$", name) for name in names)


def test_every_dependency_has_a_minimum() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    dependencies = re.findall(r"^dependencies = \[(.*?)\]", text, re.DOTALL | re.MULTILINE)[0]
    named = re.findall(r'"([^"]+)"', dependencies)
    assert named
    assert all(re.fullmatch(r"\w+>=[\d.]+", dependency) for dependency in named)
