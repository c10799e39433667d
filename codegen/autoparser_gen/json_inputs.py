"""The JSON files that options name, in the forms in which people have them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autoparser_gen.errors import RequestError, UsageError, shown
from autoparser_gen.grammar.request import TOOL_LIST

# Where others than OpenAI have the schema of a tool's arguments: Anthropic, and MCP.
_SCHEMA_FIELDS = ("input_schema", "inputSchema")
# What an object around a list of tools is: a request, an answer to MCP's tools/list, an old request.
_LIST_FIELDS = ("tools", "result", "functions")
# What OpenAI's API has around the schema of a response.
_NAMED_SCHEMA = frozenset(("name", "description", "schema", "strict"))
# Types of entries that are functions; others are tools that a server runs itself.
_FUNCTION_TYPES = (None, "function", "custom")


def read_json(option: str, path: Path, *, lines: bool = False) -> Any:
    """What a file holds that an option names: JSON, or, with `lines`, a JSON text on each line too.

    Raises UsageError with the place where it is no JSON.
    """
    try:
        raw = path.read_bytes()
        text = raw.decode(json.detect_encoding(raw))
    except OSError as error:
        raise UsageError(f"{option} {path}: cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{option} {path}: byte {error.start} is no text in {error.encoding}. Save the file as"
            " UTF-8."
        ) from error
    where = f"{option} {path}"
    try:
        return _decoded(text, where, 1)
    except UsageError:
        each = [(at, line) for at, line in enumerate(text.split("\n"), 1) if line.strip()]
        if not lines or len(each) < 2 or not _is_json(each[0][1]):
            raise
    return [_decoded(line, where, at) for at, line in each]


def tool_list(value: Any) -> Any:
    """OpenAI's list of tools from what a `--tools` file holds; what is none is left as it is.

    Raises RequestError for tools that no model calls by this format.
    """
    while isinstance(value, Mapping):
        inner = (value[field] for field in _LIST_FIELDS if field in value)
        held = next((item for item in inner if isinstance(item, (list, Mapping))), None)
        if held is None:
            break
        value = held
    if isinstance(value, Mapping):
        if "name" not in value and "function" not in value:
            raise RequestError(
                f"the object has no list of tools, and is no tool: give OpenAI's {TOOL_LIST}."
            )
        return [_tool(value, 1)]
    if not isinstance(value, list):
        return value
    return [_tool(entry, at) for at, entry in enumerate(value, 1)]


def schema(value: Any) -> Any:
    """The schema that a `--response-schema` file holds, alone or as a `response_format`.

    Raises RequestError where there is none.
    """
    if value is None:
        raise RequestError("null is no schema. Give an object, true or false.")
    what = _tools_in(value)
    if what:
        raise RequestError(
            f"it holds {what}, and no schema of a response. Tools go with --tools; here goes a JSON"
            " Schema, or a response_format that has one."
        )
    if not isinstance(value, Mapping):
        return value
    kind = value.get("type")
    if kind == "json_object":
        raise RequestError(
            'a response_format of the type json_object has no schema: give {"type": "object"}.'
        )
    inner = value.get("json_schema", value) if kind == "json_schema" else value
    named = isinstance(inner, Mapping) and isinstance(inner.get("schema"), Mapping)
    if named and (kind == "json_schema" or value.keys() <= _NAMED_SCHEMA):
        return inner["schema"]
    if kind == "json_schema":
        raise RequestError(
            "a response_format of the type json_schema has its schema under json_schema.schema, and"
            " there is none. Put it there, or give the schema alone."
        )
    return value


def _tool(entry: Any, number: int) -> Any:
    """A tool in OpenAI's form."""
    if not isinstance(entry, Mapping) or "function" in entry:
        return entry
    name, kind = entry.get("name"), entry.get("type")
    if kind not in _FUNCTION_TYPES:
        what = f"tool {number}" if name is None else f"tool {number}, {shown(name, 100)},"
        raise RequestError(
            f"{what} is of the type {shown(kind, 100)}, which has no schema: its server runs it, and"
            " no model calls it as a function. Leave it out of the list."
        )
    field = next((field for field in _SCHEMA_FIELDS if field in entry), None)
    if field is None or "parameters" in entry:
        return entry
    return {"type": "function", "function": {"name": name, "parameters": entry[field]}}


def _tools_in(value: Any) -> str:
    """What is given in place of a schema if it is tools: one, or a list of them, in any known form."""
    if isinstance(value, list):
        return "a list of tools" if value and all(map(_is_tool, value)) else ""
    if _is_tool(value):
        return "a tool"
    if not isinstance(value, Mapping):
        return ""
    return next(filter(None, (_tools_in(value.get(field)) for field in _LIST_FIELDS)), "")


def _is_tool(value: Any) -> bool:
    """Whether it is a tool in OpenAI's form, Anthropic's or MCP's, and can be no schema."""
    if not isinstance(value, Mapping) or value.get("type") not in _FUNCTION_TYPES:
        return False
    fields = ("parameters", *_SCHEMA_FIELDS) if "name" in value else ("function",)
    return any(isinstance(value.get(field), Mapping) for field in fields)


def _decoded(text: str, where: str, line: int) -> Any:
    """The value of a JSON text that begins at a line of a file."""

    def refuse(constant: str) -> None:
        raise UsageError(f"{where}: {constant} is no value of JSON. Write null, or leave it out.")

    try:
        return json.loads(text, parse_constant=refuse)
    except RecursionError as error:
        raise UsageError(f"{where}: nested too deeply.") from error
    except json.JSONDecodeError as error:
        place = f"{error.lineno + line - 1}:{error.colno}"
        raise UsageError(f"{where}:{place}: not valid JSON: {error.msg}.") from error
    except ValueError as error:  # a number of too many digits
        raise UsageError(f"{where}: not a JSON text: {error}.") from error


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
