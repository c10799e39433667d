"""What the command line asks for, checked before any work is done."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autoparser_gen import json_inputs
from autoparser_gen.containers import MODEL_FILES, STANDARD_INPUT, is_model_folder
from autoparser_gen.errors import RequestError, UsageError
from autoparser_gen.grammar.request import choose, read_tools
from autoparser_gen.header import option_words, request_options
from autoparser_gen.limits import DEFAULT_LIMITS, Limits
from autoparser_gen.targets import TARGETS, Asked, Target

CHAT_TEMPLATE_SUFFIXES = (".jinja", ".jinja2", ".j2")
STANDARD_OUTPUT = Path("-")
# What changes only grammars, of the options that narrow them to a request.
_OF_GRAMMARS = ("--response-schema", "--lazy")


@dataclass(frozen=True)
class JsonFile:
    """A JSON file given as an option; only its base name reaches a generated file."""

    name: str
    value: Any


@dataclass(frozen=True)
class Options:
    """Everything beside the chat template that shapes what is generated."""

    variant: str | None = None
    bos_token: str | None = None
    eos_token: str | None = None
    tools: JsonFile | None = None
    tool_choice: str = "auto"
    parallel: bool = True
    response_schema: JsonFile | None = None
    thinking: bool | None = None  # None: as the chat template's own default
    lazy: bool = False
    portable: bool = False
    special_tokens: bool = False
    with_grammar: bool = False
    verify: bool = True
    limits: Limits = DEFAULT_LIMITS  # of rendering; they change no output

    @property
    def shaped(self) -> bool:
        """Whether the grammars accept less than the whole format."""
        plain = self.tools is None and self.response_schema is None and self.thinking is None
        return not plain or self.tool_choice != "auto" or not self.parallel or self.lazy

    def words(self) -> list[str]:
        """The options as the words of a command that gives the same output."""
        return option_words(
            {
                **self.of_chat_template(),
                **self.of_request(),
                **self.of_lark(),
            }
        )

    def of_lark(self) -> dict[str, str | bool | None]:
        """The options that change Lark files alone."""
        return {"--portable": self.portable, "--special-tokens": self.special_tokens}

    def of_request(self) -> dict[str, str | bool | None]:
        """The options that narrow grammars to a request."""
        return request_options(
            self.tools.name if self.tools else None,
            self.tool_choice,
            self.parallel,
            self.response_schema.name if self.response_schema else None,
            self.thinking,
            self.lazy,
        )

    def request_files(self) -> list[str]:
        """The options that name files, as on the command line."""
        files = {"--tools": self.tools, "--response-schema": self.response_schema}
        return [f"{option} {file.name}" for option, file in files.items() if file is not None]

    @property
    def asked(self) -> Asked:
        """What they ask for, without the names of files."""
        return Asked(
            self.tools.value if self.tools else None,
            self.tool_choice,
            self.parallel,
            self.response_schema.value if self.response_schema else None,
            self.thinking,
            self.lazy,
        )

    def with_plain_names(self) -> Options:
        """The same options, with the names that a generated module gives to files."""
        return replace(
            self,
            tools=self.tools and JsonFile("tools.json", self.tools.value),
            response_schema=self.response_schema
            and JsonFile("schema.json", self.response_schema.value),
        )

    def of_chat_template(self) -> dict[str, str | bool | None]:
        """The options that say how the chat template is read, whatever is asked of a model."""
        return {
            "--variant": self.variant,
            "--bos-token": self.bos_token,
            "--eos-token": self.eos_token,
            "--no-verify": not self.verify,
        }


@dataclass(frozen=True)
class Output:
    """One file to write, or standard output where the path is "-"."""

    path: Path
    target: Target

    def words(self) -> list[str]:
        """The output as the words of a command, without its folder."""
        if self.path == STANDARD_OUTPUT:
            return ["-o", "-", "--target", self.target.name]
        return ["-o", self.path.name]

    def like(self, target: str) -> Output:
        """An output of another target, beside this one."""
        other = TARGETS[target]
        printed = self.path == STANDARD_OUTPUT
        return Output(self.path if printed else self.path.with_suffix(other.suffix), other)


@dataclass(frozen=True)
class Request:
    """One chat template and the files wanted from it."""

    source: Path
    outputs: tuple[Output, ...]
    options: Options


def outputs_for_file(paths: Iterable[Path], target: str | None) -> tuple[Output, ...]:
    """The outputs that `-o` names, each with its companions.

    Raises UsageError where a suffix belongs to no target, or `--target` does not fit.
    """
    outputs: dict[Path, Output] = {}
    for path in paths:
        chosen = _target_of(path, target)
        outputs[path] = Output(path, chosen)
        if path != STANDARD_OUTPUT:
            for companion in chosen.companions:
                beside = outputs[path].like(companion)
                outputs.setdefault(beside.path, beside)
    if target is not None and STANDARD_OUTPUT not in outputs:
        raise UsageError("--target goes with -o -, which prints; a file's suffix says its target.")
    if STANDARD_OUTPUT in outputs and len(outputs) > 1:
        raise UsageError("-o - prints one target and goes with no other -o. Run it apart.")
    return tuple(outputs.values())


def require_targets(outputs: Iterable[Output], options: Options) -> None:
    """Raise UsageError where an option changes none of the outputs."""
    targets = [output.target for output in outputs]
    if options.with_grammar and not any(target.prints for target in targets):
        raise UsageError(
            "--with-grammar goes with a parser module, which will print grammars: -o FILE.py."
        )
    names = {target.name for target in targets}
    shaped = bool(names & {"lark", "gbnf"}) or any(target.prints for target in targets)
    for option, given in options.of_lark().items():
        if given and "lark" not in names:
            raise UsageError(f"{option} changes only grammars for Lark: -o FILE.lark.")
    for option, given in options.of_request().items():
        in_tag = "structural-tag" in names and option not in _OF_GRAMMARS
        if given and not shaped and not in_tag:
            raise UsageError(f"{option} changes only grammars: -o FILE.gbnf, or -o FILE.lark.")


def require_inputs_kept(inputs: Iterable[Path], requests: Iterable[Request]) -> None:
    """Raise UsageError where an output would replace what the command reads."""
    read = {path.resolve(): path for path in inputs}
    for request in requests:
        for output in request.outputs:
            piped = output.path == STANDARD_OUTPUT and request.source == STANDARD_INPUT
            if not piped and output.path.resolve() in {*read, request.source.resolve()}:
                raise UsageError(
                    f"-o {output.path}: is an input of this command, which would be lost. Choose"
                    " another name."
                )


def notes_on_names(paths: Iterable[Path]) -> list[str]:
    """What to know of modules that `import` cannot find by their names, one sentence each."""
    said = []
    for path in paths:
        if path.suffix != TARGETS["python"].suffix:
            continue
        if not path.stem.isidentifier() or keyword.iskeyword(path.stem):
            said.append(f"note: {path.name} cannot be imported: {path.stem!r} is no name in Python")
        elif path.stem in sys.stdlib_module_names:
            said.append(f"note: {path.name} hides Python's own module {path.stem!r} in its folder")
    return said


def is_folder(source: Path) -> bool:
    """Whether it holds the chat templates of several models: a folder, but not a model's own."""
    return source.is_dir() and not is_model_folder(source)


