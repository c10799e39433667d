"""Arguments in markup: names, values, separators, containers (phases T4 to T6)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from autoparser_gen.analysis.layout import Layout
from autoparser_gen.analysis.marks import pattern, split_middle
from autoparser_gen.analysis.model import Arguments, ToolMode, ValueSyntax
from autoparser_gen.analysis.study import Study
from autoparser_gen.analysis.typed import Written, describe_values
from autoparser_gen.probe import needles
from autoparser_gen.probe.glue import (
    Cut,
    cut_joint,
    is_boundary,
    shared_start,
    without_prefix,
    without_suffix,
)

ESCAPED = "&<>\"'"  # what markup may have to escape


@dataclass(frozen=True)
class ArgumentFindings:
    """The arguments' markup, the text behind the name, and what is left of the call's closer."""

    mode: ToolMode
    name_suffix: str
    arguments: Arguments
    closer: str


@dataclass(frozen=True)
class Around:
    """What stands behind a call's name, behind its last value, and behind a name alone."""

    behind_name: str
    closer: str
    without_arguments: str | None


def analyze_arguments(study: Study, layout: Layout, around: Around) -> ArgumentFindings:
    """T4: what surrounds names and values."""
    middle, joint = _between(layout)
    cut = extract_argument_separator(study, around.behind_name, joint, around.closer)
    area = without_suffix(around.behind_name, cut.start)
    closer = around.closer[len(cut.end) :]
    escapes = extract_escapes(study, in_values=True)
    written = describe_values(study, escapes)
    name_suffix, start, end, empty = extract_args_markers(
        study, area, closer, around.without_arguments
    )
    closer = without_prefix(closer, end)
    key_end, value_start = extract_argument_value_markers(study, middle, written)
    value_suffix = without_prefix(cut.end, written.quote_close)
    arguments = Arguments(
        start=start,
        end=end,
        name_prefix=extract_argument_name_markers(study, cut),
        name_suffix=key_end,
        value_prefix=value_start,
        value_suffix=value_suffix,
        other_value_suffixes=written.other_ends(value_suffix, cut.separator + cut.start),
        separator=cut.separator,
        name_escapes=extract_escapes(study, in_values=False),
        value_escapes=escapes if written.is_plain_text() else (),
        value_syntax=written.syntax,
        python_words=written.python_words,
        python_containers=written.python_containers,
        type_prefix=written.type_prefix,
        types=written.types,
        optional_wrap=written.optional_wrap,
        item_tag=written.item_tag(cut.start, key_end),
        empty=empty,
    )
    return _as_literal(
        ArgumentFindings(ToolMode.TAG_WITH_TAGGED, name_suffix, arguments, closer), written
    )


def _between(layout: Layout) -> tuple[str, str]:
    """The text between an argument's name and value, and between two arguments."""
    call = layout.calls[0]
    text = layout.text[call.start : call.end]
    (first, second), value = needles.KEYS[0][:2], needles.VALUES[0][0]
    rest = text.partition(first)[2]
    middle, _, rest = rest.partition(value)
    return pattern(middle), pattern(rest[: rest.rindex(second)])


def extract_argument_name_markers(study: Study, cut: Cut) -> str:
    """A1: what stands before every argument's name."""
    study.found("tools.arguments.name_prefix", "1 argument / 2 arguments")
    return cut.start


def extract_escapes(study: Study, *, in_values: bool) -> tuple[tuple[str, str], ...]:
    """What the chat template writes for characters that it escapes: of a value, or of its name."""
    key, value = needles.KEYS[0][0], needles.VALUES[0][0]
    mark = value if in_values else key
    hard = mark.join(("", *ESCAPED, ""))
    arguments = {key: hard} if in_values else {hard: value}
    turn = study.prober.raw_turn(calls=[(needles.FUNCTIONS[0], arguments)])
    written = turn.text.split(mark)[1:-1] if turn is not None else []
    if len(written) != len(ESCAPED):  # it is refused, or stands there more than once
        return ()
    pairs = zip(written, ESCAPED, strict=True)
    found = tuple((text, char) for text, char in pairs if text != char and text)
    if found:
        field = "value_escapes" if in_values else "name_escapes"
        study.found(f"tools.arguments.{field}", "letters / other characters")
    return found


