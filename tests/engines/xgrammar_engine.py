"""xgrammar as the judge of a structural tag."""

from __future__ import annotations

from collections.abc import Callable

END = 256


def structural_tag(tag: str) -> Callable[[str], bool]:
    """A function that says whether a whole text follows the tag. Raises where xgrammar refuses it."""
    import xgrammar

    bytes_and_end = [bytes([byte]) for byte in range(256)] + [b""]
    kind = xgrammar.VocabType.RAW
    tokens = xgrammar.TokenizerInfo(bytes_and_end, vocab_type=kind, stop_token_ids=[END])
    xgrammar.StructuralTag.from_json(tag)
    compiled = xgrammar.GrammarCompiler(tokens).compile_structural_tag(tag)

    def accepts(text: str) -> bool:
        matcher = xgrammar.GrammarMatcher(compiled)
        return bool(matcher.accept_string(text)) and bool(matcher.accept_token(END))

    return accepts
