"""Put a turn's parts together from an analysis' marker fields, as the model's docstring says.

It works on the fields as plain data, so that two analyses of one chat template can be compared by
what they say a model writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autoparser_gen.probe import needles
from autoparser_gen.probe.shape import NAMED_ID, Shape, call_id_of

Fields = Mapping[str, Any]
JSON_CALL = "\0"  # stands for a call's JSON, which is compared by its keys


@dataclass(frozen=True)
class Markers:
    """The marker fields of one analysis that write a turn with calls."""

    format: Fields
    function: Fields
    arguments: Fields
    call_id: Fields

    def first(self, shape: Shape) -> str:
        """The section's opener and the first call; all of it where one JSON array is all calls."""
        if self._is_array():
            return str(
                self.format["section_start"] + self._call(shape, 0) + self.format["section_end"]
            )
        return str(self.format["section_start"] + self._bracket("[") + self._call(shape, 0))

    def last(self, shape: Shape, index: int) -> str:
        """The last call, with the section's closer."""
        if self._is_array():
            return self.first(shape)
        return str(self._call(shape, index) + self._bracket("]") + self.format["section_end"])

    def _is_array(self) -> bool:
        return self.format["mode"] == "JSON_NATIVE" and bool(self.format["tools_array_wrapped"])

    def _bracket(self, bracket: str) -> str:
        is_list = self.format["mode"] == "PYTHON_CALLS" and self.format["tools_array_wrapped"]
        return bracket if is_list else ""

    def _call(self, shape: Shape, index: int) -> str:
        form, function = self.format, self.function
        if form["mode"] == "JSON_NATIVE":
            return str(form["per_call_start"] + JSON_CALL + form["per_call_end"])
        start = form["per_call_start"] + self._id("PRE_FUNC_NAME", shape, index)
        suffix = function["name_suffix"].replace("{index}", str(index + 1))
        suffix = suffix.replace("{name}", needles.FUNCTIONS[index])
        if self.call_id["pos"] == "CARRIES_NAME":
            suffix = self.call_id["suffix"] + str(index) + suffix
            start += self.call_id["prefix"]
        name = start + function["name_prefix"] + needles.FUNCTIONS[index] + suffix
        name += self._id("BETWEEN_FUNC_AND_ARGS", shape, index)
        end = self._id("POST_ARGS", shape, index) + function["close"] + form["per_call_end"]
        return str(name + self._arguments(index) + end)

    def _id(self, pos: str, shape: Shape, index: int) -> str:
        if self.call_id["pos"] != pos:
            return ""
        name = needles.FUNCTIONS[index]
        text = NAMED_ID.format(name=name, index=index) if shape.named_ids else call_id_of(index)
        return str(self.call_id["prefix"] + text + self.call_id["suffix"])

    def _arguments(self, index: int) -> str:
        if self.format["mode"] == "TAG_WITH_JSON":
            return JSON_CALL
        arguments = self.arguments
        written = [
            self._argument(*pair)
            for pair in zip(needles.KEYS[index][:2], needles.VALUES[index][:2], strict=True)
        ]
        separator = arguments["separator"]
        return str(arguments["start"] + separator.join(written) + arguments["end"])

    def _argument(self, key: str, value: str) -> str:
        arguments = self.arguments
        kinds = [spelling for spelling, kind in arguments.get("types", ()) if kind == "string"]
        before = arguments["name_prefix"] + key
        before += arguments["type_prefix"] + kinds[0] if kinds else arguments["name_suffix"]
        literals = arguments.get("literals")
        if literals and not literals["bare_strings"]:
            value = literals["quotes"][0] + value + literals["quotes"][0]
        elif arguments.get("value_syntax") == "JSON":
            value = f'"{value}"'
        after = arguments["value_suffix"].replace("{key}", key)
        return str(before + arguments["value_prefix"] + value + after)
