"""Parsers for tests to read with: those of our own chat templates, and of any other."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from conftest import ROOT

from autoparser_gen import pipeline, verify
from autoparser_gen.emit import python
from autoparser_gen.request import Options, chat_templates_in, stem_of

SOURCES = {stem_of(path): path for path in chat_templates_in(ROOT / "templates")}


@functools.cache
def parser_of(stem: str) -> types.ModuleType:
    """The parser of one of our chat templates: the committed file, or one made now."""
    committed = ROOT / "generated" / stem / f"{stem}_parser.py"
    if committed.exists():
        return verify.import_text(committed.read_text(encoding="utf-8"))
    return parser_from(SOURCES[stem])


@functools.cache
def parser_from(source: Path) -> types.ModuleType:
    """The parser of any chat template, made now and not verified."""
    found = pipeline.find_format(source, Options())
    return verify.import_text(python.emit(found.analysis, []))


def deltas_of(parser: Any, pieces: Iterable[str]) -> list[Any]:
    """What a parser says of a text that comes in pieces."""
    return [delta for piece in pieces for delta in parser.feed(piece)] + list(parser.finish())
