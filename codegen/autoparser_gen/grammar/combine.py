"""References of JSON Schema, and what two schemas of one type permit together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from math import ceil, floor
from typing import Any
from urllib.parse import unquote

from autoparser_gen.errors import RequestError
from autoparser_gen.grammar.branch import CONSTRAINTS
from autoparser_gen.grammar.ir import Expr
from autoparser_gen.grammar.ranges import integers, numbers
from autoparser_gen.grammar.shapes import subschemas

# ---- references ----


def resolve(reference: Any, document: Any, name: str) -> Any:
    """The schema that a reference leads to, by JSON pointer or by anchor.

    Raises RequestError for references that lead out of the document, or nowhere.
    """
    if not isinstance(reference, str) or not reference.startswith("#"):
        raise RequestError(
            f"schema of {name}: {reference!r} is outside the document, and nothing is fetched."
            " Put the definition under $defs."
        )
    fragment = unquote(reference[1:])
    if fragment and not fragment.startswith("/"):
        return _anchored(fragment, document, name)
    target = document
    for part in fragment.split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        if isinstance(target, list) and part.isdecimal() and int(part) < len(target):
            target = target[int(part)]
        elif isinstance(target, Mapping) and part in target:
            target = target[part]
        else:
            raise RequestError(
                f"schema of {name}: {reference!r} leads nowhere in the document. Define it there."
            )
    return target


def _anchored(anchor: str, document: Any, name: str) -> Any:
    """The schema that has an anchor of this name."""
    left, seen = [document], set[int]()
    while left:
        schema = left.pop()
        if id(schema) in seen or not isinstance(schema, Mapping):
            continue
        seen.add(id(schema))
        if schema.get("$anchor") == anchor:
            return schema
        left += [inner for _, inner in subschemas(schema)]
    raise RequestError(
        f"schema of {name}: no schema of the document has the $anchor {anchor!r}."
        f" Refer to a definition by its pointer: #/$defs/{anchor}."
    )


# ---- constraints of one type ----


def constraints_of(schema: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """The keywords of a schema that constrain values of a type, in their present form."""
    found = {word: schema[word] for word in CONSTRAINTS[kind] if word in schema}
    if kind == "array":
        more = found.pop("additionalItems", True)
        if isinstance(found.get("items"), list):  # before 2020-12 the list was prefixItems
            found = {"prefixItems": found.pop("items"), "items": more, **found}
    for word, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        strict = found.get(word)
        if isinstance(strict, bool):  # before draft 6 it was a flag
            del found[word]
            if strict and bound in found:
                found[word] = found.pop(bound)
    return found


def both(first: Any, second: Any) -> Any:
    """A schema that permits what both permit. Of two different ones it is an allOf of them."""
    if first is False or second is False:
        return False
    parts = {repr(part): part for part in (*_parts(first), *_parts(second))}
    if not parts:
        return True
    return next(iter(parts.values())) if len(parts) == 1 else {"allOf": list(parts.values())}


def _parts(schema: Any) -> list[Any]:
    if schema is True or schema == {}:
        return []
    return list(schema["allOf"]) if schema.keys() == {"allOf"} else [schema]


def merged_constraints(
    first: Mapping[str, Any], second: Mapping[str, Any], warn: Callable[[str], None]
) -> dict[str, Any]:
    """Constraints that hold where those of both do; `warn` is told what is left out of them."""
    whole: dict[str, Any] = {**first, **second}
    for word in first.keys() & second.keys():
        one, two = first[word], second[word]
        if word in ("minimum", "exclusiveMinimum", "minLength", "minItems"):
            whole[word] = max(one, two)
        elif word in ("maximum", "exclusiveMaximum", "maxLength", "maxItems"):
            whole[word] = min(one, two)
        elif word == "required":
            whole[word] = list(dict.fromkeys((*one, *two)))
        elif word in ("items", "additionalProperties"):
            whole[word] = both(one, two)
        elif word in ("pattern", "format"):
            whole[word] = one
            if one != two:
                warn(f"a second {word}")
    if "properties" in whole:
        keys = dict.fromkeys((*first.get("properties", ()), *second.get("properties", ())))
        whole["properties"] = {
            key: both(schema_of_key(first, key), schema_of_key(second, key)) for key in keys
        }
    if "prefixItems" in whole:
        places = range(max(len(side.get("prefixItems", ())) for side in (first, second)))
        whole["prefixItems"] = [
            both(schema_of_item(first, at), schema_of_item(second, at)) for at in places
        ]
    return whole


def schema_of_key(schema: Mapping[str, Any], key: str) -> Any:
    """What an object's schema says of the value of a key."""
    return schema.get("properties", {}).get(key, schema.get("additionalProperties", True))


def schema_of_item(schema: Mapping[str, Any], at: int) -> Any:
    """What an array's schema says of the item at an index."""
    first = schema.get("prefixItems", ())
    return first[at] if at < len(first) else schema.get("items", True)


def most_items(schema: Mapping[str, Any]) -> int | None:
    """The number of items that an array may have; None where there is no limit."""
    limits = [int(schema["maxItems"])] if "maxItems" in schema else []
    first = [*schema.get("prefixItems", ()), schema.get("items", True)]
    if False in first:
        limits.append(first.index(False))
    return min(limits, default=None)


def contradiction(kind: str, schema: Mapping[str, Any]) -> str:
    """Why no value of a type satisfies its constraints; "" where some value may."""
    if kind == "object":
        for key in schema.get("required", ()):
            if schema_of_key(schema, key) is False:
                return f"it requires {key!r}, which it does not permit"
    elif kind == "array":
        least, most = schema.get("minItems", 0), most_items(schema)
        if most is not None and least > most:
            return f"minItems, {least}, is greater than the {most} items that it permits"
    elif kind == "string":
        least, most = schema.get("minLength", 0), schema.get("maxLength")
        if most is not None and least > most:
            return f"minLength, {least}, is greater than maxLength, {most}"
    elif kind in ("integer", "number") and schema and range_of(kind, schema) is None:
        bounds = ", ".join(f"{word} {bound}" for word, bound in schema.items())
        return f"no {kind} lies between its bounds ({bounds})"
    return ""


def range_of(kind: str, schema: Mapping[str, Any]) -> Expr | None:
    """The numbers between the bounds of a schema that has any; None where there are none."""
    low, above = _bound(schema, "minimum", "exclusiveMinimum", max)
    high, below = _bound(schema, "maximum", "exclusiveMaximum", min)
    if kind == "number":
        return numbers(low, high, above=above, below=below)
    least = None if low is None else ceil(low) + int(above and ceil(low) == low)
    most = None if high is None else floor(high) - int(below and floor(high) == high)
    return integers(least, most)


def _bound(
    schema: Mapping[str, Any], inclusive: str, exclusive: str, tighter: Any
) -> tuple[Decimal | None, bool]:
    """A bound of numbers, and whether it is itself left out."""
    found = {word: Decimal(str(schema[word])) for word in (inclusive, exclusive) if word in schema}
    if not found:
        return None, False
    bound = tighter(found.values())
    return bound, found.get(exclusive) == bound
