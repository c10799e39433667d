"""Generation prompts: the default, with thinking, and without."""

from __future__ import annotations

from autoparser_gen.analysis.model import GenerationPrompts, Reasoning
from autoparser_gen.analysis.study import Study, is_on


def find_generation_prompts(study: Study, reasoning: Reasoning) -> GenerationPrompts:
    """Choose among all prompts that options make, by what they leave open.

    An option that says so decides; where none does, a prompt that ends in the reasoning's opener is
    the one for thinking, and a prompt that holds its closer the one against.
    """
    variants = study.prober.prompt_variants()
    default = variants[0][1] if variants else ""
    on, off = default, default
    start, end = reasoning.start.strip(), reasoning.end.strip()
    size = len(study.header)
    for options, prompt in reversed(variants[1:]):
        prefill = prompt[size:]
        closed = bool(end) and end in prefill
        opened = not closed and (not start or start in prefill or is_on(options) is True)
        if closed or is_on(options) is False and not prefill.strip():
            off = prompt
        elif opened:
            on = prompt
    for _, prompt in variants[1:]:
        study.found("generation_prompts.thinking", "each option on / off", default, prompt)
        study.found("generation_prompts.no_thinking", "each option on / off", default, prompt)
    return GenerationPrompts(default, on, off)
