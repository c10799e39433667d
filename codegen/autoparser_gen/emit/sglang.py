"""The SGLang target: one file with the parser and a plugin for SGLang over it."""

from __future__ import annotations

from collections.abc import Sequence

from autoparser_gen.analysis.model import Analysis
from autoparser_gen.emit import python


def emit(analysis: Analysis, header: Sequence[str], special: frozenset[str] | None = None) -> str:
    """The plugin's text, formatted; the arguments are those of the Python target."""
    return python.emit(
        analysis,
        header,
        special,
        ending=("split", "sglang_plugin"),
        settings={"PARSER_NAME": python.parser_name(analysis)},
    )