def extract_argument_value_markers(study: Study, middle: str, written: Written) -> tuple[str, str]:
    """A2: what stands between name and value, as the name's suffix and the value's prefix."""
    study.found("tools.arguments.value_prefix", "a string / a number")
    if written.types:
        return "", written.value_prefix
    return split_middle(without_suffix(middle, written.quote_open))


def extract_argument_separator(study: Study, head: str, joint: str, closer: str) -> Cut:
    """T5: 1 argument and 2 arguments tell a value's closer, separator and a name's opener."""
    study.found("tools.arguments.separator", "1 argument / 2 arguments", head, joint)
    return cut_joint(head, joint, closer)


def extract_args_markers(
    study: Study, area: str, closer: str, none: str | None
) -> tuple[str, str, str, str]:
    """T6: no arguments and 2 arguments tell the container from the function's own markers.

    Returns (suffix of the name, container's start and end, what stands in place of all of them).
    """
    if none is None:
        return area, "", "", ""
    study.found("tools.arguments.start", "no arguments / 2 arguments", area, none)
    suffix = shared_start(area, none)
    if not area.strip() or area.strip() == suffix.strip():
        suffix = area
    start = area[len(suffix) :]
    rest = none[len(suffix) :] if none.startswith(suffix) else none
    end = _container_end(closer, rest) if start.strip() else ""
    closer = closer[len(end) :]
    if "".join(none.split()).startswith("".join((suffix + closer).split())):
        return suffix, start, end, ""
    at = none.find(closer.strip()) if closer.strip() else -1
    return suffix, start, end, none[:at] if at > 0 else ""


def _container_end(closer: str, rest: str) -> str:
    """The part of a closer that a call without arguments does not show."""
    for at in range(len(closer)):
        if is_boundary(closer, at) and rest.lstrip().startswith(closer[at:].lstrip()):
            return closer[:at]
    return ""


def _as_literal(found: ArgumentFindings, written: Written) -> ArgumentFindings:
    """Arguments that are one literal: `NAME(k=v, ...)` or `NAME{k:v,...}`."""
    arguments, suffix = found.arguments, found.name_suffix
    opener = (suffix + arguments.start).strip()
    closer = (arguments.end + found.closer).lstrip()
    pairs = {"(": ")", "{": "}"}
    if opener[-1:] not in pairs or not closer.startswith(pairs[opener[-1]]):
        return found
    literals = written.literals()
    arguments = replace(arguments, name_escapes=(), value_escapes=())
    quote = arguments.value_suffix
    if quote and arguments.name_suffix.endswith(quote):  # every value is quoted, numbers too
        literals = replace(literals, quotes=(quote,), bare_strings=False)
        key_end = arguments.name_suffix[: -len(quote)]
        arguments = replace(arguments, name_suffix=key_end, value_suffix="")
    name_suffix = (suffix + arguments.start).rstrip()
    if opener.endswith("{") and arguments.name_prefix.strip() not in literals.quotes:
        literals = replace(literals, quoted_keys=False)  # those of nested objects may be
    arguments = replace(arguments, literals=literals, value_syntax=ValueSyntax.RAW)
    if opener.endswith("("):
        arguments = replace(arguments, start="", end="")
        return replace(
            found,
            mode=ToolMode.PYTHON_CALLS,
            name_suffix=name_suffix,
            arguments=arguments,
            closer=closer,
        )
    arguments = replace(arguments, start="{", end="}")
    return replace(
        found,
        mode=ToolMode.TAG_WITH_LITERAL,
        name_suffix=name_suffix[:-1],
        arguments=arguments,
        closer=closer[1:],
    )
