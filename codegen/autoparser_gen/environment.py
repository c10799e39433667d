"""Jinja as Hugging Face's `apply_chat_template` sets it up."""

from __future__ import annotations

import datetime
import functools
import json
from collections.abc import Callable
from typing import Any

import jinja2
import jinja2.exceptions
import jinja2.ext
import jinja2.nodes
import jinja2.parser
import jinja2.sandbox

# The clock that `strftime_now` shows: fixed, so that output depends on the chat template alone.
CLOCK = datetime.datetime(2026, 1, 2, 3, 4, 5)


class TooLong(Exception):
    """A rendering is longer than it may be."""


class GenerationBlock(jinja2.ext.Extension):
    """`{% generation %}...{% endgeneration %}`: marks the assistant's text for training; prints its body."""

    tags = {"generation"}

    def parse(self, parser: jinja2.parser.Parser) -> jinja2.nodes.Node:
        lineno = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        # A macro call keeps the body's own scope, as transformers' extension does.
        call = self.call_method("_body")
        return jinja2.nodes.CallBlock(call, [], [], body).set_lineno(lineno)

    def _body(self, caller: Callable[[], str]) -> str:
        return caller()


def _raise_exception(message: str) -> None:
    raise jinja2.TemplateError(message)


def _tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    # As in transformers: no HTML escaping, unlike Jinja's own filter.
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def _environment(
    base: type[jinja2.sandbox.SandboxedEnvironment],
) -> jinja2.sandbox.SandboxedEnvironment:
    environment = base(
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=[GenerationBlock, jinja2.ext.loopcontrols],
    )
    environment.filters["tojson"] = _tojson
    # Not in transformers, but several chat templates parse string arguments with one of these.
    environment.filters["from_json"] = environment.filters["fromjson"] = json.loads
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = CLOCK.strftime
    return environment


def parse_chat_template(text: str) -> jinja2.nodes.Template:
    """The chat template's syntax; nothing of it is evaluated. Raises what Jinja raises."""
    return _environment(jinja2.sandbox.ImmutableSandboxedEnvironment).parse(text)


class CompiledChatTemplate:
    """A chat template compiled for Jinja's strict sandbox, and for the one that lets lists change.

    Raises what Jinja raises.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._strict = _environment(jinja2.sandbox.ImmutableSandboxedEnvironment).from_string(text)

    @functools.cached_property
    def _mutable(self) -> jinja2.Template:
        # Few chat templates append to lists, so most are compiled once.
        return _environment(jinja2.sandbox.SandboxedEnvironment).from_string(self._text)

    def render(self, variables: bytes, limit: int) -> str:
        """The text of the first sandbox that allows what the chat template does.

        `variables` is a JSON object. Raises TooLong beyond `limit` characters, and whatever the
        chat template raises.
        """
        try:
            return _render(self._strict, variables, limit)
        except jinja2.exceptions.SecurityError:
            return _render(self._mutable, variables, limit)


def _render(template: jinja2.Template, variables: bytes, limit: int) -> str:
    pieces, length = [], 0
    # Decoded each time: a chat template may change the messages that it is given.
    for piece in template.generate(**json.loads(variables)):
        length += len(piece)
        if length > limit:
            raise TooLong
        pieces.append(piece)
    return "".join(pieces)
