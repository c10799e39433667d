"""Runs what was generated against the chat template's own renderings, before it is written."""

from __future__ import annotations

from autoparser_gen.verify.check import Report, is_two_messages, prompt_before, verify
from autoparser_gen.verify.subject import Subject, import_text

__all__ = ["Report", "Subject", "import_text", "is_two_messages", "prompt_before", "verify"]
