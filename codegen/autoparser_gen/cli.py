"""The command line: options in, sentences and an exit status out. The work is in `pipeline`."""

from __future__ import annotations

import contextlib
import gc
import math
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from autoparser_gen.errors import (
    AnalysisError,
    AutoparserError,
    FolderError,
    InternalError,
    OutputError,
    UsageError,
    VerificationError,
)
from autoparser_gen.header import printable
from autoparser_gen.limits import DEFAULT_LIMITS, Limits
from autoparser_gen.targets import TARGETS

if TYPE_CHECKING:
    from autoparser_gen.pool import Pool
    from autoparser_gen.request import Options, Request

PROGRAM = "autoparser-gen"
INTERRUPTED = 130
# Errors whose message shows renderings on lines of their own. All others are one line.
_MANY_LINES = (AnalysisError, FolderError, VerificationError)


class _PathType(click.Path):
    """A path. An empty one is an error: as a `Path` it would be the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("the path is empty.", param, ctx)
        return super().convert(value, param, ctx)


# Whether a path can be read is found out, and said better, where it is read.
_path = _PathType(path_type=Path, readable=False)


def _version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if not asked or context.resilient_parsing:
        return
    from importlib.metadata import version

    click.echo(f"{PROGRAM} {version(PROGRAM)}")
    context.exit()


_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

_Function = TypeVar("_Function", bound=Callable[..., int])


def _finite(context: click.Context, parameter: click.Parameter, value: float) -> float:
    """The number, unless it is none that a clock can reach."""
    if not math.isfinite(value):
        raise click.BadParameter(f"{value} is not a number of seconds.")
    return value


def _options_of_inputs(function: _Function) -> _Function:
    """The options that say how a chat template is read, of every command."""
    for option in reversed(
        (
            click.option(
                "--variant", metavar="NAME", help="Which of several named chat templates."
            ),
            click.option(
                "--bos-token", metavar="TEXT", help="Text of the token that begins a conversation."
            ),
            click.option("--eos-token", metavar="TEXT", help="Text of the token that ends a turn."),
            click.option(
                "--max-seconds",
                type=click.FloatRange(min=0, min_open=True),
                callback=_finite,
                default=DEFAULT_LIMITS.seconds,
                show_default=True,
                metavar="SECONDS",
                help="How long all renderings of a chat template may take together.",
            ),
            click.option(
                "--max-memory",
                type=click.IntRange(min=16),
                default=DEFAULT_LIMITS.memory,
                show_default=True,
                metavar="MIB",
                help="How much memory rendering may take.",
            ),
            click.option(
                "--max-output",
                type=click.IntRange(min=1),
                default=DEFAULT_LIMITS.output,
                show_default=True,
                metavar="MIB",
                help="How long all renderings of a chat template may be together.",
            ),
            click.option("-v", "--verbose", is_flag=True, help="Log every comparison."),
        )
    ):
        function = option(function)
    return function


@click.command(
    name=PROGRAM,
    context_settings=_SETTINGS,
    epilog="Exit status: 0 done, 1 --check found a difference or a file cannot be written, 2 usage,"
    " or a fault in tools or schemas, 3 the chat template cannot be rendered or analysed,"
    " 4 verification failed.",
)
@click.argument("chat_template", type=_path)
@click.option(
    "-o",
    "--output",
    "outputs",
    type=_path,
    multiple=True,
    help="File to write; may be given several times. The suffix says what: .py (parser module, with"
    " its .lark beside it), .lark, .gbnf, .json (the analysis), _vllm.py, _sglang.py (plugins),"
    " .structural_tag.json (for xgrammar; needs --tools), .response_template.json (for"
    " transformers). For a folder of chat templates, the folder to write into. - prints.",
)
@click.option("--target", type=click.Choice(list(TARGETS)), help="What `-o -` prints.")
@click.option(
    "--check",
    is_flag=True,
    help="Write nothing; print a unified diff and exit 1 if a file would change.",
)
@click.option(
    "--inspect",
    is_flag=True,
    help="Show the assistant's turn with the markers in it, and how every field was found.",
)
@click.option("--json", "as_json", is_flag=True, help="With --inspect: print JSON.")
@click.option(
    "--html", type=_path, metavar="FILE", help="With --inspect: write it all to one page; - prints."
)
@click.option(
    "--tools",
    type=_path,
    help="Tools (OpenAI's list, or as Anthropic and MCP have them; JSON): grammars for these only.",
)
@click.option(
    "--tool-choice",
    default="auto",
    metavar="auto|required|none|NAME",
    help="What the grammars let a model call.",
)
@click.option("--no-parallel-tool-calls", is_flag=True, help="Grammars with at most one call.")
@click.option("--response-schema", type=_path, help="JSON Schema of the content, for the grammars.")
@click.option(
    "--thinking",
    type=click.Choice(["on", "off"]),
    help="The generation prompt that grammars start after [default: the chat template's own].",
)
@click.option("--lazy", is_flag=True, help="Grammars that start at their trigger.")
@click.option(
    "--portable", is_flag=True, help="Lark without look-around, for llguidance and xgrammar."
)
@click.option(
    "--special-tokens",
    is_flag=True,
    help="Portable, with markers that are special tokens as llguidance has them.",
)
@click.option(
    "--with-grammar",
    is_flag=True,
    help="A parser module that prints grammars for the tools of a request: gbnf() and lark().",
)
@click.option("--no-verify", is_flag=True, help="Write what was not verified; the header says so.")
@click.option("--force", is_flag=True, help="Replace files that were not generated.")
@_options_of_inputs
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Show the version.",
)
def command(chat_template: Path, **given: Any) -> int:
    """Generate a parser and grammars for a model's output from its CHAT_TEMPLATE.

    CHAT_TEMPLATE is a .jinja file, a tokenizer_config.json, a model's folder, a .gguf file,
    hf:owner/name on the Hub, a folder of .jinja files, or - for a .jinja file's text on standard
    input.

    `autoparser-gen diff OLD NEW` says what changed in a format between two of them; a file named
    diff is ./diff.
    """
    if given["verbose"]:
        _log_comparisons()
    options = _options(given)
    if given["inspect"]:
        return _inspect(chat_template, options, given)
    if given["as_json"]:
        raise UsageError(
            "--json goes with --inspect; for the analysis in a file, use -o FILE.json."
        )
    if given["html"]:
        raise UsageError("--html goes with --inspect.")
    return _generate(_requests(chat_template, options, given), chat_template, given)


@click.command(
    name=f"{PROGRAM} diff",
    context_settings=_SETTINGS,
    epilog="Exit status: 0 the same format, 1 another one, 2 usage, 3 a chat template cannot be"
    " rendered or analysed.",
)
@click.argument("old", type=_path)
@click.argument("new", type=_path)
@_options_of_inputs
def diff(old: Path, new: Path, **given: Any) -> int:
    """Say in words what changed in a format between two chat templates.

    OLD and NEW are whatever a parser can be generated from, or an analysis that was generated
    (.json). To generate from a file named diff, write ./diff.
    """
    from autoparser_gen import format_diff, request

    if given["verbose"]:
        _log_comparisons()
    options = request.Options(**_how_to_read(given))
    before, after = (format_diff.read_side(source, options) for source in (old, new))
    found = format_diff.changes(before, after)
    _print("".join(f"{line}\n" for line in format_diff.report(before, after, found)))
    return 1 if found else 0


# What the first word of a command line may be beside a chat template.
COMMANDS = {"diff": diff}


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command and exit: every error a user can meet is one line on standard error."""
    # Few objects of a short run are garbage: to look for it after each 700 takes a twentieth of it.
    gc.set_threshold(100_000)
    words = sys.argv[1:] if arguments is None else list(arguments)
    chosen = command
    if words and words[0] in COMMANDS:
        chosen = COMMANDS[words.pop(0)]
    try:
        status = chosen.main(args=words, prog_name=chosen.name, standalone_mode=False)
    except click.ClickException as error:
        status = _say(f"{error.format_message()} See {chosen.name} --help.", UsageError.exit_code)
    except AutoparserError as error:
        _trace(error.__cause__ if isinstance(error, InternalError) else None, words)
        status = _say(str(error), error.exit_code, many_lines=isinstance(error, _MANY_LINES))
    except (KeyboardInterrupt, click.Abort):
        status = _say("interrupted; nothing was written.", INTERRUPTED)
    except BrokenPipeError:  # the reader of our output went away, which is its right
        sys.stderr.close()
        status = 0
    except Exception as error:
        _trace(error, words)
        what = f"{type(error).__name__}: {error}"
        status = _say(
            f"internal error: {what}. This is a bug; -v shows where. Nothing was written.",
            InternalError.exit_code,
        )
    sys.exit(status)


