"""A region table as an SVG diagram: one box for each region, one line for each row.

Boxes stand below one another. All rows that lead to a region join one vertical line beside the
boxes, which ends in an arrow at its head; so lines never have to find a way between boxes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from autoparser_gen.emit.quoting import one_line, python_string
from autoparser_gen.emit.skeletons.tables import Go, Region
from autoparser_gen.grammar.table_builder import Tables

BOX, HEAD, ROW, GAP = 560, 30, 24, 18  # pixels: a box's width, the heights of its parts, between
LANES, LANE = 22, 14  # from the boxes to the first vertical line, and between two of them
MOST = 30  # characters of a marker
COLOURS = 6  # lines of one colour belong together; style.css has the colours


@dataclass(frozen=True)
class Line:
    """A row of a box: what is read, where the parser goes, and what that means for a call."""

    label: str
    target: str
    note: str = ""
    y: int = 0


@dataclass(frozen=True)
class Box:
    name: str
    about: str
    y: int
    lines: tuple[Line, ...]

    @property
    def height(self) -> int:
        return HEAD + ROW * len(self.lines) + (6 if self.lines else 0)


def diagram(tables: Tables) -> Markup:
    """The SVG element; every text in it is escaped."""
    boxes = _boxes(tables)
    lanes = _lanes(boxes)
    width = BOX + LANES + LANE * (max(lanes.values(), default=0) + 1)
    height = boxes[-1].y + boxes[-1].height + 1
    parts = [_connection(box, boxes, lanes) for box in boxes] + [_box(box) for box in boxes]
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="diagram-title"'
        ' width="{w}" height="{h}" viewBox="-1 -1 {w2} {h2}">'
        '<title id="diagram-title">The regions of the parser and what leads from one to another'
        "</title>{parts}</svg>"
    ).format(w=width + 2, h=height + 2, w2=width + 2, h2=height + 2, parts=Markup("").join(parts))


def _boxes(tables: Tables) -> list[Box]:
    boxes, y = [], 0
    for name in _in_order(tables):
        region = tables.regions[name]
        rows = list(_rows(region, tables.transitions.get(name, {}), tables))
        lines = tuple(
            Line(row.label, row.target, row.note, y + HEAD + ROW * i + ROW // 2)
            for i, row in enumerate(rows)
        )
        box = Box(name, _about(region), y, lines)
        boxes.append(box)
        y += box.height + GAP
    return boxes


def _in_order(tables: Tables) -> list[str]:
    """Every region once: as a parser meets them from the start on, then what is left."""
    order = [tables.start]
    for name in order:
        rows = _rows(tables.regions[name], tables.transitions.get(name, {}), tables)
        order += [t for t in dict.fromkeys(row.target for row in rows) if t not in order]
    return order + [name for name in tables.regions if name not in order]


def _rows(region: Region, rows: Mapping[str, Go], tables: Tables) -> Iterator[Line]:
    for marker, go in rows.items():
        label = python_string(tables.markers[marker].text) if marker in tables.markers else marker
        yield Line(label or "the value is complete", go.region, _note(go))
    if region.otherwise:
        yield Line("anything else", region.otherwise)


def _note(go: Go) -> str:
    said = [
        ("call complete", go.closes),
        ("call begins", go.opens),
        ("not taken", go.stays and not go.opens),
    ]
    return ", ".join(words for words, holds in said if holds)


def _about(region: Region) -> str:
    about = f"{region.kind}: {region.collects}" if region.collects else region.kind
    return f"{about}; the text may end here" if region.ends else about


def _lanes(boxes: list[Box]) -> dict[str, int]:
    """The vertical line of each region that something leads to: the first one that is free there."""
    heads = {box.name: box.y + HEAD // 2 for box in boxes}
    spans = {}
    for target, head in heads.items():
        ys = [line.y for box in boxes for line in box.lines if line.target == target]
        if ys:
            spans[target] = (min([*ys, head]), max([*ys, head]))
    lanes: dict[str, int] = {}
    for target, (top, bottom) in sorted(spans.items(), key=lambda item: item[1][1] - item[1][0]):
        taken = {
            lanes[other]
            for other, (first, last) in spans.items()
            if other in lanes and first <= bottom and top <= last
        }
        lanes[target] = next(lane for lane in range(len(taken) + 1) if lane not in taken)
    return lanes


def _connection(box: Box, boxes: list[Box], lanes: Mapping[str, int]) -> Markup:
    """All lines that lead to a region."""
    if box.name not in lanes:
        return Markup("")
    x, head = BOX + LANES + LANE * lanes[box.name], box.y + HEAD // 2
    ys = [line.y for other in boxes for line in other.lines if line.target == box.name]
    path = f"M{x} {min([*ys, head])}V{max([*ys, head])}M{x} {head}H{BOX + 8}"
    path += "".join(f"M{BOX} {y}H{x}" for y in ys)
    dots = Markup("").join(Markup('<circle cx="{}" cy="{}" r="2.5"/>').format(x, y) for y in ys)
    colour = list(lanes).index(box.name) % COLOURS
    return Markup(
        '<g class="to to{c}"><path class="line" d="{path}"/>'
        '<path d="M{tip} {y}l9 -4.5v9z"/>{dots}</g>'
    ).format(c=colour, path=path, tip=BOX, y=head, dots=dots)


def _box(box: Box) -> Markup:
    rows = Markup("").join(map(_line, box.lines))
    return Markup(
        '<g><rect class="box" x="0" y="{y}" width="{w}" height="{h}" rx="6"/>'
        '<text class="region" x="12" y="{ty}">{name}</text>'
        '<text class="about" x="{ax}" y="{ty}" text-anchor="end">{about}</text>{rows}</g>'
    ).format(
        y=box.y,
        w=BOX,
        h=box.height,
        ty=box.y + 20,
        ax=BOX - 12,
        name=one_line(box.name),
        about=one_line(box.about),
        rows=rows,
    )


def _line(line: Line) -> Markup:
    label = line.label if len(line.label) <= MOST else f"{line.label[: MOST - 1]}…"
    return Markup(
        '<g><title>{whole}</title><text class="marker" x="24" y="{y}">{label}</text>'
        '<text class="target" x="262" y="{y}">→ {target}</text>'
        '<text class="about" x="{nx}" y="{y}" text-anchor="end">{note}</text></g>'
    ).format(
        whole=f"{line.label} → {line.target}",
        y=line.y + 4,
        label=label,
        target=one_line(line.target),
        nx=BOX - 12,
        note=line.note,
    )
