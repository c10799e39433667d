"""The committed files in generated/: up to date, reproducible, independent, and small to load."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import black
import lark
import pytest
from conftest import ROOT

from autoparser_gen import write
from autoparser_gen.inspect import row_of, table
from autoparser_gen.pipeline import generate_all
from autoparser_gen.pool import Pool
from autoparser_gen.request import Options, chat_templates_in, requests_for_folder

TEMPLATES, GENERATED = ROOT / "templates", ROOT / "generated"
MODULES = sorted(GENERATED.glob("*/*_parser.py"))
GRAMMARS = sorted(GENERATED.glob("*/*.lark"))
FILES = sorted(path for path in GENERATED.glob("*/*") if path.is_file())
BLOCK = re.compile(r"^# ==== Begin (.+?) \([^\n]*\n(.*?)^# ==== End", re.MULTILINE | re.DOTALL)


def _name(path: Path) -> str:
    return path.stem


def test_every_chat_template_has_its_files() -> None:
    assert len(MODULES) == len(chat_templates_in(TEMPLATES))


def test_goldens_and_the_table_of_formats_are_up_to_date() -> None:
    requests = requests_for_folder(TEMPLATES, GENERATED, Options())
    results = generate_all(requests, Pool(None))
    texts = {path: text for result in results for path, text in result.files.items()}
    diff = write.diff(write.plan(texts))
    assert diff == "", "run: autoparser-gen templates/ -o generated/"
    assert write.orphans(GENERATED, texts) == []
    rows = [row_of(r.source, result) for r, result in zip(requests, results, strict=True)]
    formats = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    assert table(rows) == formats, "run: autoparser-gen templates/ --inspect > docs/formats.md"


def test_output_does_not_depend_on_hash_seeds(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for source in chat_templates_in(TEMPLATES)[::6]:
        (tmp_path / "in" / source.name).write_bytes(source.read_bytes())
    outputs = []
    for seed in ("1", "2"):
        folder = tmp_path / seed
        command = [sys.executable, "-m", "autoparser_gen", "in", "-o", seed, "--no-verify"]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        outputs.append({path.relative_to(folder): path.read_bytes() for path in files})
    assert outputs[0] == outputs[1]
    assert outputs[0]


# Started without site-packages: neither the generator nor lark can be imported there. What the
# module imports of the standard library, most programs have imported already.
ALONE = """
import importlib.util, sys, time
import __future__, dataclasses, json, re, typing
for name in ("autoparser_gen", "lark"):
    assert importlib.util.find_spec(name) is None, name
before = set(sys.modules)
start = time.process_time()
spec = importlib.util.spec_from_file_location("parser", sys.argv[1])
module = sys.modules["parser"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print(time.process_time() - start)
assert set(sys.modules) - before == {"parser"}, set(sys.modules) - before
assert module.parse("Hello.", prompt="").role == "assistant"
"""


def _import_alone(path: Path, cache: Path) -> float:
    prefix = f"pycache_prefix={cache}"  # nothing is to be left in generated/
    command = [sys.executable, "-I", "-S", "-X", prefix, "-c", ALONE, str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_a_module_stands_alone(path: Path, tmp_path: Path) -> None:
    _import_alone(path, tmp_path)


def test_a_module_is_imported_within_20_ms(tmp_path: Path) -> None:
    largest = max(MODULES, key=lambda path: path.stat().st_size)
    # CPU time, the best of some runs: another program's load is not ours.
    assert min(_import_alone(largest, tmp_path) for _ in range(7)) < 0.020


@pytest.mark.parametrize("path", GRAMMARS, ids=_name)
def test_lark_loads_the_grammar(path: Path) -> None:
    lark.Lark(path.read_text(encoding="utf-8"), parser="lalr")


def test_shared_blocks_are_the_same_in_every_module() -> None:
    blocks: dict[str, set[str]] = {}
    for path in MODULES:
        found = BLOCK.findall(path.read_text(encoding="utf-8"))
        assert found, path
        for name, text in found:
            blocks.setdefault(name, set()).add(text)
    assert "runtime block" in blocks
    assert [name for name, texts in blocks.items() if len(texts) > 1] == []


def test_modules_are_as_black_lays_them_out() -> None:
    """Each shared block in one module; of the others, what is their own."""
    seen: set[str] = set()
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        blocks = {name for name, _ in BLOCK.findall(text)}
        if blocks <= seen:
            text = BLOCK.sub(lambda found: found[0].replace(found[2], ""), text)
        seen |= blocks
        assert black.format_str(text, mode=black.Mode(line_length=100)) == text, path


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_shows_all_that_is_in_it(path: Path) -> None:
    text = path.read_bytes().decode("utf-8")
    assert [char for char in text if char != "\n" and not char.isprintable()] == []
    assert str(Path.home()) not in text
    assert text.endswith("\n")
