"""What a stranger's chat template may take while it is rendered."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """What all renderings of one chat template together may take."""

    seconds: float = 10.0
    memory: int = 1024  # MiB, beside what the process has at its start
    output: int = 16  # MiB of text


DEFAULT_LIMITS = Limits()
