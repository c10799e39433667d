"""The table of contents of the analysis: one call per phase."""

from __future__ import annotations

from dataclasses import replace

from autoparser_gen.analysis.capabilities import find_capabilities
from autoparser_gen.analysis.cleaning import marker_cores, without_unknown_tokens
from autoparser_gen.analysis.content import analyze_content, find_end_of_turn
from autoparser_gen.analysis.joints import collect_joints
from autoparser_gen.analysis.model import Analysis, GenerationPrompts
from autoparser_gen.analysis.reasoning import analyze_reasoning
from autoparser_gen.analysis.study import Study
from autoparser_gen.analysis.tools import analyze_tools
from autoparser_gen.probe import Prober


def analyze(prober: Prober) -> Analysis:
    """Find the format of a chat template.

    Raises AnalysisError or ChatTemplateError, never another exception.
    """
    study = Study(prober)
    reasoning = analyze_reasoning(study)
    end_of_turn = find_end_of_turn(study)
    content = analyze_content(study, reasoning, end_of_turn)
    tools = analyze_tools(study, reasoning, content, end_of_turn)
    prompts = GenerationPrompts(
        prober.generation_prompt() or "",
        prober.generation_prompt(enable_thinking=True) or "",
        prober.generation_prompt(enable_thinking=False) or "",
    )
    chat_template = prober.renderer.chat_template
    analysis = Analysis(
        source=chat_template.name,
        sha256=chat_template.sha256,
        capabilities=find_capabilities(study),
        reasoning=reasoning,
        content=content,
        tools=tools,
        generation_prompts=prompts,
        assistant_header=study.header,
        end_of_turn=end_of_turn.strip(),
        joints=collect_joints(study, prompts.default),
        evidence=study.evidence,
        notes=tuple(study.notes),
    )
    analysis = without_unknown_tokens(analysis)
    return replace(analysis, preserved_tokens=marker_cores(analysis))
