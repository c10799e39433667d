"""Where chat templates live: files, model folders, GGUF files, the Hub.

The precedence inside a model folder is that of transformers' tokenizers: `chat_template.jinja` and
`additional_chat_templates/` replace what `tokenizer_config.json` says, whole.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from autoparser_gen.chat_template import ChatTemplate
from autoparser_gen.errors import ChatTemplateError

CONFIG = "tokenizer_config.json"
TEMPLATE = "chat_template.jinja"
MORE_TEMPLATES = "additional_chat_templates"
OLD_TEMPLATE = "chat_template.json"  # of processors, before there was a file for the text alone
OLD_TOKENS = "special_tokens_map.json"
MODEL_FILES = (TEMPLATE, CONFIG, OLD_TEMPLATE, MORE_TEMPLATES)
HUB = "hf:"
STANDARD_INPUT = Path("-")
GGUF_CONTROL = 3  # gguf.TokenType.CONTROL: what a detokenizer does not print


@dataclass(frozen=True)
class Container:
    """What one place holds: chat templates by name ("" for one without), and special tokens.

    `places` says where each chat template stands, and `tokens_from` the tokens; both are empty where
    that is plain.
    """

    templates: Mapping[str, str]
    tokens: Mapping[str, str]
    places: Mapping[str, str] = field(default_factory=dict)
    tokens_from: str = ""
    special: frozenset[str] | None = None  # as in ChatTemplate

    def origin(self, chosen: str) -> str:
        """In words: where the chosen chat template and the tokens were found, and what else is there."""
        others = ", ".join(name for name in self.templates if name != chosen)
        name = f" {chosen}" if others else ""
        place = f" from {self.places[chosen]}" if chosen in self.places else ""
        more = f" (--variant takes another: {others})" if others else ""
        said = [f"chat template{name}{place}{more}"] if name or place else []
        if self.tokens_from:
            said.append(f"special tokens from {self.tokens_from}")
        return "; ".join(said)


def load(
    path: Path,
    *,
    variant: str | None = None,
    bos_token: str | None = None,
    eos_token: str | None = None,
) -> ChatTemplate:
    """Read a chat template from a file, standard input ("-", the text of one), a model folder, a
    GGUF file or the Hub ("hf:owner/name").

    `variant` names one of several; the default is "tool_use" where there is one, else "default",
    else the only one. Explicit tokens win over the container's own. Raises ChatTemplateError where
    there is no chat template to read.
    """
    container = _open(path)
    chosen = _choose(path, list(container.templates), variant)
    text = container.templates[chosen]
    if not isinstance(text, str):
        raise ChatTemplateError(f"{path}: chat template {chosen!r} is not a text.")
    if "{" not in text:
        raise ChatTemplateError(
            f"{path}: no chat template: it holds no Jinja expression or statement. Give a file with"
            " the text of one."
        )
    given = {"bos_token": bos_token, "eos_token": eos_token}
    tokens = {name: token for name, token in given.items() if token is not None}
    return ChatTemplate(
        name=name_of(path),
        text=text,
        variant=chosen,
        tokens={**container.tokens, **tokens},
        origin=container.origin(chosen),
        special=container.special,
    )


def name_of(path: Path) -> str:
    """The name under which a container appears in generated files: without its folder."""
    return path.as_posix() if path.as_posix().startswith(HUB) else path.name or path.resolve().name


def is_model_folder(path: Path) -> bool:
    """Whether a folder is a model's own, and not one with chat templates of many."""
    return path.is_dir() and any((path / name).exists() for name in MODEL_FILES)


def _open(path: Path) -> Container:
    if path.as_posix().startswith(HUB):
        return _from_hub(path.as_posix().removeprefix(HUB))
    if path.is_dir():
        return _from_folder(path)
    if path.suffix == ".gguf":
        return _from_gguf(path)
    if path.suffix == ".json":
        return _from_config(path, read_json(path))
    return Container({"": _text(path)}, {})


