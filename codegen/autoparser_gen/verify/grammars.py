"""A module that prints grammars prints what the command line does."""

from __future__ import annotations

import types
import warnings
from typing import TYPE_CHECKING

from autoparser_gen.errors import VerificationError

if TYPE_CHECKING:
    from autoparser_gen.request import Options


def check_grammar(module: types.ModuleType, name: str, options: Options, expected: str) -> None:
    """Print a grammar as the options say. Raises VerificationError where it is not as expected.

    `name` is that of the target and of the module's function.
    """
    shape = dict(vars(options.asked))
    if name == "lark":
        shape |= {"portable": options.portable, "special_tokens": options.special_tokens}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what grammars cannot express the command line tells
        printed = getattr(module, name)(**shape)
    if printed == expected:
        return
    pairs = zip(printed.splitlines(), expected.splitlines(), strict=False)
    unlike = next((pair for pair in pairs if pair[0] != pair[1]), ("(more lines)", "(or fewer)"))
    raise VerificationError(
        f"the module's {name}() prints another grammar than the command line:"
        f" {unlike[0]!r} and not {unlike[1]!r}."
    )
