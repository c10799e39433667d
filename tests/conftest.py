"""What several test modules need."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from commands import Run, Runner

from autoparser_gen import cli

ROOT = Path(__file__).parents[1]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "corpus: needs the vendors' chat templates")


def corpus_folder() -> Path:
    """Where the vendors' chat templates and recorded outputs are, if they are at hand."""
    return Path(os.environ.get("AUTOPARSER_CORPUS", ROOT.parent / "shared" / "corpus"))


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The vendors' chat templates and recorded outputs; they are not part of this repository."""
    folder = corpus_folder()
    if not folder.is_dir():
        pytest.skip(f"no corpus at {folder}; set AUTOPARSER_CORPUS to its folder")
    return folder


@pytest.fixture(scope="session")
def templates() -> Path:
    """Our own chat templates."""
    return ROOT / "templates"


@pytest.fixture(scope="session")
def generated() -> Path:
    """The committed files that the generator wrote from them."""
    return ROOT / "generated"


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Runner:
    """Runs the command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run_it(*words: object) -> Run:
        with pytest.raises(SystemExit) as exit_:
            cli.main([str(word) for word in words])
        assert isinstance(exit_.value.code, int)
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return Run(exit_.value.code, out, err)

    return run_it