def _options(given: dict[str, Any]) -> Options:
    from autoparser_gen import request

    tools = given["tools"] and request.read_tools_file(given["tools"])
    schema = given["response_schema"]
    request.check_tools(tools, given["tool_choice"])
    return request.Options(
        **_how_to_read(given),
        tools=tools,
        tool_choice=given["tool_choice"],
        parallel=not given["no_parallel_tool_calls"],
        response_schema=schema and request.read_schema_file(schema),
        thinking={None: None, "on": True, "off": False}[given["thinking"]],
        lazy=given["lazy"],
        portable=given["portable"],
        special_tokens=given["special_tokens"],
        with_grammar=given["with_grammar"],
        verify=not given["no_verify"],
    )


def _how_to_read(given: dict[str, Any]) -> dict[str, Any]:
    """The fields of `Options` that say how a chat template is read."""
    return {
        "variant": given["variant"],
        "bos_token": given["bos_token"],
        "eos_token": given["eos_token"],
        "limits": Limits(given["max_seconds"], given["max_memory"], given["max_output"]),
    }


def _requests(source: Path, options: Options, given: dict[str, Any]) -> list[Request]:
    from autoparser_gen import request

    outputs: tuple[Path, ...] = given["outputs"]
    if not outputs:
        raise UsageError("nothing to do: name a file to write with -o, or look with --inspect.")
    if not request.is_folder(source):
        wanted = request.outputs_for_file(outputs, given["target"])
        requests = [request.Request(source, wanted, options)]
        others = [given[name] for name in ("tools", "response_schema") if given[name]]
        request.require_inputs_kept(others, requests)
        request.require_targets(wanted, options)
        return requests
    if len(outputs) > 1 or given["target"]:
        raise UsageError(f"{source} is a folder: give one -o, the folder to write into.")
    return request.requests_for_folder(source, outputs[0], options)


