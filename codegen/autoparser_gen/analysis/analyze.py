"""The table of contents of the analysis: one call per phase."""

from __future__ import annotations

from dataclasses import replace

from autoparser_gen.analysis.capabilities import find_capabilities
from autoparser_gen.analysis.cleaning import tokens_to_preserve, without_unknown_tokens
from autoparser_gen.analysis.consistency import (
    inconsistent,
    require_no_needle,
    require_short_markers,
)
from autoparser_gen.analysis.content import analyze_content, find_end_of_turn
from autoparser_gen.analysis.evidence import complete_evidence
from autoparser_gen.analysis.headers import find_headers
from autoparser_gen.analysis.joints import collect_joints
from autoparser_gen.analysis.model import Analysis
from autoparser_gen.analysis.prompts import find_generation_prompts
from autoparser_gen.analysis.reasoning import analyze_reasoning
from autoparser_gen.analysis.study import Study
from autoparser_gen.analysis.tools import Known, analyze_tools
from autoparser_gen.errors import AutoparserError
from autoparser_gen.probe import Prober


def analyze(prober: Prober) -> Analysis:
    """Find the format of a chat template.

    Raises AnalysisError or ChatTemplateError, never another exception.
    """
    study = Study(prober)
    try:
        return _finished(study, _analyze(study))
    except AutoparserError:
        raise
    except Exception as error:  # a stranger's template may render anything
        raise inconsistent(study, f"{type(error).__name__}: {error}") from error


def _analyze(study: Study) -> Analysis:
    reasoning = analyze_reasoning(study)  # R1 to R3
    end = find_end_of_turn(study)
    content = analyze_content(study, reasoning, end)  # C1
    headers = find_headers(study, reasoning, content, end.text)
    calls = analyze_tools(study, Known(reasoning, content, headers, end))  # T1 to T7
    prompts = find_generation_prompts(study, reasoning)
    chat_template = study.prober.renderer.chat_template
    return Analysis(
        source=chat_template.name,
        sha256=chat_template.sha256,
        capabilities=find_capabilities(study, reasoning, end.text),
        reasoning=reasoning,
        content=content,
        tools=calls.tools,
        generation_prompts=prompts,
        assistant_header=study.header,
        end_of_turn=end.text.strip(),
        end_of_turn_after_calls=calls.end_after_calls,
        headers=headers,
        joints=collect_joints(study, prompts.default),
        evidence=study.evidence,
        notes=tuple(study.notes),
    )


def _finished(study: Study, analysis: Analysis) -> Analysis:
    """The analysis without what belongs to the probes, with what follows from its fields."""
    analysis = require_short_markers(study, require_no_needle(study, analysis))
    analysis = without_unknown_tokens(analysis)
    return replace(
        analysis,
        preserved_tokens=tokens_to_preserve(analysis, study.prober.renderer.chat_template.special),
        evidence=complete_evidence(analysis),
    )
