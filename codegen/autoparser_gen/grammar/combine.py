"""References and `allOf` of JSON Schema: one schema from several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from autoparser_gen.errors import GrammarError


def resolve(schema: Any, document: Any, name: str, depth: int = 100) -> Any:
    """A schema without a reference at its top, following at most `depth` of them.

    Raises GrammarError for references that lead out of the document, nowhere, or in a circle.
    """
    steps = 0
    while isinstance(schema, Mapping) and "$ref" in schema and steps < depth:
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        target = _target(schema["$ref"], document, name)
        schema = combine(beside, target) if beside else target
        steps += 1
    if steps == 100:
        raise GrammarError(f"schema of {name}: its references lead in a circle.")
    return schema


def _target(reference: Any, document: Any, name: str) -> Any:
    if not isinstance(reference, str) or not reference.startswith("#"):
        raise GrammarError(
            f"schema of {name}: {reference!r} is outside the document, and nothing is fetched."
            " Put the definition under $defs."
        )
    target = document
    for part in unquote(reference[1:]).split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        if isinstance(target, list) and part.isdigit() and int(part) < len(target):
            target = target[int(part)]
        elif isinstance(target, Mapping) and part in target:
            target = target[part]
        else:
            raise GrammarError(f"schema of {name}: {reference!r} leads nowhere in the document.")
    return target


def combine(first: Any, second: Any) -> Any:
    """A schema that permits what both permit; False where that is nothing."""
    if first is True or second is True:
        return second if first is True else first
    if first is False or second is False:
        return False
    whole = dict(first)
    for key, value in second.items():
        if key not in whole or whole[key] == value:
            whole[key] = value
            continue
        if key in ("pattern", "format"):
            whole[f"a second {key}"] = value  # which is no keyword, so it is warned of
            continue
        both = _both(key, whole[key], value)
        if both is None:
            return False
        whole[key] = both
    return whole


def _both(key: str, first: Any, second: Any) -> Any:
    """One value of a keyword for two; None where nothing satisfies both."""
    if key == "type":
        return _common_types(first, second)
    if key == "enum":
        return [value for value in first if value in second] or None
    if key == "const":
        return None
    if key == "properties":
        shared = {k: {"allOf": [first[k], second[k]]} for k in first if k in second}
        return {**first, **second, **shared}
    if key == "required":
        return list(dict.fromkeys((*first, *second)))
    if key == "allOf":
        return [*first, *second]
    if key in ("anyOf", "oneOf"):
        return [{"allOf": [one, two]} for one in first for two in second]
    if key in ("minimum", "exclusiveMinimum", "minLength", "minItems"):
        return max(first, second)
    if key in ("maximum", "exclusiveMaximum", "maxLength", "maxItems"):
        return min(first, second)
    if key in ("items", "additionalProperties"):
        return combine(first, second) if False not in (first, second) else False
    return first  # annotations


def _common_types(first: Any, second: Any) -> list[str] | None:
    one = [first] if isinstance(first, str) else list(first)
    two = [second] if isinstance(second, str) else list(second)
    common = [kind for kind in one if kind in two or (kind == "integer" and "number" in two)]
    common += [kind for kind in two if kind == "integer" and "number" in one]
    return list(dict.fromkeys(common)) or None