def _generate(requests: list[Request], source: Path, given: dict[str, Any]) -> int:
    from autoparser_gen import pipeline, request, write

    generated = pipeline.generate_all(requests, _pool(source, given))
    files = {path: text for result in generated for path, text in result.files.items()}
    for warning in dict.fromkeys(line for result in generated for line in result.warnings):
        click.echo(f"warning: {printable(warning)}", err=True)
    if request.STANDARD_OUTPUT in files:
        _print(files[request.STANDARD_OUTPUT])
        return 0
    changes = write.plan(files, force=given["force"])
    orphans = write.orphans(given["outputs"][0], files) if request.is_folder(source) else []
    if given["check"]:
        _print(write.diff(changes))
    else:
        write.apply(changes)
    lines = write.report(changes, orphans, check=given["check"])
    if not request.is_folder(source):
        lines += generated[0].remarks() + request.notes_on_names(files)
    _print("".join(f"{printable(line)}\n" for line in lines))
    return 1 if given["check"] and (orphans or write.differs(changes)) else 0


def _inspect(source: Path, options: Options, given: dict[str, Any]) -> int:
    from autoparser_gen import inspect, request

    for name in ("outputs", "target", "check"):
        if given[name]:
            raise UsageError("--inspect generates nothing; leave out -o, --target, --check.")
    if given["html"]:
        return _report(source, options, given)
    if given["force"]:
        raise UsageError("--inspect without --html writes nothing; leave out --force.")
    if not request.is_folder(source):
        as_json, colour = given["as_json"], _shows_colour()
        _print(inspect.one(source, options, as_json=as_json, colour=colour))
        return 0
    sources = request.chat_templates_in(source)
    _print(inspect.several(sources, options, _pool(source, given), as_json=given["as_json"]))
    return 0


def _report(source: Path, options: Options, given: dict[str, Any]) -> int:
    """Write the page that `--html` names, or print it."""
    from autoparser_gen import pipeline, report, request, write

    html: Path = given["html"]
    if given["as_json"]:
        raise UsageError("--html and --json do not go together. Run --inspect once for each.")
    if request.is_folder(source):
        raise UsageError(f"{source} is a folder of chat templates; --html shows one of them.")
    found = pipeline.find_format(source, options)
    with contextlib.closing(found.prober.renderer):
        text = report.page(source, found, options)
    if html == request.STANDARD_OUTPUT:
        _print(text)
        return 0
    changes = write.plan({html: text}, force=given["force"])
    write.apply(changes)
    _print("".join(f"{printable(line)}\n" for line in write.report(changes, [], check=False)))
    return 0


def _shows_colour() -> bool:
    """Whether standard output is a terminal whose user wants colour (https://no-color.org)."""
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return wanted and sys.stdout.isatty()


def _pool(source: Path, given: dict[str, Any]) -> Pool:
    from autoparser_gen import request
    from autoparser_gen.pool import Pool

    # One process where there is one chat template, and where a log should be in order.
    several = request.is_folder(source)
    alone = given["verbose"] or not several
    return Pool(workers=1 if alone else None, progress=several and sys.stderr.isatty())


def _log_comparisons() -> None:
    import logging

    class Printable(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            return printable(super().format(record))

    handler = logging.StreamHandler()
    handler.setFormatter(Printable("%(message)s"))
    logger = logging.getLogger("autoparser_gen")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)

    def end() -> None:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)

    click.get_current_context().call_on_close(end)  # a program may run the command again


def _print(text: str) -> None:
    # Bytes, so that neither the locale's encoding nor its line ends change what is printed.
    try:
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"standard output cannot be written: {error.strerror}.") from error


def _say(message: str, status: int, *, many_lines: bool = False) -> int:
    # What a chat template or a file's name puts into a message must not drive the terminal.
    lines = message.split("\n") if many_lines else [" ".join(message.split())]
    click.echo(
        "\n".join(printable(line) for line in [f"{PROGRAM}: {lines[0]}", *lines[1:]]), err=True
    )
    return status


def _trace(error: BaseException | None, words: Sequence[str]) -> None:
    if error is not None and {"-v", "--verbose"} & set(words):
        import traceback

        traceback.print_exception(error)
