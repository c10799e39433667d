"""The end of a plugin for vLLM: both of its parsers over the generated one."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from vllm.entrypoints.generate.base import protocol
from vllm.reasoning import ReasoningParser, ReasoningParserManager
from vllm.tool_parsers import ToolParser, ToolParserManager

from autoparser_gen.emit.skeletons.messages import Delta
from autoparser_gen.emit.skeletons.parse import parse
from autoparser_gen.emit.skeletons.runtime import ASSISTANT_HEADER, Parser
from autoparser_gen.emit.skeletons.split import (
    PROMPT_OF_CALLS,
    STREAM_ARGUMENTS,
    ReasoningSplit,
    _split,
    tool_list,
)

PARSER_NAME = "toy"
REASONING_START = "<thought>"
REASONING_END = "</thought>"

# ==== Begin vLLM block (identical in every plugin for vLLM) ====

_PROMPT_TAIL = 256  # tokens of a prompt in which the assistant's header is looked for first


def _make_id() -> str:
    return f"call_{uuid.uuid4().hex[:24]}"


def _tools_of(request: Any) -> list[dict[str, Any]]:
    """The tools whose calls are to be read, as OpenAI's list; none with `tool_choice: none`."""
    if request is None or not request.tools or request.tool_choice == "none":
        return []
    return tool_list(request.tools)


def _delta_message(deltas: Iterable[Delta]) -> Any:
    """One DeltaMessage of several changes; None where there is nothing to send."""
    content, reasoning = [], []
    calls: dict[int, Any] = {}
    for delta in deltas:
        content.append(delta.content)
        reasoning.append(delta.reasoning_content)
        if delta.index is not None and not delta.retracted:
            call = calls.get(delta.index)
            if call is None:
                function = protocol.DeltaFunctionCall(arguments="")
                call = protocol.DeltaToolCall(index=delta.index, function=function)
                calls[delta.index] = call
            if delta.name:
                call.type, call.function.name = "function", delta.name
            call.id = delta.id or call.id
            call.function.arguments += delta.arguments
    fields = {"content": "".join(content), "reasoning": "".join(reasoning)}
    given: dict[str, Any] = {name: text for name, text in fields.items() if text}
    if calls:
        given["tool_calls"] = list(calls.values())
    return protocol.DeltaMessage(**given) if given else None


def _keep_special_tokens(request: Any) -> Any:
    """Let markers that are special tokens reach the parsers."""
    request.skip_special_tokens = False
    return request


