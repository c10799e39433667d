"""Code that is copied unchanged into generated modules, between fences.

Each file here is real code: it is linted, typed and imported as itself. The tables above the
fence in `runtime.py` stand for those that a generated module has in their place.
"""
