"""The pipeline: what a request gives, and what of the options reaches the files."""

from __future__ import annotations

from pathlib import Path

import pytest

from autoparser_gen import pipeline
from autoparser_gen.errors import AutoparserError, FolderError, InternalError
from autoparser_gen.pool import Pool
from autoparser_gen.request import JsonFile, Options, Request, outputs_for_file, stem_of

HERMES = Path(__file__).parents[1] / "templates" / "hermes_2_pro.jinja"
TOOLS = JsonFile(
    "tools.json",
    [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}],
)


def generate(source: Path, *outputs: str, **options: object) -> dict[str, str]:
    wanted = outputs_for_file([Path(name) for name in outputs], None)
    given = Options(**{"verify": False, **options})  # type: ignore[arg-type]
    files = pipeline.generate(Request(source, wanted, given)).files
    return {path.name: text for path, text in files.items()}


def test_every_file_names_the_command_that_makes_it() -> None:
    files = generate(HERMES, "x_parser.py", "x.gbnf", tools=TOOLS, thinking=False, parallel=False)
    for name, text in files.items():
        assert f"autoparser-gen hermes_2_pro.jinja -o {name} " in text
        for words in (
            "--tools tools.json",
            "--thinking off",
            "--no-parallel-tool-calls",
            "--no-verify",
        ):
            assert f" {words}" in text


def test_options_that_shape_grammars_leave_the_parser_as_it_is() -> None:
    def body(text: str) -> str:
        return "\n".join(line for line in text.split("\n") if "regenerate:" not in line)

    plain = generate(HERMES, "x_parser.py", "x.gbnf")
    shaped = generate(HERMES, "x_parser.py", "x.gbnf", tools=TOOLS)
    assert body(plain["x_parser.py"]) == body(shaped["x_parser.py"])
    assert body(plain["x_parser.lark"]) != body(shaped["x_parser.lark"])
    assert body(plain["x.gbnf"]) != body(shaped["x.gbnf"])


def test_only_the_hash_changes_where_the_format_does_not(tmp_path: Path) -> None:
    other = tmp_path / HERMES.name
    other.write_text("{# a comment #}" + HERMES.read_text())
    old, new = (generate(path, "x_parser.py", "x.gbnf", "x.json") for path in (HERMES, other))
    for name, text in old.items():
        pairs = zip(text.split("\n"), new[name].split("\n"), strict=True)
        changed = [before for before, after in pairs if before != after]
        assert len(changed) == 1
        assert "sha256" in changed[0]


def test_unknown_tokens_are_named_and_left_out(tmp_path: Path) -> None:
    template = tmp_path / "x.jinja"
    template.write_text(
        "{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{{ eos_token }}{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>{% endif %}"
    )
    unknown = generate(template, "x_parser.py", "x.gbnf")
    for text in unknown.values():
        assert "eos_token" in text.split("\n\n")[0]
        assert "bos_token" not in text
        assert "\ue0e0" not in text
        assert "\\ue0e0" not in text.lower()
    known = generate(template, "x_parser.py", eos_token="</s>")
    assert "unknown:" not in known["x_parser.py"]
    assert 'END_OF_TURN = "</s>"' in known["x_parser.py"]
    assert "--eos-token '</s>'" in known["x_parser.py"]


def test_requests_of_a_folder_fail_together() -> None:
    missing = Request(Path("no.jinja"), (), Options())
    with pytest.raises(FolderError) as caught:
        pipeline.generate_all([missing, missing], Pool(workers=2))
    assert str(caught.value).endswith("2 of 2 chat templates failed; nothing was written.")
    assert caught.value.exit_code == 3


def test_a_bug_is_an_error_that_names_the_chat_template(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object) -> None:
        raise ZeroDivisionError("surprise")

    monkeypatch.setattr(pipeline, "analyze", crash)
    result = pipeline.attempt(Request(HERMES, (), Options()))
    assert isinstance(result, InternalError)
    assert isinstance(result, AutoparserError)
    assert "hermes_2_pro.jinja: internal error: ZeroDivisionError: surprise" in str(result)


@pytest.mark.parametrize(
    ("name", "stem"),
    [("Qwen-Qwen3-0.6B.jinja", "qwen_qwen3_0_6b"), ("a--b.jinja", "a_b"), ("é.jinja", "_")],
)
def test_stems(name: str, stem: str) -> None:
    assert stem_of(Path(name)) == stem