def requests_for_folder(folder: Path, out: Path, options: Options) -> list[Request]:
    """One request for each chat template in a folder, with a folder of its own below `out`.

    Raises UsageError where there is none, or two would share a folder.
    """
    found = chat_templates_in(folder)
    if out == STANDARD_OUTPUT:
        raise UsageError(
            f"{folder} is a folder: -o - prints one file. Name a folder to write into."
        )
    if out.suffix in {target.suffix for target in TARGETS.values()}:
        raise UsageError(f"-o {out}: for a folder of chat templates, name a folder to write into.")
    by_stem: dict[str, Path] = {}
    for source in found:
        stem = stem_of(source)
        if stem in by_stem:
            raise UsageError(
                f"{source}: would be written over {by_stem[stem].name} (both give {stem}/)."
                " Rename one of them."
            )
        by_stem[stem] = source
    return [
        Request(source, tuple(_outputs_in(out / stem, stem)), options)
        for stem, source in by_stem.items()
    ]


def chat_templates_in(folder: Path) -> list[Path]:
    """The chat templates of a folder, sorted by name.

    Raises UsageError where there is none.
    """
    found = sorted(path for path in folder.iterdir() if path.suffix in CHAT_TEMPLATE_SUFFIXES)
    if not found:
        raise UsageError(
            f"{folder}: neither a model's folder ({', '.join(MODEL_FILES)}) nor one of chat templates"
            f" ({', '.join(CHAT_TEMPLATE_SUFFIXES)}). Name a file in it (.gguf, too), or another"
            " folder."
        )
    return found


def stem_of(source: Path) -> str:
    """A chat template's name as it appears in generated names."""
    return re.sub(r"[^a-z0-9]+", "_", source.stem.lower())


def read_tools_file(path: Path) -> JsonFile:
    """The tools of a file, as OpenAI's list. Raises UsageError where it holds none."""
    value = json_inputs.read_json("--tools", path, lines=True)
    try:
        return JsonFile(path.name, json_inputs.tool_list(value))
    except RequestError as error:
        raise UsageError(f"--tools {path.name}: {error}") from error


def read_schema_file(path: Path) -> JsonFile:
    """The schema of a file. Raises UsageError where it holds none."""
    value = json_inputs.read_json("--response-schema", path)
    try:
        return JsonFile(path.name, json_inputs.schema(value))
    except RequestError as error:
        raise UsageError(f"--response-schema {path.name}: {error}") from error


def check_tools(tools: JsonFile | None, tool_choice: str) -> None:
    """Raise UsageError where the tools are no OpenAI tool list, or the choice is not in it."""
    given = None
    if tools is not None:
        try:
            given = read_tools(tools.value)
        except RequestError as error:
            raise UsageError(f"--tools {tools.name}: {error}") from error
    try:
        choose(given, tool_choice)
    except RequestError as error:
        raise UsageError(f"--tool-choice {tool_choice}: {error}") from error


def _target_of(path: Path, target: str | None) -> Target:
    if path == STANDARD_OUTPUT:
        if target is None:
            raise UsageError(f"-o - needs --target: {', '.join(TARGETS)}.")
        return TARGETS[target]
    known = [target for target in TARGETS.values() if path.name.endswith(target.suffix)]
    if known:
        return max(known, key=lambda target: len(target.suffix))
    if path.is_dir():
        raise UsageError(f"-o {path}: is a folder. Name a file in it, such as {path}/my_parser.py.")
    raise UsageError(
        f"-o {path}: {f'unknown suffix {path.suffix!r}' if path.suffix else 'no suffix'}. It says"
        f" what to generate: {_list_of_suffixes(list(TARGETS.values()))}."
    )


def _list_of_suffixes(targets: Sequence[Target]) -> str:
    return ", ".join(f"{target.suffix} ({target.what})" for target in targets)


def _outputs_in(folder: Path, stem: str) -> Iterable[Output]:
    for target in TARGETS.values():
        if target.file_name:
            yield Output(folder / target.file_name.format(stem=stem), target)
