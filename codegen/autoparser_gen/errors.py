"""Errors a user can meet. Each message says where, what it could mean, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


class AutoparserError(Exception):
    """Base of all errors that end a run with a sentence instead of a traceback."""

    exit_code = 1


class ChatTemplateError(AutoparserError):
    """The chat template cannot be read or rendered."""

    exit_code = 3


class LimitError(AutoparserError):
    """Rendering the chat template takes more time or memory, or gives more text, than it may."""

    exit_code = 3


class AnalysisError(AutoparserError):
    """The renderings do not show one consistent format; the message carries both renderings."""

    exit_code = 3


class GrammarError(AutoparserError):
    """The grammar that follows from the analysis is ambiguous or would break an engine."""

    exit_code = 3


class RequestError(GrammarError):
    """The tools or schemas of a request are at fault, or what is asked for beside them.

    What the format of a chat template cannot be made into is among that: the chat template is right.
    """

    exit_code = 2


class VerificationError(AutoparserError):
    """What was generated does not read its own chat template's renderings back."""

    exit_code = 4


class OutputError(AutoparserError):
    """A file cannot be written."""

    exit_code = 1


class UsageError(AutoparserError):
    """The command line asks for something that does not exist or does not go together."""

    exit_code = 2


class FolderError(AutoparserError):
    """Some chat templates of a folder failed; the message has a line for each."""

    def __init__(self, errors: Sequence[AutoparserError], total: int) -> None:
        lines = [str(error) for error in errors]
        lines.append(f"{len(errors)} of {total} chat templates failed; nothing was written.")
        super().__init__("\n".join(lines))
        self.exit_code = max(error.exit_code for error in errors)


class InternalError(AutoparserError):
    """A bug of ours, met on a chat template."""

    exit_code = 3

    @classmethod
    def of(cls, source: Path, error: Exception) -> InternalError:
        """The error that was met, with the place in the code where it came up."""
        import traceback

        trace = traceback.extract_tb(error.__traceback__)
        place = f" ({Path(trace[-1].filename).name}:{trace[-1].lineno})" if trace else ""
        result = cls(
            f"{source}: internal error: {type(error).__name__}: {error}{place}. This is a bug of"
            " autoparser-gen, not of the chat template; please report it with the file."
        )
        result.__cause__ = error
        return result


def shown(value: object, most: int = 2000) -> str:
    """What a rendering is, for a message: quoted, without its middle beyond `most` characters."""
    text = repr(value)
    left_out = len(text) - most
    if left_out <= 0:
        return text
    half = most // 2
    return f"{text[:half]} [... {left_out} characters ...] {text[-half:]}"
