"""Chat templates where they live: model folders, GGUF files, the Hub's cache."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import ROOT

from autoparser_gen import containers
from autoparser_gen.cli import main
from autoparser_gen.errors import ChatTemplateError

TOKENS = {"bos_token": None, "eos_token": {"__type": "AddedToken", "content": "<end>"}}


def _model(folder: Path, files: Mapping[str, object]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


CONFIG = {"chat_template": "{{ 'config' }}", **TOKENS}
NAMED = [
    {"name": name, "template": f"{{{{ {name!r} }}}}"} for name in ("default", "tool_use", "rag")
]

# The files of a model's folder, the variant that is asked for, the text and variant that are taken.
FOLDERS: dict[str, tuple[dict[str, object], str | None, str, str]] = {
    "a file of its own wins over the config": (
        {"chat_template.jinja": "{{ 'file' }}", "tokenizer_config.json": CONFIG},
        None,
        "{{ 'file' }}",
        "default",
    ),
    "the config alone": ({"tokenizer_config.json": CONFIG}, None, "{{ 'config' }}", ""),
    "named ones in the config": (
        {"tokenizer_config.json": {"chat_template": NAMED, **TOKENS}},
        None,
        "{{ 'tool_use' }}",
        "tool_use",
    ),
    "one of them by name": (
        {"tokenizer_config.json": {"chat_template": NAMED}},
        "rag",
        "{{ 'rag' }}",
        "rag",
    ),
    "additional ones": (
        {
            "chat_template.jinja": "{{ 'file' }}",
            "additional_chat_templates/tool_use.jinja": "{{ 'more' }}",
        },
        None,
        "{{ 'more' }}",
        "tool_use",
    ),
    "additional ones replace the config": (
        {"additional_chat_templates/rag.jinja": "{{ 'rag' }}", "tokenizer_config.json": CONFIG},
        None,
        "{{ 'rag' }}",
        "rag",
    ),
    "the old file of processors": (
        {"chat_template.json": {"chat_template": "{{ 'old' }}"}, "tokenizer_config.json": TOKENS},
        None,
        "{{ 'old' }}",
        "",
    ),
}


@pytest.mark.parametrize("case", FOLDERS)
def test_what_is_taken_from_a_model_folder(tmp_path: Path, case: str) -> None:
    files, variant, text, chosen = FOLDERS[case]
    found = containers.load(_model(tmp_path, files), variant=variant)
    assert (found.text, found.variant) == (text, chosen)
    assert found.name == tmp_path.name
    assert found.origin.startswith("chat template ")
    if "eos_token" in str(files):
        assert found.tokens == {"eos_token": "<end>"}
        assert found.origin.endswith("; special tokens from tokenizer_config.json")


def test_which_of_several_was_taken_is_said(tmp_path: Path) -> None:
    two: dict[str, object] = {
        "chat_template.jinja": "{{ 'file' }}",
        "additional_chat_templates/tool_use.jinja": "{{ 'more' }}",
    }
    place = "tool_use from additional_chat_templates/tool_use.jinja"
    expected = f"chat template {place} (--variant takes another: default)"
    assert containers.load(_model(tmp_path / "two", two)).origin == expected
    named: dict[str, object] = {"tokenizer_config.json": {"chat_template": NAMED}}
    found = containers.load(_model(tmp_path, named) / "tokenizer_config.json", variant="rag")
    assert found.origin == "chat template rag (--variant takes another: default, tool_use)"


def test_the_old_map_of_special_tokens(tmp_path: Path) -> None:
    files: dict[str, object] = {
        "chat_template.jinja": "{{ 'file' }}",
        "special_tokens_map.json": {"eos_token": {"content": "<eos>"}, "bos_token": "<bos>"},
    }
    assert containers.load(_model(tmp_path, files)).tokens == {
        "eos_token": "<eos>",
        "bos_token": "<bos>",
    }
    given = containers.load(tmp_path, eos_token="<mine>")
    assert given.tokens == {"eos_token": "<mine>", "bos_token": "<bos>"}


# Whether the source tells which tokens are special, and which of the format's markers are.
DROPPED: dict[str, tuple[dict[str, object] | None, str]] = {
    "some markers": (
        {"1": {"content": "<tool_call>", "special": True}, "2": {"content": "</think>"}},
        'SPECIAL_MARKERS: list[str] = ["<tool_call>"]',
    ),
    "a part of a marker": (
        {"1": {"content": "</think>", "special": True}, "2": {"content": "think", "special": True}},
        'SPECIAL_MARKERS: list[str] = ["think", "</think>"]',
    ),
    "the end of turn alone": (
        {"1": {"content": "<|im_end|>", "special": True}},
        "SPECIAL_MARKERS: list[str] = []",
    ),
    "not told": (None, ""),
}


@pytest.mark.parametrize("case", DROPPED)
def test_markers_that_a_detokenizer_drops_are_listed(
    tmp_path: Path, case: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    added, expected = DROPPED[case]
    text = (ROOT / "templates" / "qwen3.jinja").read_text(encoding="utf-8")
    config: dict[str, object] = {} if added is None else {"added_tokens_decoder": added}
    _model(tmp_path, {"chat_template.jinja": text, "tokenizer_config.json": config})
    with pytest.raises(SystemExit):
        main([str(tmp_path), "-o", "-", "--target", "python", "--no-verify"])
    lines = capsysbinary.readouterr().out.decode().splitlines()
    found = [line for line in lines if line.startswith("SPECIAL_MARKERS")]
    assert found == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"tokenizer_config.json": TOKENS}, "no chat template in this model's folder"),
        ({"tokenizer_config.json": {"chat_template": []}}, "neither a text nor a list"),
        ({"tokenizer_config.json": {"chat_template": "plain"}}, "no Jinja expression"),
        (
            {"chat_template.jinja": "x{{", "tokenizer_config.json": "[" * 99_999},
            "nested too deeply",
        ),
        ({"chat_template.json": "{"}, "not valid JSON"),
    ],
)
def test_folders_without_a_chat_template(
    tmp_path: Path, files: dict[str, object], message: str
) -> None:
    with pytest.raises(ChatTemplateError, match=message):
        containers.load(_model(tmp_path, files))


def test_a_model_folder_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "templates" / "qwen3.jinja").read_text(encoding="utf-8")
    _model(tmp_path / "Some Model", {"chat_template.jinja": text, "tokenizer_config.json": TOKENS})
    for place, source in (("Some Model", tmp_path), (".", tmp_path / "Some Model")):
        monkeypatch.chdir(source)
        with pytest.raises(SystemExit) as done:
            main([place, "-o", str(tmp_path / "some_parser.py")])
        assert done.value.code == 0
        assert "read: chat template from chat_template.jinja; special" in capsys.readouterr().out
        assert (
            "regenerate:    autoparser-gen 'Some Model' -o"
            in (tmp_path / "some_parser.py").read_text()
        )


def test_standard_input(tmp_path: Path) -> None:
    text = (ROOT / "templates" / "qwen3.jinja").read_bytes()
    words = ["-", "--no-verify", "-o", "x_parser.py", "-o", "x_vllm.py"]
    command = [sys.executable, "-m", "autoparser_gen", *words]
    for given, status in ((text, 0), (b"", 3)):
        done = subprocess.run(command, cwd=tmp_path, input=given, check=False, capture_output=True)
        assert done.returncode == status
    assert b"-: no chat template" in done.stderr
    module, plugin = ((tmp_path / name).read_text("utf-8") for name in ("x_parser.py", "x_vllm.py"))
    assert "#   chat template: -\n" in module
    assert 'PARSER_NAME = "generated"\n' in plugin


def _gguf(path: Path, named: Mapping[str, str]) -> Path:
    gguf = pytest.importorskip("gguf", reason="the gguf extra is not installed")
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_token_list(["<unk>", "<bos>", "<eos>", "<call>", "word"])
    writer.add_token_types([2, 3, 3, 4, 1])  # unknown, control, user-defined, normal
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    if named:
        writer.add_chat_template([{"name": name, "template": text} for name, text in named.items()])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


def test_a_gguf_file(tmp_path: Path) -> None:
    path = _gguf(tmp_path / "model.gguf", {"default": "{{ 'one' }}", "rag": "{{ 'two' }}"})
    found = containers.load(path)
    assert (found.text, found.variant) == ("{{ 'one' }}", "default")
    assert found.tokens == {"bos_token": "<bos>", "eos_token": "<eos>"}
    assert found.special == frozenset(("<bos>", "<eos>"))
    assert containers.load(path, variant="rag").text == "{{ 'two' }}"
    with pytest.raises(ChatTemplateError, match="it has: default, rag"):
        containers.load(path, variant="other")


def test_gguf_files_without_a_chat_template(tmp_path: Path) -> None:
    with pytest.raises(ChatTemplateError, match="holds no chat template"):
        containers.load(_gguf(tmp_path / "model.gguf", {}))
    for name, content in (("empty", b""), ("other", b"not a GGUF file at all")):
        (tmp_path / f"{name}.gguf").write_bytes(content)
        with pytest.raises(ChatTemplateError, match="cannot be read as a GGUF file"):
            containers.load(tmp_path / f"{name}.gguf")


def test_a_gguf_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ChatTemplateError, match="no such file"):
        containers.load(tmp_path / "missing.gguf")


def test_the_hub_without_its_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    constants = pytest.importorskip("huggingface_hub.constants", reason="no hub extra")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    cached = tmp_path / "models--owner--name"
    commit = "0" * 40
    files: dict[str, object] = {"refs/main": commit, "refs/v2": commit}
    files[f"snapshots/{commit}/chat_template.jinja"] = "{{ 'hub' }}"
    _model(cached, files)
    for place in ("hf:owner/name", "hf:owner/name@v2"):
        found = containers.load(Path(place))
        assert (found.text, found.name) == ("{{ 'hub' }}", place)
    for place in ("hf:owner/other", "hf:no name", "hf:"):
        with pytest.raises(ChatTemplateError, match=r"^hf:.*cannot be downloaded"):
            containers.load(Path(place))
