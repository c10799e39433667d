"""A chat template, and the renderer that asks it for conversations."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jinja2
import jinja2.nodes

from autoparser_gen.environment import parse_chat_template
from autoparser_gen.errors import ChatTemplateError
from autoparser_gen.limits import DEFAULT_LIMITS, Limits
from autoparser_gen.sandbox import Refusal, RenderProcess

# What stands for the special tokens that are not known: one private character each, which no real
# chat template prints, so that they can be told from the format and left out of what is written.
UNKNOWN_TOKENS = {"bos_token": "\ue0b0", "eos_token": "\ue0e0"}

Message = Mapping[str, Any]


@dataclass(frozen=True)
class ChatTemplate:
    """A chat template's text with the special tokens that it may print.

    `name` is the file's base name, `variant` the name of the template inside it ("" if it has
    only one). `tokens` maps names such as "eos_token" to their text. `origin` says in words where
    both were found, "" where that is plain. `special` holds the text of every token that a
    detokenizer drops by default, None where the source does not say.
    """

    name: str
    text: str
    variant: str = ""
    tokens: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""
    special: frozenset[str] | None = None

    @property
    def sha256(self) -> str:
        """Hash of the chat template's text, in hexadecimal."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


class Renderer:
    """Renders one chat template; results are kept, since phases ask for the same conversations."""

    def __init__(self, chat_template: ChatTemplate, limits: Limits = DEFAULT_LIMITS) -> None:
        """Parse the chat template.

        Raises ChatTemplateError where it is no valid Jinja, with file and line.
        """
        self.chat_template = chat_template
        self.renders = 0  # how often the chat template really ran
        self._limits = limits
        self._kept: dict[str, str | Refusal] = {}
        self.syntax = self._parse()

    def _parse(self) -> jinja2.nodes.Template:
        name = self.chat_template.name
        try:
            return parse_chat_template(self.chat_template.text)
        except jinja2.TemplateSyntaxError as error:
            raise ChatTemplateError(
                f"{name}:{error.lineno}: not a valid Jinja chat template: {error.message}"
            ) from error
        except RecursionError as error:
            raise ChatTemplateError(f"{name}: nested too deeply to compile") from error

    @functools.cached_property
    def _process(self) -> RenderProcess:
        template = self.chat_template
        try:
            return RenderProcess(template.name, template.text, self._limits)
        except Refusal as refusal:  # Python itself may refuse what Jinja made of it
            raise ChatTemplateError(f"{template.name}: cannot be compiled: {refusal}") from refusal

    def render(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool = False,
        options: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> str:
        """The prompt text for a conversation; options as a mapping, as keywords, or both.

        Raises ChatTemplateError with the chat template's own message where it refuses, and LimitError
        where a limit is reached.
        """
        variables = {
            **UNKNOWN_TOKENS,
            **self.chat_template.tokens,
            "documents": None,
            **(options or {}),
            **more,
            "messages": messages,
            "tools": tools,
            "add_generation_prompt": add_generation_prompt,
        }
        # json.dumps keeps the order of keys, which chat templates print.
        key = json.dumps(variables)
        if key not in self._kept:
            self._kept[key] = self._run(key)
        kept = self._kept[key]
        if isinstance(kept, Refusal):
            raise ChatTemplateError(f"{self.chat_template.name}: cannot render: {kept}") from kept
        return kept

    def try_render(self, messages: Sequence[Message], **options: Any) -> str | None:
        """Like render, but None where the chat template refuses; a limit that it reaches is an error."""
        try:
            return self.render(messages, **options)
        except ChatTemplateError:
            return None

    def close(self) -> None:
        """End the process that renders; another one starts where something new is asked for."""
        process = vars(self).pop("_process", None)
        if process is not None:
            process.close()

    def _run(self, variables: str) -> str | Refusal:
        self.renders += 1
        try:
            return self._process.render(variables)
        except Refusal as refusal:
            return refusal
