"""Printers: one module per target, each with the same signature."""
