"""What a declarative format of somebody else's cannot say."""

from __future__ import annotations

from collections.abc import Mapping

from autoparser_gen.errors import RequestError


def refuse(source: str, what: str, reasons: Mapping[str, bool], instead: str) -> None:
    """Raise RequestError with the first reason that holds; `instead` says what serves."""
    for reason, holds in reasons.items():
        if holds:
            raise RequestError(f"{source}: the format cannot be a {what}: {reason}. {instead}")
