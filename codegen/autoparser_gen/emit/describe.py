"""A format in a few lines of EBNF, for the docstring of a generated module."""

from __future__ import annotations

from autoparser_gen.analysis.as_json import json_text
from autoparser_gen.analysis.model import (
    Analysis,
    Arguments,
    ContentMode,
    Headers,
    LiteralSyntax,
    ReasoningMode,
    ToolMode,
    ValueSyntax,
)


def describe(analysis: Analysis) -> list[str]:
    """The lines of the docstring: what the module is, then the format's rules."""
    lines = ["Parser for one assistant turn of a chat format, whole or streamed.", ""]
    reasoning, content, tools = analysis.reasoning, analysis.content, analysis.tools
    parts = ["content"]
    if reasoning.mode is not ReasoningMode.NONE:
        parts.insert(0, "[reasoning]")
    if tools.format.mode is not ToolMode.NONE:
        parts.append("[calls]")
    lines.append(f"turn      : {' '.join(parts)}")
    if reasoning.mode is not ReasoningMode.NONE:
        lines.append(f"reasoning : {_sequence(reasoning.start, 'TEXT', reasoning.end)}")
    if analysis.headers is not None and analysis.headers.content_has_no_word:
        return lines + _messages(analysis.headers, has_calls=len(parts) > 1)
    if content.mode is ContentMode.PLAIN:
        lines.append("content   : TEXT")
    else:
        lines.append(f"content   : {_sequence(content.start, 'TEXT', content.end)}")
    return lines + _calls(analysis)


def _messages(headers: Headers, has_calls: bool) -> list[str]:
    """Messages whose first line is a function's name, or empty; the prompt opens the first one."""
    start, end = json_text(headers.start), json_text(headers.end)
    lines = [f"content   : {end} TEXT"]
    if has_calls:
        lines[0] += f" [{start}]"
        lines += [f"calls     : call ({start} call)*", f"call      : NAME {end} ARGUMENTS"]
    return lines


def _calls(analysis: Analysis) -> list[str]:
    tools = analysis.tools
    form, function, arguments = tools.format, tools.function, tools.arguments
    if form.mode is ToolMode.NONE:
        return []
    call = "call+"
    if form.tools_array_wrapped:
        call = '"[" call ("," call)* "]"'
    elif form.call_separator.strip():
        call = f"call ({_quoted(form.call_separator)} call)*"
    if form.optional_start:
        call = f"([{_quoted(form.optional_start)}] call)+"
    lines = [f"calls     : {_sequence(form.section_start, call, form.section_end)}"]
    if form.mode is ToolMode.JSON_NATIVE:
        lines.append(
            f"call      : {_sequence(form.per_call_start, _json_call(analysis), form.per_call_end)}"
        )
        return lines
    if arguments.literals is not None:
        return lines + _literal_call(analysis, arguments.literals)
    start = form.per_call_start + function.name_prefix
    end = function.close + form.per_call_end
    middle = "ARGUMENTS" if form.mode is not ToolMode.TAG_WITH_TAGGED else "argument*"
    name = _sequence("", "NAME", function.name_suffix + arguments.start)
    lines.append(f"call      : {_sequence(start, f'{name} {middle}', arguments.end + end)}")
    if form.mode is ToolMode.TAG_WITH_TAGGED:
        key = _sequence(
            arguments.name_prefix, "KEY", arguments.name_suffix + arguments.value_prefix
        )
        lines.append(f"argument  : {_sequence('', f'{key} VALUE', arguments.value_suffix)}")
    if arguments.value_syntax is ValueSyntax.NESTED_TAGS:
        lines.append(f"VALUE     : TEXT | argument* | ({_item(arguments)})*")
    return lines


def _item(arguments: Arguments) -> str:
    start = arguments.name_prefix + arguments.item_tag + arguments.name_suffix
    return _sequence(start, "VALUE", arguments.value_suffix.replace("{key}", arguments.item_tag))


def _literal_call(analysis: Analysis, literals: LiteralSyntax) -> list[str]:
    """A call whose arguments are one literal, in braces or in parentheses."""
    tools, arguments = analysis.tools, analysis.tools.arguments
    is_python = tools.format.mode is ToolMode.PYTHON_CALLS
    opener, closer = ("(", ")") if is_python else ("{", "}")
    start = tools.format.per_call_start + tools.function.name_prefix
    end = tools.function.close + tools.format.per_call_end
    name = _sequence("", "NAME", tools.function.name_suffix.rstrip().removesuffix(opener))
    middle = f'{name} "{opener}" [argument ("," argument)*] "{closer}"'
    string = "" if literals.bare_strings else literals.quotes[0]
    how = "escaped" if literals.escapes else "not escaped"
    return [
        f"call      : {_sequence(start, middle, end.lstrip().removeprefix(closer))}",
        f"argument  : KEY {_quoted(arguments.name_suffix)} VALUE",
        f"VALUE     : {_sequence(string, 'TEXT', string)} ({how}) | other values",
    ]


def _json_call(analysis: Analysis) -> str:
    form = analysis.tools.format
    if form.fun_name_is_key:
        return "{NAME: ARGUMENTS}"
    fields = [f"{json_text(form.name_field)}: NAME", f"{json_text(form.args_field)}: ARGUMENTS"]
    id_ = [f"{json_text(form.id_field)}: ID"] if form.id_field else []
    if not form.function_field:
        return _object([*fields, *id_])
    inner = _object([*fields, *id_] if form.id_in_function else fields)
    outer = [f"{json_text(form.function_field)}: {inner}"]
    return _object(outer if form.id_in_function else [*outer, *id_])


def _object(fields: list[str]) -> str:
    return "{" + ", ".join(fields) + "}"


def _sequence(start: str, middle: str, end: str) -> str:
    return " ".join(part for part in (_quoted(start), middle, _quoted(end)) if part)


def _quoted(text: str) -> str:
    return json_text(text.strip()) if text.strip() else ""
