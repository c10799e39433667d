"""Probe conversations: what a chat template prints for messages that are full of needles."""

from __future__ import annotations

from autoparser_gen.probe.prober import Prober
from autoparser_gen.probe.turn import Options, Turn

__all__ = ["Options", "Prober", "Turn"]