class GeneratedReasoningParser(ReasoningParser):  # type: ignore[misc, unused-ignore]
    """Takes reasoning out of an output and leaves the rest, with its markup, to the tool parser.

    Reasoning that never closes ends at the call which ends the output.
    """

    # vLLM then asks has_engine_confirmed_reasoning_end() whether reasoning is over and calls
    # finish_streaming() at the end of the output, which no other parsers are told of.
    engine_based_streaming = True

    def __init__(self, tokenizer: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(tokenizer, *args, **kwargs)
        self._prompt: str | None = None
        self._split: ReasoningSplit | None = None
        self._text: list[str] = []
        self._sent = 0  # characters of reasoning
        self._request: Any = None

    @property
    def reasoning_start_str(self) -> str | None:
        """What opens reasoning, if it is always the same."""
        return REASONING_START or None

    @property
    def reasoning_end_str(self) -> str | None:
        """What closes reasoning, if it is always the same."""
        return REASONING_END or None

    def adjust_request(self, request: Any) -> Any:
        """See ReasoningParser."""
        return _keep_special_tokens(request)

    def set_prompt_token_ids(self, prompt_token_ids: Sequence[int]) -> None:
        """See ReasoningParser."""
        self._prompt = self._turn_in(prompt_token_ids)

    def extract_reasoning(self, model_output: str, request: Any) -> tuple[str | None, str | None]:
        """See ReasoningParser."""
        message = parse(model_output, prompt=self._prompt, tools=_tools_of(request))
        _, rest = _split(model_output, self._prompt)
        return message.reasoning_content or None, rest or None

    def extract_reasoning_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
    ) -> Any:
        """See ReasoningParser. Reads `delta_text` alone: what came before is known."""
        if self._split is None:
            self._split = ReasoningSplit(self._prompt)
        self._text.append(delta_text)
        reasoning, rest = self._split.feed(delta_text)
        self._sent += len(reasoning)
        return _delta_message([Delta(reasoning_content=reasoning), Delta(content=rest)])

    def has_engine_confirmed_reasoning_end(self) -> bool:
        """Whether what follows in the output is the tool parser's."""
        return self._split is not None and self._split.over

    def get_streaming_fallback_content(self, text: str, request: Any) -> None:
        """At the end of an output whose reasoning never closed: tells the request."""
        self._request = request

    def finish_streaming(self) -> Any:
        """What is left of an output whose reasoning never closed: the calls that end it, too."""
        if self._split is None or self._split.over:
            return None
        tools, sent = _tools_of(self._request), self._sent
        parser = Parser(prompt=self._prompt, tools=tools, stream_arguments=False, make_id=_make_id)
        deltas = [*parser.feed("".join(self._text)), *parser.finish()]
        left = []
        for delta in deltas:
            if delta.reasoning_content:
                text = delta.reasoning_content[sent:]
                sent = max(0, sent - len(delta.reasoning_content))
                delta = Delta(reasoning_content=text)
            left.append(delta)
        return _delta_message(left)

    def is_reasoning_end(self, input_ids: Sequence[int]) -> bool:
        """See ReasoningParser: whether reasoning is over where these tokens end."""
        split = ReasoningSplit("")
        split.feed(self._turn_in(input_ids).removeprefix(ASSISTANT_HEADER))
        return split.closed

    def is_reasoning_end_streaming(
        self, input_ids: Sequence[int], delta_ids: Iterable[int]
    ) -> bool:
        """See ReasoningParser: whether the closer of reasoning ends in the last tokens."""
        new, closer = len(list(delta_ids)), REASONING_END.strip()
        if not closer:
            return self.is_reasoning_end(input_ids)
        tail = list(input_ids[-(new + len(closer)) :])  # a token has a character at least
        before = self._decode(tail[: len(tail) - new])
        return self._decode(tail).count(closer) > before.count(closer)

    def extract_content_ids(self, input_ids: list[int]) -> list[int]:
        """See ReasoningParser: the tokens behind the reasoning, none while it is open."""
        at = self._reasoning_tokens(input_ids)
        return [] if at is None else list(input_ids[at:])

    def count_reasoning_tokens(self, token_ids: Sequence[int]) -> int:
        """See ReasoningParser. Markers count as reasoning."""
        at = self._reasoning_tokens(token_ids)
        return len(token_ids) if at is None else at

    def _reasoning_tokens(self, ids: Sequence[int]) -> int | None:
        """How many tokens an output's reasoning has; None where nothing follows it."""
        text = self._decode(ids)
        reasoning, rest = _split(text, self._prompt)
        if not rest:
            return None if reasoning else 0
        low, high, end = 0, len(ids), len(text) - len(rest)
        while low < high:  # the first place up to which there is all of it
            middle = (low + high) // 2
            if len(self._decode(ids[:middle])) < end:
                low = middle + 1
            else:
                high = middle
        return low

    def _turn_in(self, ids: Sequence[int]) -> str:
        """The text of the turn that is open where these tokens end, with its header."""
        tail = self._decode(ids[-_PROMPT_TAIL:])
        if len(ids) > _PROMPT_TAIL and ASSISTANT_HEADER not in tail:
            tail = self._decode(ids)
        return tail[max(0, tail.rfind(ASSISTANT_HEADER)) :]

    def _decode(self, ids: Sequence[int]) -> str:
        text: str = self.model_tokenizer.decode(list(ids), skip_special_tokens=False)
        return text


class GeneratedToolParser(ToolParser):  # type: ignore[misc, unused-ignore]
    """Reads content and calls from what the reasoning parser leaves."""

    # Calls are read in the format of the model also where the request demands one.
    supports_required_and_named = False
    engine_based_streaming = True
    # vLLM sets it where no reasoning parser is configured: reasoning then stays in the content.
    skip_reasoning_parsing = False

    def __init__(self, tokenizer: Any, tools: Any = None) -> None:
        super().__init__(tokenizer, tools)
        self._parser: Parser | None = None

    def adjust_request(self, request: Any) -> Any:
        """See ToolParser."""
        return _keep_special_tokens(request)

    def extract_tool_calls(self, model_output: str, request: Any) -> Any:
        """See ToolParser."""
        parser = self._parser_for(request)
        parser.feed(model_output)
        parser.finish()
        message = parser.message
        calls = [
            protocol.ToolCall(
                id=call.id,
                function=protocol.FunctionCall(
                    id=call.id, name=call.name, arguments=call.arguments
                ),
            )
            for call in message.tool_calls
        ]
        return protocol.ExtractedToolCallInformation(
            tools_called=bool(calls), tool_calls=calls, content=message.content or None
        )

    def extract_tool_calls_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
        request: Any,
    ) -> Any:
        """See ToolParser. Reads `delta_text` alone: what came before is known."""
        if self._parser is None:
            self._parser = self._parser_for(request)
        return _delta_message(self._parser.feed(delta_text))

    def finish_streaming(self) -> Any:
        """What was held back, at the end of the output."""
        return None if self._parser is None else _delta_message(self._parser.finish())

    def _parser_for(self, request: Any) -> Parser:
        return Parser(
            tools=_tools_of(request),
            prompt=PROMPT_OF_CALLS,
            reasoning=not self.skip_reasoning_parsing,
            stream_arguments=STREAM_ARGUMENTS,
            make_id=_make_id,
        )


ReasoningParserManager.register_module(PARSER_NAME, module=GeneratedReasoningParser)
ToolParserManager.register_module(PARSER_NAME, module=GeneratedToolParser)

# ==== End vLLM block ====
