"""The exact glue at every joint that the chat template renders."""

from __future__ import annotations

from autoparser_gen.analysis.marks import pattern
from autoparser_gen.analysis.study import Study
from autoparser_gen.probe.glue import without_prefix

# The simplest turn that shows a joint decides, except that of two runs of whitespace the longer
# counts: a parser takes off as much of it as there is.
TURNS: tuple[dict[str, bool | int], ...] = (
    {"content": True},
    {"calls": 1},
    {"calls": 2},
    {"reasoning": True, "content": True},
    {"reasoning": True, "calls": 1},
    {"content": True, "calls": 1},
    {"reasoning": True, "content": True, "calls": 1},
)


def collect_joints(study: Study, default_prompt: str) -> dict[str, str]:
    """Pair -> glue, relative to the default generation prompt where the turn continues it."""
    joints: dict[str, str] = {}
    prefill = without_prefix(default_prompt, study.header)
    for parts in TURNS:
        layout = study.layout(**parts)  # type: ignore[arg-type]
        for pair, glue in layout.joints() if layout is not None else ():
            if pair.startswith("prompt_to_"):
                glue = without_prefix(glue, prefill)
            glue = pattern(glue)
            known = joints.setdefault(pair, glue)
            if not glue.strip() and glue.startswith(known):
                joints[pair] = glue
    joints.pop("prompt_to_end", None)
    return joints
