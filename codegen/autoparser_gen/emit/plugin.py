"""Plugins for servers: one file with the parser and a server's interfaces over it."""

from __future__ import annotations

from collections.abc import Sequence

from autoparser_gen.analysis.model import Analysis
from autoparser_gen.emit import python


def emit(
    analysis: Analysis, header: Sequence[str], special: frozenset[str] | None, skeleton: str
) -> str:
    """The plugin's text, formatted. `skeleton` is the server's; the others are the Python target's."""
    return python.emit(
        analysis,
        header,
        special,
        ending=("split", skeleton),
        settings={"PARSER_NAME": python.parser_name(analysis)},
    )
