"""From a chat template to verified texts: one call and one comment for each phase."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autoparser_gen import chat_template, containers, verify
from autoparser_gen.analysis import analyze
from autoparser_gen.analysis.model import FORMAT_VERSION, Analysis
from autoparser_gen.errors import (
    AutoparserError,
    FolderError,
    GrammarError,
    InternalError,
    RequestError,
)
from autoparser_gen.grammar.ir import ResponseGrammar
from autoparser_gen.grammar.lower import lower
from autoparser_gen.header import header
from autoparser_gen.pool import Pool
from autoparser_gen.probe import Prober, needles
from autoparser_gen.request import Options, Output, Request
from autoparser_gen.targets import TARGETS, Draft, GrammarCommands

# Python's stack, in calls. "Text until marker" is nested as deep as its markers are long: those of 100
# equal letters (analysis.consistency.MAX_MARKER) take almost 3000.
NESTING = 5000


@dataclass(frozen=True)
class Format:
    """What a chat template says: the analysis, and the prober that can ask it again."""

    chat_template: chat_template.ChatTemplate
    prober: Prober
    analysis: Analysis


@dataclass(frozen=True)
class Generated:
    """The text of every file that one request asks for, and what verification says of them."""

    files: Mapping[Path, str]
    analysis: Analysis
    warnings: tuple[str, ...]  # what the grammars could not express
    report: verify.Report | None
    origin: str = ""  # where the chat template was found, where that is not plain

    def remarks(self) -> list[str]:
        """What a person should know, one sentence a line."""
        said = ["not verified (--no-verify)"] if self.report is None else self.report.lines()
        read = [f"read: {self.origin}"] if self.origin else []
        return read + said + [f"note: {note}" for note in self.analysis.notes]


def generate(request: Request) -> Generated:
    """Everything short of writing, which `write` does once all texts are there.

    Raises AutoparserError where a phase fails; then there is nothing to write.
    """
    # Load, probe, analyze: the chat template's format.
    found = find_format(request.source, request.options)
    with contextlib.closing(found.prober.renderer):
        return _generate(request, found)


def _generate(request: Request, found: Format) -> Generated:
    sys.setrecursionlimit(max(sys.getrecursionlimit(), NESTING))
    # Lower and check: one grammar of the response, which all files are prints of.
    grammar = lower_for(found.analysis, request.options)
    # Emit: the text of each file.
    files = {output.path: _emit(output, request, found, grammar) for output in request.outputs}
    # Verify: what was emitted reads the chat template's own renderings back.
    report = verify_files(files, request, found, grammar) if request.options.verify else None
    if request.options.verify:
        _verify_grammars(files, request, found, grammar)
    origin = found.chat_template.origin
    return Generated(files, found.analysis, grammar.warnings, report, origin)


def find_format(source: Path, options: Options) -> Format:
    """The format of one chat template.

    Raises ChatTemplateError or AnalysisError where it cannot be rendered or shows no format.
    """
    # Load: the text, and the special tokens that it may print.
    template = containers.load(
        source,
        variant=options.variant,
        bos_token=options.bos_token,
        eos_token=options.eos_token,
    )
    # Probe: conversations full of needles, in the shape that the chat template demands.
    prober = Prober(chat_template.Renderer(template, options.limits))
    # Analyze: what the differences between renderings say.
    return Format(template, prober, analyze(prober))


def lower_for(analysis: Analysis, options: Options) -> ResponseGrammar:
    """The response's grammar as the options shape it.

    Raises GrammarError, with the chat template and the files that may be at fault.
    """
    try:
        return lower(analysis, **vars(options.asked))
    except RequestError as error:
        files = " ".join(options.request_files())
        where = f"{analysis.source} with {files}" if files else analysis.source
        raise RequestError(f"{where}: {error}") from error
    except GrammarError as error:
        raise GrammarError(
            f"{analysis.source}: {error} --inspect shows the markers that were found."
        ) from error


def verify_files(
    files: Mapping[Path, str], request: Request, found: Format, grammar: ResponseGrammar
) -> verify.Report:
    """Verify the texts that are about to be written.

    A grammar that was shaped by options accepts less than the whole format, and some outputs lack
    a module or a Lark grammar: what is missing is emitted for the purpose, from the same analysis.
    Raises VerificationError.
    """
    options = request.options
    written = {output.target.name: files[output.path] for output in request.outputs}
    asks_for_grammar = options.shaped and bool({"lark", "gbnf"} & set(written))
    if options.special_tokens:  # a dialect that lark does not read
        written.pop("lark", None)
    elif options.shaped:
        verify.Subject("", written.pop("lark", "start:")).load_grammar(request.source.name)
    missing = [name for name in ("python", "lark") if name not in written]
    if missing:
        whole = Draft(found.analysis, lower(found.analysis), ())
        written |= {name: TARGETS[name].emit(whole) for name in missing}
    subject = verify.Subject(written["python"], written["lark"])
    report = verify.verify(found.prober, found.analysis, subject)
    if not asks_for_grammar:
        return report
    examples = verify.verify_examples(
        found.prober, found.analysis, written["python"], grammar, options.asked
    )
    return replace(report, examples=examples)


def _verify_grammars(
    files: Mapping[Path, str], request: Request, found: Format, grammar: ResponseGrammar
) -> None:
    """Modules that print grammars print those of this request. Raises VerificationError."""
    options = request.options.with_plain_names()
    same = replace(request, options=options)
    for output in request.outputs:
        if options.with_grammar and output.target.prints:
            module = verify.Subject(files[output.path], "").load_module(request.source.name)
            for name in output.target.prints:
                expected = _emit(output.like(name), same, found, grammar)
                verify.check_grammar(module, name, options, expected)


def generate_all(requests: Sequence[Request], pool: Pool) -> list[Generated]:
    """Generate for each request. Raises the error, or a FolderError where there are several."""
    results = pool.map(attempt, requests)
    errors = [result for result in results if isinstance(result, AutoparserError)]
    if len(requests) == 1 and errors:
        raise errors[0]
    if errors:
        raise FolderError(errors, len(requests))
    return [result for result in results if isinstance(result, Generated)]


def attempt(request: Request) -> Generated | AutoparserError:
    """Like `generate`, but an error is a result, so that one does not hide the others."""
    try:
        return generate(request)
    except AutoparserError as error:
        return error
    except Exception as error:  # a stranger's chat template met a bug of ours
        return InternalError.of(request.source, error)


def _emit(output: Output, request: Request, found: Format, grammar: ResponseGrammar) -> str:
    options, name = request.options, found.chat_template.name
    unknown = _unknown_tokens(found)
    commands = _grammar_commands(output, options, unknown)
    flags = ["--with-grammar"] if commands else []
    lines = header(
        format_version=FORMAT_VERSION,
        source=name,
        sha256=found.chat_template.sha256,
        command=["autoparser-gen", name, *output.words(), *options.words(), *flags],
        unknown=unknown,
        verified=options.verify,
    )
    draft = Draft(
        found.analysis,
        grammar,
        lines,
        options.portable,
        options.special_tokens,
        found.chat_template.special,
        commands,
        options.asked,
    )
    try:
        return output.target.emit(draft)
    except GrammarError as error:
        raise type(error)(f"{' '.join(output.words())}: {error}") from error


def _grammar_commands(
    output: Output, options: Options, unknown: Sequence[str]
) -> GrammarCommands | None:
    """The commands that print what a module prints; None where it is to print nothing."""
    if not options.with_grammar or not output.target.prints:
        return None
    outputs = {target: output.like(target).words() for target in output.target.prints}
    return GrammarCommands(outputs, options.of_chat_template(), unknown)


def _unknown_tokens(found: Format) -> list[str]:
    """The special tokens that the turn shows but nobody has told."""
    turn = found.prober.raw_turn(needles.CONTENT)
    text = turn.header + turn.text if turn else ""
    return [
        name
        for name, placeholder in chat_template.UNKNOWN_TOKENS.items()
        if placeholder in text and name not in found.chat_template.tokens
    ]
