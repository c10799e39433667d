"""Unique texts planted in probe messages.

Plain ASCII words: chat templates strip, title-case, escape and JSON-encode what they are given, and
none of that may change a needle. No needle contains another one, and all begin and end differently
from what chat templates print around them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

USER = "Uq7zuserzq"
USER_AGAIN = "Vq8zagainzq"
SYSTEM = "Sq9zsystemzq"
RESULT = "Tq5zresultzq"
CONTENT = "Cq3zcontentzq"
REASONING = "Rq4zreasonzq"

FUNCTIONS = ("fq1zalphazq", "gq2zbetazq", "hq6zgammazq")
# In alphabetical order, because some chat templates sort the arguments.
KEYS = (
    ("aq1zkeyzq", "bq1zkeyzq", "cq1zkeyzq"),
    ("aq2zkeyzq", "bq2zkeyzq", "cq2zkeyzq"),
    ("aq3zkeyzq", "bq3zkeyzq", "cq3zkeyzq"),
)
VALUES = (
    ("xq1zvalzq", "yq1zvalzq", "zq1zvalzq"),
    ("xq2zvalzq", "yq2zvalzq", "zq2zvalzq"),
    ("xq3zvalzq", "yq3zvalzq", "zq3zvalzq"),
)
# Arguments in no order, in capitals or not.
UNSORTED = {"cq4zkeyzq": "xq4zvalzq", "Bq4zkeyzq": "yq4zvalzq", "aq4zkeyzq": "zq4zvalzq"}
# Nine letters and digits: the only shape that every chat template accepts.
IDS = ("Iq1w8e3r7", "Jq2t6y4u9", "Kq5o7p1a8")

Call = tuple[str, Mapping[str, Any]]


def calls(count: int, arguments: int = 2) -> list[Call]:
    """Calls of the needle functions with that many string arguments each."""
    return [
        (FUNCTIONS[i], dict(zip(KEYS[i][:arguments], VALUES[i][:arguments], strict=True)))
        for i in range(count)
    ]


def tools(plain: bool = False) -> list[dict[str, Any]]:
    """The tools that the needle calls use; `plain` ones have string parameters only."""
    kinds = ("string", "string", "string") if plain else ("string", "integer", "object")
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": "Probes the format.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        key: {"type": kind, "description": "A value."}
                        for key, kind in zip(keys, kinds, strict=True)
                    },
                    "required": [keys[0]],
                },
            },
        }
        for name, keys in zip(FUNCTIONS, KEYS, strict=True)
    ]
