"""Engines that read our grammars, as oracles: each module is usable where its package is."""
