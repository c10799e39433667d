"""Named conventions: the few facts that lie outside of what a chat template renders.

Each has a behavioural trigger, which is a property of renderings. None looks at the chat
template's source or at the model's name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from autoparser_gen.analysis.model import Reasoning
from autoparser_gen.analysis.study import Study
from autoparser_gen.probe.glue import is_boundary


@dataclass(frozen=True)
class Convention:
    """One rule: why it holds, what shows it, and what in the renderings makes it apply."""

    name: str
    reason: str
    source: str
    trigger: str


CONVENTIONS = (
    Convention(
        "opener-in-header",
        "When every generation prompt and every turn opens reasoning, the opener looks like a part"
        " of the header.",
        "chat templates of thinking-only models",
        "the reasoning's closer is known, its opener is not, and the header ends with a marker that"
        " shares a word with the closer",
    ),
)


def opener_in_header(study: Study, reasoning: Reasoning) -> Reasoning:
    """Apply "opener-in-header"."""
    if reasoning.start.strip() or not reasoning.end.strip():
        return reasoning
    header = study.header
    wanted = set(re.findall(r"[^\W_]+", reasoning.end.lower()))
    best = (0, 0)
    for at in range(len(header.rstrip()) - 1, 0, -1):
        shared = wanted & set(re.findall(r"[^\W_]+", header[at:].lower()))
        if is_boundary(header, at) and header[at] in "<[" and len(shared) > best[0]:
            best = (len(shared), at)
    if not best[0]:
        return reasoning
    start = header[best[1] :] + reasoning.start
    study.move_header(len(header) - best[1])
    study.found("reasoning.start", "convention opener-in-header")
    return replace(reasoning, start=start)
