"""Runs what was generated against the chat template's own renderings, before it is written."""

from __future__ import annotations

from autoparser_gen.verify.cases import prompt_before, why_unlike_output
from autoparser_gen.verify.check import Report, verify
from autoparser_gen.verify.examples import verify_examples
from autoparser_gen.verify.grammars import check_grammar
from autoparser_gen.verify.start import grammar_text, with_types
from autoparser_gen.verify.subject import Subject, import_text

__all__ = [
    "Report",
    "Subject",
    "check_grammar",
    "grammar_text",
    "import_text",
    "prompt_before",
    "verify",
    "verify_examples",
    "why_unlike_output",
    "with_types",
]
