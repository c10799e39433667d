"""Words of the chat template itself, from Jinja's syntax tree: candidates for probes.

Nothing is concluded from them. A literal is planted in a message, a name is tried as a message's
key or as an option, and only the rendering tells whether it means anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import jinja2.meta
from jinja2 import nodes

from autoparser_gen.chat_template import UNKNOWN_TOKENS, Renderer

_GIVEN = {"messages", "tools", "add_generation_prompt", "documents", *UNKNOWN_TOKENS}
_MESSAGE_KEYS = {"role", "content", "tool_calls", "name", "id", "type", "function", "arguments"}
MAX_LITERALS = 120


def marker_literals(renderer: Renderer) -> list[str]:
    """String literals that could delimit something, shortest first."""
    found = {
        value
        for value in _constants(renderer.syntax)
        if isinstance(value, str)
        and 3 <= len(value) <= 60
        and re.search(r"[^\w\s.,'\"]", value)
        and value.strip()
    }
    return sorted(found, key=lambda text: (len(text), text))[:MAX_LITERALS]


def read_names(renderer: Renderer) -> list[str]:
    """Names of attributes and string keys that the chat template reads, sorted."""
    names = {node.attr for node in renderer.syntax.find_all(nodes.Getattr)}
    names |= {value for value in _constants(renderer.syntax) if isinstance(value, str)}
    return sorted(name for name in names - _MESSAGE_KEYS if name.isidentifier())


def option_values(renderer: Renderer) -> dict[str, list[Any]]:
    """Variables that a caller may pass, each with values worth trying."""
    syntax = renderer.syntax
    undeclared = jinja2.meta.find_undeclared_variables(syntax)
    found = list(syntax.find_all(nodes.Node))
    set_here = {name for node in found for name in _set_by(node)}
    tested = {name for node in found for name in _defaulted(node)}
    names = (undeclared - set_here) | (undeclared & tested)
    assert syntax.environment is not None
    names -= {*_GIVEN, *renderer.chat_template.tokens, *syntax.environment.globals}
    values: dict[str, list[Any]] = {name: [True, False] for name in sorted(names)}
    made_of = _made_of(found)
    for compared, value in _compared(found):
        for name in (compared, *made_of.get(compared, ())):
            if name in values and value not in values[name]:
                values[name].append(value)
    return values


def _made_of(syntax: Sequence[nodes.Node]) -> dict[str, list[str]]:
    """The variables that each variable's value is taken from, such as an option with its default."""
    found: dict[str, list[str]] = {}
    for assign in syntax:
        if isinstance(assign, nodes.Assign) and isinstance(assign.target, nodes.Name):
            sources = found.setdefault(assign.target.name, [])
            value = assign.node
            names = [value] if isinstance(value, nodes.Name) else value.find_all(nodes.Name)
            sources += [name.name for name in names]
    return found


def _defaulted(node: nodes.Node) -> list[str]:
    """The variable that a node asks for, where the chat template can do without it."""
    if not isinstance(node, (nodes.Test, nodes.Filter)) or not isinstance(node.node, nodes.Name):
        return []
    return [node.node.name] if node.name in ("defined", "undefined", "default", "d") else []


def _set_by(node: nodes.Node) -> list[str]:
    """The variable that a node gives a value to."""
    if isinstance(node, nodes.Macro):
        return [node.name]
    is_target = isinstance(node, nodes.Name) and node.ctx in ("store", "param")
    return [node.name] if is_target and isinstance(node, nodes.Name) else []


def _compared(syntax: Sequence[nodes.Node]) -> Iterator[tuple[str, Any]]:
    """(variable, constant) for every comparison of the two."""
    for compare in syntax:
        if not isinstance(compare, nodes.Compare) or not isinstance(compare.expr, nodes.Name):
            continue
        for operand in compare.ops:
            for value in _constants(operand):
                if isinstance(value, (str, int)):
                    yield compare.expr.name, value


def _constants(node: nodes.Node) -> Iterator[Any]:
    """Constants below a node. Looking for undeclared variables folds lists of them into one."""
    for constant in node.find_all(nodes.Const):
        value = constant.value
        yield from value if isinstance(value, (list, tuple)) else (value,)
