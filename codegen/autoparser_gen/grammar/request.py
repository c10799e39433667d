"""The tools of a request, as OpenAI's API takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autoparser_gen.errors import RequestError, shown
from autoparser_gen.grammar.schema import slug

# What OpenAI's list looks like, for messages.
TOOL_LIST = '[{"type": "function", "function": {"name": ..., "parameters": {...}}}, ...]'


# Keywords by which a schema may permit properties that it does not name under `properties`.
_PERMIT_PROPERTIES = frozenset(
    (
        *("$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "if", "then", "else"),
        *("additionalProperties", "unevaluatedProperties", "patternProperties", "minProperties"),
        *("dependentSchemas", "dependentRequired", "dependencies", "const", "enum"),
    )
)


@dataclass(frozen=True)
class Tool:
    """One tool: its name, the schema of its arguments, and what its rules are named after."""

    name: str
    schema: Any
    slug: str


def read_tools(tools: Any) -> list[Tool]:
    """Tools from OpenAI's list; the object around each function may be missing.

    Raises RequestError where it is no such list, or a name occurs twice.
    """
    if not isinstance(tools, Sequence) or isinstance(tools, (str, bytes)):
        raise RequestError(f"the tools are no list: give OpenAI's {TOOL_LIST}.")
    found: dict[str, Tool] = {}
    taken: set[str] = set()
    for at, entry in enumerate(tools):
        function = entry.get("function", entry) if isinstance(entry, Mapping) else None
        name = function.get("name") if isinstance(function, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(name, str) or not name:
            raise RequestError(
                f"tool {at + 1} of the list has no function with a name: give OpenAI's {TOOL_LIST}."
            )
        if name in found:
            raise RequestError(
                f"the tool {name!r} is in the list twice. Leave one out, or rename it."
            )
        free = base = slug(name)
        number = 2
        while free in taken:
            free, number = f"{base}-{number}", number + 1
        taken.add(free)
        found[name] = Tool(name, _arguments_schema(function), free)
    return list(found.values())


def require_choices(tool_choice: Any, parallel: Any, thinking: Any) -> None:
    """Raise RequestError where one of them is not of its type, as a field of an API's request may be."""
    if not isinstance(tool_choice, str):
        raise RequestError(
            f"the tool choice {shown(tool_choice, 200)} is no text: give auto, required, none, or a"
            " tool's name. Of OpenAI's object that is its function's name; without any it is auto."
        )
    if not isinstance(parallel, bool):
        raise RequestError(
            f"parallel is {shown(parallel, 200)}: give True or False. A request that does not say"
            " permits parallel calls: True."
        )
    if not (thinking is None or isinstance(thinking, bool)):
        raise RequestError(
            f"thinking is {shown(thinking, 200)}: give True or False, or None for the chat template's"
            " default."
        )


def choose(tools: list[Tool] | None, tool_choice: str) -> list[Tool] | None:
    """The tools that the choice leaves. Raises RequestError where it names none of them."""
    if tool_choice in ("auto", "required"):
        return tools
    if tool_choice == "none":
        return []
    if tools is None:
        raise RequestError(
            f"the tool choice {tool_choice!r} is none of auto, required and none, and no tools are"
            " given that it could name."
        )
    chosen = [tool for tool in tools if tool.name == tool_choice]
    if not chosen:
        names = ", ".join(tool.name for tool in tools) or "none"
        raise RequestError(f"no tool is named {tool_choice!r}; the list has: {names}.")
    return chosen


def _arguments_schema(function: Mapping[str, Any]) -> Any:
    """The schema of a tool's arguments; there are none without one, or where it permits no property."""
    schema, name = function.get("parameters"), function["name"]
    for field in ("input_schema", "inputSchema"):
        if field in function and schema is None:
            raise RequestError(
                f"the tool {name!r} has its schema under {field}; in OpenAI's list it is under"
                " parameters. Rename the field."
            )
    if isinstance(schema, bool):  # any arguments; or none that could be given, an error later
        return schema
    if schema is not None and not isinstance(schema, Mapping):
        raise RequestError(
            f"the parameters of the tool {name!r} are {shown(schema, 200)}, which is no object. Give"
            " a JSON Schema of the type object, or leave them out."
        )
    if not schema:
        return {"type": "object", "additionalProperties": False}
    permits = _PERMIT_PROPERTIES & schema.keys() or schema.get("required")
    if schema.get("properties") == {} and not permits:
        return {**schema, "additionalProperties": False}
    return schema
