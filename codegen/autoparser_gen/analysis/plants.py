"""Reasoning planted inside content: for chat templates that cut it out of history."""

from __future__ import annotations

from collections.abc import Sequence

from autoparser_gen.analysis.conventions import mirrored_closer, mirrored_opener, shared_words
from autoparser_gen.analysis.model import Reasoning
from autoparser_gen.analysis.study import Study
from autoparser_gen.probe import needles, source


def planted_closer(study: Study) -> str:
    """The literal of the chat template behind which an answer begins, or "".

    Text in front of a closer is dropped from history, text behind it is kept. All literals are
    planted at once; only where that cuts something are they tried apart.
    """
    literals = [
        literal
        for literal in source.marker_literals(study.prober.renderer)
        if literal.strip() not in (study.header.strip(), "")
    ]
    cutting = _cutting(study, literals)
    if not cutting:
        return ""
    opened = "".join(prefill for _, prefill in study.prefills()) + study.header
    return max(
        cutting,
        key=lambda literal: (
            bool(shared_words(literal, opened)),
            bool(mirrored_opener(literal)),
            -len(literal),
        ),
    ).strip()


def planted_pair(study: Study) -> tuple[str, str]:
    """Two literals, mirror images of each other, between which text is cut out of history."""
    literals = source.marker_literals(study.prober.renderer)
    for opener in literals:
        closer = mirrored_closer(opener)
        if closer in literals:
            content = opener + needles.REASONING + closer + needles.CONTENT
            for follows in (False, True):
                turn = study.prober.raw_turn(content, user_follows=follows)
                text = "" if turn is None else turn.text
                if needles.REASONING not in text and needles.CONTENT in text:
                    return opener, closer
    return "", ""


def cuts_every_block(study: Study, reasoning: Reasoning) -> bool:
    """Whether reasoning planted behind pieces of content is cut out, and all of the content kept.

    A chat template that expects reasoning anywhere in an answer shows that a model writes it there.
    """
    start, end = reasoning.start, reasoning.end
    if not (start.strip() and end.strip()):
        return False
    block = start + needles.REASONING + end
    content = needles.CONTENT + block + needles.RESULT + block
    turns = (study.prober.raw_turn(content, user_follows=follows) for follows in (False, True))
    texts = ["" if turn is None else turn.text for turn in turns]
    kept = all(needles.CONTENT in text and needles.RESULT in text for text in texts)
    return kept and any(needles.REASONING not in text for text in texts)


def _cutting(study: Study, literals: Sequence[str]) -> list[str]:
    """The literals that cut off what stands before them and keep what follows."""
    if not literals:
        return []
    before, behind = _planted(study, "".join(literals))
    if before and behind:
        return []
    if len(literals) == 1:
        return list(literals) if behind else []
    half = len(literals) // 2
    return _cutting(study, literals[:half]) + _cutting(study, literals[half:])


def _planted(study: Study, literal: str) -> tuple[bool, bool]:
    """Whether the text before and the text behind a literal are shown, in the end or in history."""
    content = needles.REASONING + literal + needles.CONTENT
    shown = (True, True)
    for follows in (False, True):
        turn = study.prober.raw_turn(content, user_follows=follows)
        text = "" if turn is None else turn.text
        shown = (needles.REASONING in text, needles.CONTENT in text)
        if not shown[0]:
            break
    return shown
