"""One self-contained HTML page about a format: no network, no scripts."""

from __future__ import annotations

from autoparser_gen.report.page import page

__all__ = ["page"]
