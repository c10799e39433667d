"""Errors a user can meet. Each message says where, what it could mean, and what to do."""

from __future__ import annotations


class AutoparserError(Exception):
    """Base of all errors that end a run with a sentence instead of a traceback."""

    exit_code = 1


class ChatTemplateError(AutoparserError):
    """The chat template cannot be read or rendered."""

    exit_code = 3


class AnalysisError(AutoparserError):
    """The renderings do not show one consistent format; the message carries both renderings."""

    exit_code = 3


class GrammarError(AutoparserError):
    """The grammar that follows from the analysis is ambiguous or would break an engine."""

    exit_code = 3


class VerificationError(AutoparserError):
    """What was generated does not read its own chat template's renderings back."""

    exit_code = 4


class OutputError(AutoparserError):
    """A file cannot be written."""

    exit_code = 1
