"""JSON Schema as grammar: what each keyword accepts and refuses, in every installed engine."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

import pytest
from engines import engines

from autoparser_gen.emit.regex import regex
from autoparser_gen.errors import GrammarError, RequestError
from autoparser_gen.grammar import pattern, ranges
from autoparser_gen.grammar.check import check
from autoparser_gen.grammar.ir import Builder, ResponseGrammar
from autoparser_gen.grammar.schema import SchemaRules, slug
from autoparser_gen.grammar.syntax import Syntax


def convert(schema: Any) -> ResponseGrammar:
    builder = Builder()
    rules = SchemaRules(builder, Syntax(builder), schema, "doc")
    builder.rule("response", rules.value(schema, "doc"))
    grammar = builder.build("response")
    check(grammar)
    return grammar


NODE = {
    "type": "object",
    "properties": {
        "value": {"type": "integer"},
        "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
    },
    "required": ["value"],
}
CASES: dict[str, tuple[Any, list[str], list[str]]] = {
    "types": (
        {"type": ["integer", "null"]},
        ["0", "-12", "null"],
        ["1.5", "01", "true", '"1"', ""],
    ),
    "number": ({"type": "number"}, ["0", "-1.5", "2e10", "1.0"], ["1.", ".5", "NaN", "+1"]),
    "optional in any order": (
        {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "null"}, "c": {"type": "null"}},
            "required": ["a"],
        },
        ['{"a": 1}', '{"c":null,"a":1}', '{ "b": null, "c": null, "a": 2 }'],
        ["{}", '{"b": null}', '{"a": 1, "a": 1}', '{"a": 1,}', '{"a": 1, "d": 1}'],
    ),
    "many properties": (
        {
            "type": "object",
            "properties": {key: {"type": "integer"} for key in "abcdefghij"},
            "required": ["c"],
        },
        ['{"c": 1}', '{"a": 1, "c": 1, "j": 1}', '{"c": 1, "d": 1, "h": 1}'],
        ['{"a": 1}', "{}", '{"c": 1, "c": 1}'],
    ),
    "additional properties": (
        {
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "additionalProperties": {"type": "integer"},
        },
        ["{}", '{"name": "x"}', '{"name": "x", "n": 1}', '{"nam": 1, "names": 2}'],
        ['{"name": 1}', '{"x": "y"}', '{"": 1}'],
    ),
    "no additional properties": (
        {"type": "object", "additionalProperties": False},
        ["{}", "{ }"],
        ['{"a": 1}'],
    ),
    "items": (
        {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 3},
        ["[1, 2]", "[1,2,3]"],
        ["[]", "[1]", "[1, 2, 3, 4]", '[1, "2"]'],
    ),
    "prefix items": (
        {
            "type": "array",
            "prefixItems": [{"type": "string"}, {"type": "integer"}],
            "items": {"type": "boolean"},
            "minItems": 1,
            "maxItems": 3,
        },
        ['["a"]', '["a", 1]', '["a", 1, true]'],
        ["[]", "[1]", '["a", true]', '["a", 1, true, true]'],
    ),
    "enum": (
        {"enum": ["a", 'b"', 1, None, {"x": [1]}]},
        ['"a"', '"b\\""', "1", "null", '{ "x": [ 1 ] }'],
        ['"b"', "2", '{"x": []}'],
    ),
    "const beside a type": ({"type": "string", "const": "x"}, ['"x"'], ['"y"', "1"]),
    "any of": (
        {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "null"}}]},
        ['"x"', "[]", "[null]"],
        ["null", "[1]"],
    ),
    "any of objects": (
        {
            "anyOf": [
                {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
                {
                    "type": "object",
                    "properties": {"x": {"type": "number"}, "y": {"type": "string"}},
                    "required": ["x", "y"],
                },
            ]
        },
        ['{"x": 1}', '{"x": 1.5, "y": ""}', '{"y": "", "x": 1}'],
        ['{"x": 1.5}', '{"y": ""}'],
    ),
    "all of": (
        {
            "allOf": [
                {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
                {"properties": {"b": {"type": "string"}}, "required": ["b"]},
            ]
        },
        ['{"a": 1, "b": "x"}'],
        ['{"a": 1}', '{"b": "x"}'],
    ),
    "recursive": (
        {"$defs": {"node": NODE}, "$ref": "#/$defs/node"},
        ['{"value": 1}', '{"value": 1, "children": [{"value": 2, "children": []}]}'],
        ['{"children": []}', '{"value": 1, "children": [{}]}'],
    ),
    "recursive, of several types": (
        {
            "$defs": {
                "n": {"type": ["object", "null"], "properties": {"next": {"$ref": "#/$defs/n"}}}
            },
            "$ref": "#/$defs/n",
        },
        ["null", "{}", '{"next": null}', '{"next": {"next": {}}}'],
        ["1", '{"next": 1}', '{"next": {"next": [] }}'],
    ),
    "recursive, of several alternatives": (
        {
            "$defs": {
                "j": {
                    "anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/j"}}]
                }
            },
            "$ref": "#/$defs/j",
        },
        ['"a"', "[]", '["a", ["b", []]]'],
        ["1", "[1]", '["a", [null]]'],
    ),
    "recursive through allOf": (
        {
            "$defs": {
                "n": {
                    "properties": {"x": {"allOf": [{"$ref": "#/$defs/n"}], "description": "D"}},
                    "additionalProperties": False,
                }
            },
            "allOf": [{"$ref": "#/$defs/n"}],
        },
        ["{}", '{"x": {"x": {}}}'],
        ['{"x": 1}', '{"y": {}}'],
    ),
    "recursive, with more at each level": (
        {
            "$defs": {
                "n": {
                    "type": "object",
                    "properties": {
                        "x": {
                            "allOf": [
                                {"$ref": "#/$defs/n"},
                                {"properties": {"x": {"$ref": "#/$defs/n"}}, "required": ["y"]},
                            ]
                        },
                        "y": {"type": "integer"},
                    },
                }
            },
            "$ref": "#/$defs/n",
        },
        ["{}", '{"y": 1}', '{"x": {"y": 1}}', '{"x": {"y": 1, "x": {"y": 2}}}'],
        ['{"x": {}}', '{"x": {"y": 1, "x": {}}}'],
    ),
    "recursive beside constraints": (
        {
            "$defs": {
                "n": {
                    "type": ["object", "null"],
                    "properties": {"x": {"$ref": "#/$defs/n", "type": "object"}},
                }
            },
            "$ref": "#/$defs/n",
        },
        ["null", "{}", '{"x": {"x": {}}}'],
        ['{"x": null}', '{"x": {"x": null}}'],
    ),
    "a definition that two alternatives hold": (
        {
            "$defs": {
                "a": {"anyOf": [{"$ref": "#/$defs/b"}, {"type": "null"}]},
                "b": {"type": "integer", "minimum": 3},
            },
            "allOf": [{"$ref": "#/$defs/b"}, {"$ref": "#/$defs/a"}],
        },
        ["3"],
        ["2", "null"],
    ),
    "an anchor": (
        {"$defs": {"n": {"$anchor": "node", "type": "integer"}}, "$ref": "#node"},
        ["1"],
        ['"a"', "{}"],
    ),
    "values and a length": ({"enum": ["a", "abc", 5], "minLength": 2}, ['"abc"', "5"], ['"a"']),
    "values and a pattern": (
        {"type": "string", "enum": ["a1", "b", "1c"], "pattern": "[0-9]$"},
        ['"a1"'],
        ['"b"', '"1c"'],
    ),
    "values and bounds": (
        {"enum": [1, 10, 10.5, 20, "x"], "exclusiveMinimum": 1, "maximum": 10.5, "type": "number"},
        ["10", "10.5"],
        ["1", "20", '"x"'],
    ),
    "values and items": (
        {"enum": [["a"], [1], [1, 2]], "items": {"type": "integer"}, "maxItems": 1},
        ["[1]"],
        ['["a"]', "[1, 2]"],
    ),
    "values and properties": (
        {
            "enum": [{"a": 1}, {"a": "x"}, {"a": 1, "b": 2}, {}],
            "properties": {"a": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
            "required": ["a"],
            "additionalProperties": False,
        },
        ['{"a": 1}'],
        ['{"a": "x"}', '{"a": 1, "b": 2}', "{}"],
    ),
    "values and all of": (
        {"allOf": [{"enum": ["a", "bb", 1]}, {"minLength": 2}, {"maximum": 0}]},
        ['"bb"'],
        ['"a"', "1"],
    ),
    "values of a type that may be null": (
        {"type": ["string", "null"], "enum": ["open", "closed", None]},
        ['"open"', '"closed"', "null"],
        ['"x"', "true", '"null"'],
    ),
    "null alone": ({"type": "null", "enum": [None, False, 1]}, ["null"], ["false", "1"]),
    "null as the only value": (
        {"type": ["string", "null"], "const": None},
        ["null"],
        ['""', '"null"'],
    ),
    "values and an alternative that is null": (
        {"oneOf": [{"enum": ["a", None]}, {"type": "null"}]},
        ['"a"', "null"],
        ['"b"', "1"],
    ),
    "values that a part of allOf types": (
        {"allOf": [{"enum": [True, None, "a", 1]}], "type": ["boolean", "null"]},
        ["true", "null"],
        ["false", '"a"', "1"],
    ),
    "nullable": (
        {
            "type": "object",
            "properties": {
                "a": {"type": "integer", "minimum": 1, "nullable": True},
                "b": {"enum": ["x", None], "nullable": True},
                "c": {"allOf": [{"$ref": "#/properties/a"}, {"maximum": 3}], "nullable": True},
                "d": {"type": "string", "nullable": False},
            },
        },
        ['{"a": null, "b": null, "c": null}', '{"a": 1, "b": "x", "c": 3, "d": ""}'],
        ['{"a": 0}', '{"b": 1}', '{"c": 4}', '{"d": null}'],
    ),
    "nullable without a type": ({"minLength": 2, "nullable": True}, ['"ab"', "null"], ['"a"', "1"]),
    "nullable, beside what is": (
        {"allOf": [{"type": "string", "nullable": True}, {"type": ["string", "null"]}]},
        ['"a"', "null"],
        ["1"],
    ),
    "one and true": (
        {"anyOf": [{"const": 1}, {"const": True}], "enum": [1.0, True, False]},
        ["true"],
        ["false"],
    ),
    "constraints of two types": (
        {"minLength": 2, "minimum": 3},
        ['"ab"', "3", "null", "true", "[]", '{"a": 1}'],
        ['"a"', "2"],
    ),
    "a closed part of allOf": (
        {
            "allOf": [
                {"properties": {"a": {"type": "integer"}}, "additionalProperties": False},
                {"properties": {"b": {"type": "string"}}},
            ]
        },
        ["{}", '{"a": 1}'],
        ['{"a": 1, "b": "x"}', '{"b": "x"}'],
    ),
    "a part of allOf with a schema for all others": (
        {
            "allOf": [
                {"properties": {"a": True}, "additionalProperties": {"type": "integer"}},
                {"properties": {"b": {"minimum": 5}}, "required": ["b"]},
            ]
        },
        ['{"b": 5}', '{"b": 6, "c": 1}'],
        ['{"b": 4}', '{"b": "x"}', '{"b": 6, "c": "x"}'],
    ),
    "any of beside a closed base": (
        {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "additionalProperties": False,
            "anyOf": [{"required": ["a"]}, {"required": ["c"]}],
        },
        ['{"a": 1}', '{"a": 1, "b": 1}'],
        ['{"c": 1}', "{}", '{"b": 1}'],
    ),
    "alternatives told apart by a value": (
        {
            "properties": {"kind": {"enum": ["a", "b"]}},
            "required": ["kind"],
            "anyOf": [
                {"properties": {"kind": {"const": "a"}, "x": {"type": "integer"}}},
                {"properties": {"kind": {"const": "c"}, "y": {"type": "integer"}}},
            ],
        },
        ['{"kind": "a"}', '{"kind": "a", "x": 1}'],
        ['{"kind": "b"}', '{"kind": "c"}', '{"kind": "a", "y": 1}'],
    ),
    "an optional property that two parts exclude": (
        {
            "allOf": [
                {"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}},
                {"properties": {"a": {"type": "string"}}},
            ]
        },
        ["{}", '{"b": 1}'],
        ['{"a": 1}', '{"a": "x"}'],
    ),
    "prefix items of two parts": (
        {
            "allOf": [
                {"type": "array", "prefixItems": [{"type": "integer"}], "items": {"minimum": 5}},
                {"prefixItems": [{"minimum": 3}, {"type": "integer"}], "maxItems": 2},
            ]
        },
        ["[]", "[3]", "[3, 5]"],
        ["[2]", '["x"]', "[3, 4]", "[3, 5, 5]"],
    ),
    "items as a list": (
        {"type": "array", "items": [{"type": "integer"}], "additionalItems": False},
        ["[]", "[1]"],
        ["[1, 1]", '["x"]'],
    ),
    "a place that no item may take": (
        {"type": "array", "prefixItems": [{"type": "integer"}, False], "items": {"type": "null"}},
        ["[]", "[1]"],
        ["[1, null]", "[null]"],
    ),
    "required beside a schema for all others": (
        {
            "properties": {"x": {"type": "string"}},
            "required": ["x", "y"],
            "additionalProperties": {"type": "integer"},
        },
        ['{"x": "a", "y": 1}', '{"x": "a", "y": 1, "z": 2}'],
        ['{"x": "a", "y": "b"}', '{"x": "a"}'],
    ),
    "a property that is false": (
        {"properties": {"no": False, "x": {"type": "null"}}, "additionalProperties": True},
        ["{}", '{"x": null}', '{"n": 1, "nope": 2}'],
        ['{"no": 1}', '{"x": null, "no": null}'],
    ),
    "a bound that is a flag": (
        {"type": "integer", "minimum": 3, "exclusiveMinimum": True},
        ["4"],
        ["3"],
    ),
    "length": (
        {"type": "string", "minLength": 2, "maxLength": 3},
        ['"ab"', '"\\"ab"', '"äöü"'],
        ['"a"', '"abcd"'],
    ),
    "length, in escapes by number": (
        {"type": "string", "minLength": 2, "maxLength": 3},
        [r'"\u00e6\u00f8\u00E5"', r'"\ud83d\ude00\u65e5"', r'"\u0001\u007f"', r'"\b\f"'],
        [r'"\u00e6"', r'"\ud83d\ude00"', r'"\ud83d\ud83d"', r'"\ude00a"', r'"aaa\u00e6"'],
    ),
    "the greatest length": (
        {"type": "string", "maxLength": 2000},
        [json.dumps("æ" * 1000), json.dumps("\U0001f600" * 2000)],
        [json.dumps("æ" * 2001)],
    ),
    "pattern, in escapes by number": (
        {"type": "string", "pattern": "^æ[å-\u0105\U0001f600-\U00020001][^a-z日]$"},
        [
            r'"\u00e6\u00e5\u00e6"',
            r'"æ\u0100æ"',
            r'"\u00e6\ud83e\udfff\uffff"',
            r'"æ\ud840\udc01A"',
        ],
        [
            r'"\u00e6\u00e4A"',
            r'"æ\u0106A"',
            r'"æå\u65e5"',
            r'"æ\ud83d\uddffA"',
            r'"æ\ud840\udc02A"',
        ],
    ),
    "pattern": (
        {"type": "string", "pattern": r"^[A-Z]{2}-\d+$"},
        ['"AB-1"'],
        ['"AB-"', '"xAB-1"', '"AB-1x"'],
    ),
    "pattern with a surrogate pair": (
        {"type": "string", "pattern": r"^\ud83d\ude00[\ud83d\ude00-\ud83d\ude02]$"},
        ['"\U0001f600\U0001f601"'],
        ['"\U0001f600"', '"\U0001f600\U0001f603"'],
    ),
    "whitespace in a pattern": (
        {"type": "string", "pattern": r"^\S[^\s]\s[\s\S]$"},
        ['"ab c"', '"é日\xa0\u2028"'],
        ['"\xa0b c"', '"a\ufeff c"', '"a\x85 c"', '"a\u3000 c"', '"ab\ufeffc"', '"ab\x85c"'],
    ),
    "classes in a class": (
        {"type": "string", "pattern": r"^[\W\d_][^\D]$"},
        ['"-1"', '"11"', '"_2"'],
        ['"a1"', '"--"'],
    ),
    "pattern without anchors": ({"type": "string", "pattern": "b"}, ['"abc"', '"b"'], ['"ac"']),
    "date": (
        {"type": "string", "format": "date"},
        ['"2024-02-29"', '"1999-12-31"'],
        ['"2023-02-29"', '"2024-13-01"', '"2024-1-1"'],
    ),
    "uuid": (
        {"type": "string", "format": "uuid"},
        ['"123e4567-e89b-12d3-a456-426614174000"'],
        ['"123e4567"'],
    ),
    "integer bounds": (
        {"type": "integer", "minimum": -3, "exclusiveMaximum": 120},
        ["-3", "0", "99", "119"],
        ["-4", "120", "1000"],
    ),
    "number bounds": (
        {"type": "number", "exclusiveMinimum": 0.5, "maximum": 2},
        ["0.51", "1", "2", "2.0"],
        ["0.5", "2.01", "-1"],
    ),
    "exponents above zero": (
        {"type": "number", "minimum": 0},
        ["1e-05", "1e+16", "1.5E300", "1.5e-7", "1e21", "0.0"],
        ["-1e-05", "1e", "1e-", "0e5", "1e400", "1e-400", "12e3"],
    ),
    "exponents between bounds": (
        {"type": "number", "exclusiveMinimum": -1e-5, "maximum": 2e20},
        ["-9.9e-06", "1e-05", "9.99e+19", "0"],
        ["-1e-05", "-1e+16", "3e+20"],
    ),
    "anything": (True, ["null", '{"a": [1]}', '"x"'], ["", "x"]),
}


@pytest.mark.parametrize("name", CASES)
def test_keywords(name: str) -> None:
    schema, good, bad = CASES[name]
    for engine, accepts in engines(convert(schema)).items():
        for text in good:
            assert accepts(text), (engine, text)
        for text in bad:
            assert not accepts(text), (engine, text)


@pytest.mark.parametrize(
    ("schema", "warning"),
    [
        ({"type": "array", "uniqueItems": True}, "uniqueItems is not enforced"),
        ({"type": "integer", "multipleOf": 3}, "multipleOf is not enforced"),
        ({"type": "string", "pattern": "(?=a)b"}, "look-around"),
        ({"type": "string", "pattern": r"^\ud83d$"}, "half of a surrogate pair"),
        ({"type": "string", "pattern": "^(a*)*$"}, "something that can be empty"),
        (
            {"type": "string", "pattern": r"^[a-z]{1,63}(\.[a-z]{1,63}){1,40}$"},
            "repeats 2520 times",
        ),
        ({"type": "string", "format": "ipv4"}, "format 'ipv4' is not enforced"),
        ({"type": "string", "maxLength": 5000}, "maxLength above 2000"),
        ({"type": "object", "patternProperties": {}}, "patternProperties is not enforced"),
        ({"allOf": [{"pattern": "a"}, {"pattern": "b"}]}, "a second pattern is not enforced"),
        ({"enum": ["a", "b"], "pattern": "(?=a)"}, "look-around"),
        ({"enum": ["a", "b"], "format": "ipv4"}, "format 'ipv4' of given values"),
        ({"oneOf": [{"type": "integer"}, {"minimum": 3, "type": "number"}]}, "one alternative of"),
        (
            {
                "oneOf": [
                    {"properties": {"a": True}, "required": ["a"]},
                    {"properties": {"b": True}},
                ]
            },
            "one alternative of oneOf",
        ),
    ],
)
def test_what_is_not_enforced_is_named(schema: Any, warning: str) -> None:
    assert any(warning in sentence for sentence in convert(schema).warnings)


def test_nullable_is_a_keyword() -> None:
    schema = {"type": "string", "nullable": True, "enum": ["a", None]}
    assert convert(schema).warnings == ()


def test_annotations_are_no_constraints() -> None:
    schema = {"type": "string", "title": "T", "description": "D", "default": "x", "examples": []}
    assert convert(schema).warnings == ()


@pytest.mark.parametrize(
    "schema",
    [
        {"oneOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]},
        {
            "oneOf": [
                {"properties": {"k": {"const": kind}, kind: {}}, "required": ["k"]} for kind in "ab"
            ]
        },
        {"oneOf": [{"properties": {k: {}}, "required": [k]} for k in "ab"]},
        {
            "oneOf": [
                {"properties": {k: {}}, "required": [k], "additionalProperties": False}
                for k in "ab"
            ]
        },
    ],
)
def test_alternatives_that_exclude_each_other_need_no_warning(schema: Any) -> None:
    assert convert(schema).warnings == ()


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"$ref": "https://example.com/schema.json"}, "nothing is fetched"),
        ({"$ref": "#/$defs/missing"}, "leads nowhere"),
        ({"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}, "without end"),
        ({"type": "text"}, "no type of JSON Schema"),
        ({"type": "integer", "minimum": 3, "maximum": 2}, "no integer lies between"),
        ({"type": "number", "minimum": 3, "maximum": 2}, "no number lies between"),
        ({"type": "string", "minLength": 3, "maxLength": 2}, "greater than"),
        ({"allOf": [{"type": "string"}, {"type": "integer"}]}, "no value satisfies"),
        ([], "is no schema"),
        ({"type": "array", "items": False, "minItems": 1}, "minItems, 1, is greater than the 0"),
        (
            {"type": "array", "prefixItems": [True], "items": False, "minItems": 2},
            "greater than the 1 items",
        ),
        (
            {"properties": {"x": {}}, "required": ["y"], "additionalProperties": False},
            "requires 'y', which it does not permit",
        ),
        ({"type": "string", "enum": [1, "abc"], "maxLength": 2}, "none of its given values"),
        ({"$ref": "#node"}, r"has the \$anchor 'node'"),
        ({"anyOf": [{"type": "null"}, {"allOf": [{"$ref": "#"}]}]}, "without end"),
        ({"type": "integer", "minimum": 0.2, "maximum": 0.8}, r"\(minimum 0.2, maximum 0.8\)"),
        ({"enum": [1, float("nan")]}, "nan at #/enum/1 is no number of JSON"),
        ({"const": {"a/b": [float("-inf")]}}, "-inf at #/const/a~1b/0 is no number of JSON"),
        ({"properties": {"x": {"const": 1e400}}}, "inf at #/properties/x/const is no number"),
    ],
)
def test_schemas_that_make_no_grammar(schema: Any, message: str) -> None:
    with pytest.raises(GrammarError, match=message):
        convert(schema)


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}


def _object(of: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": of}, "required": ["x"], **more}


ENDLESS: dict[str, dict[str, Any]] = {
    "an object": {"n": _object(_ref("n"))},
    "two objects": {"n": _object(_ref("m")), "m": _object(_ref("n"))},
    "a list that is not empty": {"n": {"type": "array", "items": _ref("n"), "minItems": 1}},
    "a place in a list": {
        "n": {"type": "array", "prefixItems": [{"type": "null"}, _ref("n")], "minItems": 2}
    },
    "all alternatives": {"n": {"anyOf": [_object(_ref("n")), _object(_ref("m"))]}, "m": _ref("n")},
    "a part of it": {"n": {"allOf": [_object(_ref("n")), {"properties": {"y": {}}}]}},
}
_TWICE = {"minItems": 2, "maxItems": 2}
# The same where something lets it end; what it permits, and what would be without end.
ENDING: dict[str, tuple[dict[str, Any], str, str]] = {
    "an optional property": (
        {"n": _object(_ref("n"), required=[])},
        '{"x": {"x": {}}}',
        '{"x": 1}',
    ),
    "a list that may be empty": (
        {"n": _object({"type": "array", "items": _ref("n")})},
        '{"x": []}',
        "{}",
    ),
    "an alternative": (
        {"n": _object({"anyOf": [_ref("n"), {"type": "null"}]})},
        '{"x": {"x": null}}',
        "{}",
    ),
    "one of two definitions": (
        {
            "n": {"anyOf": [_object(_ref("n"), title="n"), _object(_ref("m"))]},
            "m": {"type": "array", "items": {"type": ["integer", "null"]}, **_TWICE},
        },
        '{"x": [1, null]}',
        '{"x": [1]}',
    ),
    "an alternative without end": (
        {"n": {"anyOf": [_ref("m"), {"type": "null"}]}, "m": _object(_ref("m"))},
        "null",
        "{",
    ),
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_what_requires_itself_without_end_is_an_error(kind: str) -> None:
    with pytest.raises(RequestError, match=r"#/\$defs/[nm] requires itself without end"):
        convert({"$defs": ENDLESS[kind], **_ref("n")})


@pytest.mark.parametrize("kind", ENDING)
def test_what_lets_a_definition_end(kind: str) -> None:
    definitions, good, bad = ENDING[kind]
    grammar = convert({"$defs": definitions, **_ref("n")})
    for engine, accepts in engines(grammar).items():
        assert accepts(good), engine
        assert not accepts(bad), engine
    if kind == "an alternative without end":
        assert all("lbrace" not in rule.name for rule in grammar.rules)


def test_the_size_is_linear_in_the_number_of_properties() -> None:
    def size(count: int) -> int:
        properties = {f"p{number}": {"type": "integer"} for number in range(count)}
        return len(str(convert({"type": "object", "properties": properties})))

    assert size(40) < 2.5 * size(20)


def test_names_of_rules() -> None:
    assert slug("getWeather") == "get-weather"
    assert slug("get_weather__now") == "get-weather-now"
    assert slug("2d") == "x-2d"
    assert slug("日本") == "x"


def test_every_range_of_integers() -> None:
    for low in (None, *range(-120, 121, 40)):
        for high in (None, *range(-115, 121, 31)):
            found = ranges.integers(low, high)
            shown = None if found is None else re.compile(regex(found, {}))
            for number in range(-130, 131):
                inside = (low is None or low <= number) and (high is None or number <= high)
                matches = shown is not None and shown.fullmatch(str(number)) is not None
                assert matches == inside, (low, high, number)


def test_ranges_of_decimals() -> None:
    bounds = [None, *map(Decimal, ("-12.5", "-1.05", "0", "0.05", "1", "1.25", "100"))]
    numbers = [
        sign + whole + fraction
        for sign in ("", "-")
        for whole in ("0", "1", "9", "12", "100")
        for fraction in ("", ".0", ".04", ".05", ".050", ".051", ".25", ".250", ".3", ".5", ".51")
    ]
    exponents = [
        f"{sign}{digits}e{power}"
        for sign in ("", "-")
        for digits in ("1", "1.05", "9.99")
        for power in ("-300", "-12", "-05", "-3", "-02", "-1", "0", "+1", "2", "03", "+16", "300")
    ]
    for low in bounds:
        for high in bounds:
            found = ranges.numbers(low, high, above=True)
            shown = None if found is None else re.compile(regex(found, {}))
            for text in numbers:
                number = Decimal(text)
                if text.startswith("-") and not number:
                    continue  # -0 is never written
                inside = (low is None or low < number) and (high is None or number <= high)
                matches = shown is not None and shown.fullmatch(text) is not None
                assert matches == inside, (low, high, text)
            for text in exponents:
                number = Decimal(text)
                inside = (low is None or low < number) and (high is None or number <= high)
                matches = shown is not None and shown.fullmatch(text) is not None
                assert inside or not matches, (low, high, text)
                assert matches or not inside or low != 0 or high is not None, text


@pytest.mark.parametrize(
    "source",
    [
        *("(?!a)b", r"(a)\1", r"\bx", "a)", "(a", "x^y", "(^a)", "*a", "(?i)a", "[b-a]"),
        *("(?<a", "(?<=a)b", r"\A", r"[\q]", r"\u12", r"\u+123", r"\x1", "a{3,2}", "a{2001}"),
        *("a{" + "9" * 5000 + "}", "(" * 1000, "[]", r"[^\s\S]", r"[a-\d]", "\ud800", "[\udc00]"),
        *(r"\ud83d\u0041", r"\ude00\ud83d", r"\01", "(a?){2}"),
    ],
)
def test_patterns_that_a_grammar_cannot_do(source: str) -> None:
    with pytest.raises(pattern.Unsupported):
        pattern.pattern(source)


def test_strings_with_escapes_are_json() -> None:
    schema = {"type": "string", "pattern": '^["\\\\\\n]$'}
    for engine, accepts in engines(convert(schema)).items():
        for text in ('"', "\\", "\n"):
            assert accepts(json.dumps(text)), (engine, text)