def _text(path: Path) -> str:
    try:
        if path == STANDARD_INPUT:
            with open(0, "rb", closefd=False) as standard_input:
                return standard_input.read().decode("utf-8-sig")
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ChatTemplateError(
            f"{path}: cannot be read: {error.strerror}. Check the path; a model on the Hub is"
            f" {HUB}owner/name."
        ) from error
    except UnicodeDecodeError as error:
        raise ChatTemplateError(
            f"{path}: not a text file (byte {error.start} is not UTF-8). Give a .jinja file, a"
            f" {CONFIG}, a model's folder or a .gguf file."
        ) from error


def read_json(path: Path) -> Any:
    """The value of a JSON file. Raises ChatTemplateError where it cannot be read or is no JSON."""
    try:
        return json.loads(_text(path))
    except RecursionError as error:
        raise ChatTemplateError(f"{path}: nested too deeply.") from error
    except ValueError as error:
        raise ChatTemplateError(f"{path}: not valid JSON: {error}. Give the whole file.") from error


def _from_config(path: Path, config: Any) -> Container:
    if not isinstance(config, dict) or "chat_template" not in config:
        raise ChatTemplateError(
            f"{path}: has no `chat_template`. Give the model's folder, where it may be in another"
            f" file, or its {TEMPLATE}."
        )
    entry = config["chat_template"]
    if isinstance(entry, list):
        entry = {
            item["name"]: item["template"]
            for item in entry
            if isinstance(item, dict)
            and isinstance(item.get("name"), str)
            and isinstance(item.get("template"), str)
        }
    templates = {"": entry} if isinstance(entry, str) else entry
    if not isinstance(templates, dict) or not templates:
        raise ChatTemplateError(
            f"{path}: `chat_template` is neither a text nor a list of named texts"
            ' ({"name": ..., "template": ...}). Give the chat template as a .jinja file.'
        )
    return Container(templates, _special_tokens(config), special=_dropped_tokens(config))


def _from_folder(folder: Path) -> Container:
    texts = {"default": folder / TEMPLATE} if (folder / TEMPLATE).exists() else {}
    texts.update((path.stem, path) for path in sorted((folder / MORE_TEMPLATES).glob("*.jinja")))
    config = read_json(folder / CONFIG) if (folder / CONFIG).exists() else {}
    config = config if isinstance(config, dict) else {}
    tokens, tokens_from = _special_tokens(config), [CONFIG] if config else []
    if (folder / OLD_TOKENS).exists() and "added_tokens_decoder" not in config:
        more = read_json(folder / OLD_TOKENS)
        tokens.update(_special_tokens(more if isinstance(more, dict) else {}))
        tokens_from.append(OLD_TOKENS)
    if texts:
        found = Container({name: _text(path) for name, path in texts.items()}, {})
        found = replace(found, special=_dropped_tokens(config))
        places = {name: path.relative_to(folder).as_posix() for name, path in texts.items()}
    elif "chat_template" in config:
        found = _from_config(folder / CONFIG, config)
        places = dict.fromkeys(found.templates, CONFIG)
    elif (folder / OLD_TEMPLATE).exists():
        found = _from_config(folder / OLD_TEMPLATE, read_json(folder / OLD_TEMPLATE))
        places = dict.fromkeys(found.templates, OLD_TEMPLATE)
    else:
        raise ChatTemplateError(
            f"{folder}: no chat template in this model's folder ({', '.join(MODEL_FILES)}). Some"
            " models ship none; give one as a .jinja file."
        )
    told = ", ".join(tokens_from) if tokens else ""
    return replace(found, tokens=tokens, places=places, tokens_from=told)


