"""What is verified: the texts that are about to be written, loaded without a file."""

from __future__ import annotations

import functools
import re
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass

from autoparser_gen.errors import VerificationError


@dataclass(frozen=True)
class Subject:
    """The texts of a parser module and of a Lark grammar."""

    module: str
    lark: str

    def load_module(self, source: str) -> types.ModuleType:
        """The module. Raises VerificationError, naming the source, where it cannot be imported."""
        try:
            return import_text(self.module)
        except Exception as error:  # generated text may be wrong in any way
            raise _unloadable(f"{source}: the module cannot be imported", error) from error

    def load_grammar(self, source: str) -> Callable[[str], str | None]:
        """See `grammar_reader`. Raises VerificationError where lark refuses the grammar."""
        try:
            return grammar_reader(self.lark)
        except Exception as error:
            raise _unloadable(f"{source}: the Lark grammar does not load", error) from error


def _unloadable(what: str, error: Exception) -> VerificationError:
    return VerificationError(
        f"{what}: {type(error).__name__}: {error}\n"
        "  Nothing was written. --inspect shows what was read from the chat template, field by field."
        " Where a\n  field is wrong, the chat template writes something in a way that is not known;"
        " where all are right,\n  it is a mistake of the generator. Please report either, with the"
        " chat template."
    )


def import_text(source: str) -> types.ModuleType:
    """A module from its text, without a file.

    Fenced blocks are identical in many modules, so each is compiled on its own, and once.
    """
    module = types.ModuleType("_autoparser_gen_subject")
    # Dataclasses look their module up by name while they are made.
    sys.modules[module.__name__] = module
    try:
        for part in re.split(r"(?m)^(?=# ==== (?:Begin|End) )", source):
            exec(_compiled(part), module.__dict__)
    finally:
        del sys.modules[module.__name__]
    return module


@functools.lru_cache
def _compiled(part: str) -> types.CodeType:
    # With this file's own `from __future__ import annotations`, which modules begin with, too.
    code: types.CodeType = compile(part, "<generated module>", "exec")
    return code


def grammar_reader(source: str) -> Callable[[str], str | None]:
    """A function that says why a text does not follow a Lark grammar; None where it does."""
    import lark

    parser = lark.Lark(source, parser="lalr", start="start", maybe_placeholders=False)

    def reject_reason(text: str) -> str | None:
        try:
            parser.parse(text)
        except lark.exceptions.LarkError as error:
            return str(error)
        return None

    return reject_reason
