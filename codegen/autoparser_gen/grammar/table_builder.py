"""What region tables are made of, and the builder that collects them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from autoparser_gen.analysis.model import SAME_KEY, SAME_NAME, Analysis
from autoparser_gen.emit.skeletons.tables import Go, Region
from autoparser_gen.errors import GrammarError
from autoparser_gen.grammar.markup import pieces

SPACE = " \t\r\n"

# What a closer may repeat, and the field that reads it.
_REPEATED = {SAME_NAME: "same name", SAME_KEY: "same key"}


@dataclass(frozen=True)
class Marker:
    """A literal that the parser looks for, under the name of its constant."""

    text: str
    evidence: str = ""


@dataclass(frozen=True)
class Tables:
    """Regions and transitions; rows name markers by their constants ("" = the value is complete)."""

    start: str
    markers: Mapping[str, Marker]
    regions: Mapping[str, Region]
    transitions: Mapping[str, Mapping[str, Go]]
    decoders: Mapping[str, str]  # region -> decoder class
    settings: Mapping[str, object] = field(default_factory=dict)  # constants that decoders read


Rows = dict[str, Go]


def separated(text: str) -> tuple[str, str, str]:
    """Leading whitespace, core, trailing whitespace of a marker."""
    core = text.strip(SPACE)
    at = text.find(core) if core else len(text)
    return text[:at], core, text[at + len(core) :]


def tokens(text: str) -> list[str]:
    """A run of markup as single markers: whitespace between markers is not significant in calls."""
    core = separated(text)[1]
    boundary = r"(?<=>)\s*(?=<)|(?<=[>\])}|])\s+(?=[<\[({|])|\s*\n\s*"
    return [token for token in re.split(boundary, core) if token]


class Builder:
    """Collects regions and rows while the parts of a format are laid out."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.markers: dict[str, Marker] = {}
        self.regions: dict[str, Region] = {}
        self.transitions: dict[str, Rows] = {}
        self.decoders: dict[str, str] = {}
        self.settings: dict[str, object] = {}

    def marker(self, name: str, text: str, path: str = "") -> str:
        """The constant for a marker's text; texts that are the same share one."""
        if not text:
            raise GrammarError(
                f"{self.analysis.source}: {path}: the renderings show no marker there, and without"
                " one the parser cannot tell where that part ends."
            )
        for known, marker in self.markers.items():
            if marker.text == text:
                return known
        evidence = self.analysis.evidence
        while path and path not in evidence:
            path = path.rpartition(".")[0]
        self.markers[name] = Marker(text, evidence.get(path, ""))
        return name

    def markers_of(self, name: str, text: str, path: str) -> list[str]:
        """Constants for each marker in a run of markup; what it repeats of the call is itself."""
        parts = tokens(text)
        if len(parts) > 1 and parts[0] == separated(self.analysis.end_of_turn)[1]:
            parts = [separated(text)[1]]  # only what follows tells it from the end of turn
        parts = [piece for part in parts for piece in pieces(part)]
        names = [name if i == 0 else f"{name}_{i + 1}" for i in range(len(parts))]
        return [
            part if part in _REPEATED else self.marker(n, part, path)
            for n, part in zip(names, parts, strict=True)
        ]

    def region(self, name: str, region: Region, rows: Rows | None = None) -> str:
        self.regions[name] = region
        self.transitions.setdefault(name, {}).update(rows or {})
        return name

    def chain(self, names: list[str], go: Go, prefix: str, otherwise: str = "") -> Rows:
        """Rows that expect one marker after the other and then take `go`; gaps in between.

        What a marker repeats is a field between the pieces of it.
        """
        *first, last = names
        rows = {last: go._replace(opens=go.opens and not first)}
        for number in range(len(first), 0, -1):
            if names[number] in _REPEATED:
                rows = {first[number - 1]: Go(f"{prefix}_{number + 1}")}
                continue
            name, repeated = f"{prefix}_{number}", _REPEATED.get(first[number - 1], "")
            kind = Region("field", repeated) if repeated else Region("gap")
            self.region(name, kind._replace(otherwise=otherwise), rows)
            rows = {first[number - 1]: Go(name)}
        marker = names[0]
        return {marker: rows[marker]._replace(opens=go.opens, before=go.before)}

    def only(self, rows: Rows) -> Go | None:
        """The target of the one row that leaves its marker for the next region, if it is alone."""
        go = next(iter(rows.values()), None)
        return Go(go.region) if go is not None and go.stays and len(rows) == 1 else None


def space_before(glue: str, marker: str) -> str:
    """The whitespace that stands right before a marker in rendered text."""
    at = glue.find(marker)
    before = glue[:at] if at >= 0 else ""
    return before[len(before.rstrip(SPACE)) :]


def space_behind(glue: str) -> str:
    """The whitespace that glue ends with, behind its last marker."""
    return glue[len(glue.rstrip(SPACE)) :] if glue.strip(SPACE) else ""
