"""The page: what is on it, printed by the skeleton `page.html`."""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

import jinja2
from markupsafe import Markup

from autoparser_gen.analysis.model import FORMAT_VERSION, Analysis
from autoparser_gen.emit import gbnf, lark, python
from autoparser_gen.emit.describe import describe
from autoparser_gen.emit.quoting import one_line
from autoparser_gen.errors import VerificationError
from autoparser_gen.fields import MEANINGS, fields, is_unset, quoted
from autoparser_gen.grammar.tables import build_tables
from autoparser_gen.header import GENERATED_BY
from autoparser_gen.inspect import full_turn, part_of, pieces
from autoparser_gen.pipeline import Format, lower_for, verify_files
from autoparser_gen.report.diagram import diagram
from autoparser_gen.report.examples import examples
from autoparser_gen.report.markup import shown
from autoparser_gen.request import Options, Output, Request
from autoparser_gen.targets import TARGETS

# What a reader wants to know first: a title and the field that says it.
SUMMARY = {
    "Reasoning": "reasoning.mode",
    "Content": "content.mode",
    "Calls": "tools.format.mode",
    "Values": "tools.arguments.value_syntax",
}


def page(source: Path, found: Format, options: Options) -> str:
    """The whole text of the page, which ends with a newline."""
    analysis, prober = found.analysis, found.prober
    grammar = lower_for(analysis, options)
    turn = full_turn(prober)
    everything = list(fields(analysis))
    tables = build_tables(analysis)
    module = python.emit(analysis, [])
    style = (files(__package__) / "style.css").read_text("utf-8")
    return _skeleton().render(
        generator=f"{GENERATED_BY} (format {FORMAT_VERSION})",
        style=Markup(style),  # ours; a policy lets a browser use no other
        style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        analysis=analysis,
        origin=found.chat_template.origin,
        summary=_summary(analysis),
        verification=_verification(source, found, options, module),
        pieces=[(part_of(p), p.field, p.text) for p in pieces(turn, analysis)] if turn else [],
        fields=[
            (path, quoted(value), MEANINGS[path][value] if path in MEANINGS else "")
            for path, value in everything
            if not is_unset(value)
        ],
        unset=[path for path, value in everything if is_unset(value)],
        examples=examples(prober, analysis, module),
        diagram=diagram(tables),
        markers=tables.markers,
        ebnf="\n".join(map(one_line, describe(analysis)[2:])),
        lark=lark.emit(analysis, grammar, []).strip("\n"),
        gbnf=gbnf.emit(analysis, grammar, []).strip("\n"),
    )


@lru_cache
def _skeleton() -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(shown=shown, quoted=quoted)
    environment.keep_trailing_newline = True
    return environment.from_string((files(__package__) / "page.html").read_text("utf-8"))


def _summary(analysis: Analysis) -> list[tuple[str, str]]:
    values = dict(fields(analysis))
    said = [(title, MEANINGS[path][values[path]]) for title, path in SUMMARY.items()]
    parallel = analysis.capabilities.supports_parallel_tool_calls
    return [*said, ("Several calls in a turn", "yes" if parallel else "no")]


def _verification(source: Path, found: Format, options: Options, module: str) -> tuple[bool, str]:
    """Whether all is well, and what verification says of the files that would be written."""
    if not options.verify:
        return False, "not verified (--no-verify)"
    try:
        output = Output(Path(TARGETS["python"].suffix), TARGETS["python"])
        asked = Request(source, (output,), options)
        grammar = lower_for(found.analysis, options)
        report = verify_files({output.path: module}, asked, found, grammar)
        return True, "\n".join(report.lines())
    except VerificationError as error:
        return False, str(error)
