"""Finds the format of a chat template by comparing its renderings."""

from __future__ import annotations

from autoparser_gen.analysis.analyze import analyze
from autoparser_gen.analysis.model import Analysis

__all__ = ["Analysis", "analyze"]