def _from_gguf(path: Path) -> Container:
    """The templates and tokens in a GGUF file's metadata; its weights are not read."""
    if not path.exists():
        raise ChatTemplateError(f"{path}: cannot be read: no such file. Check the path.")
    try:
        from gguf import GGUFReader
    except ImportError as error:
        raise ChatTemplateError(
            f"{path}: reading a GGUF file needs the `gguf` package: pip install"
            " 'autoparser-gen[gguf]'."
        ) from error
    try:
        reader = GGUFReader(path)
    except (OSError, ValueError, IndexError) as error:
        raise ChatTemplateError(f"{path}: cannot be read as a GGUF file: {error}.") from error

    def value(key: str) -> Any:
        found = reader.get_field(key)
        return None if found is None else found.contents()

    templates = {"default": value("tokenizer.chat_template")}
    for name in sorted(value("tokenizer.chat_templates") or ()):
        templates[name] = value(f"tokenizer.chat_template.{name}")
    templates = {name: text for name, text in templates.items() if text is not None}
    if not templates:
        raise ChatTemplateError(
            f"{path}: holds no chat template (`tokenizer.chat_template`). In a model of several"
            " files it is in the first; else give the chat template as a .jinja file."
        )
    vocabulary, tokens = reader.get_field("tokenizer.ggml.tokens"), {}
    for name in ("bos", "eos"):
        index = value(f"tokenizer.ggml.{name}_token_id")
        if index is not None and vocabulary is not None:
            tokens[f"{name}_token"] = vocabulary.contents(index)
    types, special = value("tokenizer.ggml.token_type"), None
    if types is not None and vocabulary is not None:
        control = (index for index, type_ in enumerate(types) if type_ == GGUF_CONTROL)
        special = frozenset(map(vocabulary.contents, control))
    places = dict.fromkeys(templates, "the file's metadata")
    return Container(templates, tokens, places, "the same" if tokens else "", special)


def _from_hub(place: str) -> Container:
    """The same of a repository on the Hub; only its small files are downloaded."""
    repository, _, revision = place.partition("@")
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise ChatTemplateError(
            f"{HUB}{place}: reading from the Hub needs the `huggingface_hub` package: pip install"
            " 'autoparser-gen[hub]'."
        ) from error
    wanted = [TEMPLATE, CONFIG, OLD_TEMPLATE, OLD_TOKENS, f"{MORE_TEMPLATES}/*.jinja"]
    try:
        folder = snapshot_download(repository, revision=revision or None, allow_patterns=wanted)
    except Exception as error:  # the network, a name that does not exist, rights, a full disk
        lines = str(error).strip().splitlines() or [""]
        raise ChatTemplateError(
            f"{HUB}{place}: cannot be downloaded: {type(error).__name__}:"
            f" {lines[0].rstrip('.')}. Check the name"
            " (hf:owner/name, or hf:owner/name@revision) and the network."
        ) from error
    return _from_folder(Path(folder))


def _choose(path: Path, names: list[str], variant: str | None) -> str:
    if variant is not None:
        if names == [""]:
            raise ChatTemplateError(
                f"{path}: --variant {variant}: it holds one chat template, without a name. Leave the"
                " option out."
            )
        if variant not in names:
            raise ChatTemplateError(
                f"{path}: no chat template named {variant!r}; it has: {', '.join(names)}."
            )
        return variant
    for name in ("tool_use", "default"):
        if name in names:
            return name
    if len(names) > 1:
        raise ChatTemplateError(
            f"{path}: several chat templates; choose with --variant: {', '.join(names)}."
        )
    return names[0]


def _special_tokens(config: Mapping[str, Any]) -> dict[str, str]:
    """Every `*_token` that is set, as text: a string, or an AddedToken object with `content`."""
    tokens = {}
    for name, value in config.items():
        if name.endswith("_token"):
            text = value.get("content") if isinstance(value, dict) else value
            if isinstance(text, str):
                tokens[name] = text
    return tokens


def _dropped_tokens(config: Mapping[str, Any]) -> frozenset[str] | None:
    """The tokens that `skip_special_tokens` removes from a text; None where the file has no list."""
    added = config.get("added_tokens_decoder")
    if not isinstance(added, dict):
        return None
    return frozenset(
        token["content"]
        for token in added.values()
        if isinstance(token, dict)
        and token.get("special")
        and isinstance(token.get("content"), str)
    )
