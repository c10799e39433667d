"""The end of a plugin for SGLang: both of its detectors over the generated parser."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sglang.srt.function_call import core_types
from sglang.srt.function_call.base_format_detector import BaseFormatDetector
from sglang.srt.function_call.function_call_parser import FunctionCallParser
from sglang.srt.parser import reasoning_parser

from autoparser_gen.emit.skeletons.messages import Delta
from autoparser_gen.emit.skeletons.parse import parse
from autoparser_gen.emit.skeletons.runtime import Parser
from autoparser_gen.emit.skeletons.split import (
    PROMPT_OF_CALLS,
    STREAM_ARGUMENTS,
    ReasoningSplit,
    tool_list,
)

PARSER_NAME = "toy"
REASONING_START = "<thought>"
REASONING_END = "</thought>"

# ==== Begin SGLang block (identical in every plugin for SGLang) ====


class GeneratedReasoningDetector(reasoning_parser.BaseReasoningFormatDetector):  # type: ignore[misc, unused-ignore]
    """Takes reasoning out of an output and leaves the rest, with its markup, to the other detector.

    Without another detector (`tool_call_parser_active`) markup of content is taken out here.
    """

    def __init__(
        self,
        stream_reasoning: bool = True,
        force_reasoning: bool | None = None,
        continue_final_message: bool = False,
        previous_content: str = "",
        force_nonempty_content: bool = False,
        tool_call_parser_active: bool = False,
    ) -> None:
        super().__init__(
            REASONING_START,
            REASONING_END,
            force_reasoning=bool(force_reasoning),
            stream_reasoning=stream_reasoning,
            continue_final_message=continue_final_message,
            previous_content=previous_content,
            force_nonempty_content=force_nonempty_content,
        )
        prompt = None if force_reasoning is None else REASONING_START if force_reasoning else ""
        self._may_swap = force_nonempty_content  # all of it was reasoning so far
        self._prompt = previous_content if continue_final_message else prompt
        self._split = ReasoningSplit(self._prompt)
        self._content = (
            None if tool_call_parser_active else Parser(tools=[], prompt=PROMPT_OF_CALLS)
        )
        self._held: list[str] = []  # reasoning, without stream_reasoning or where it may be content

    def detect_and_parse(self, text: str) -> Any:
        """See BaseReasoningFormatDetector."""
        pieces = [self.parse_streaming_increment(text), self.finish()]
        return reasoning_parser.StreamingParseResult(
            "".join(piece.normal_text for piece in pieces),
            "".join(piece.reasoning_text for piece in pieces),
        )

    def parse_streaming_increment(self, new_text: str) -> Any:
        """See BaseReasoningFormatDetector."""
        reasoning, rest = self._split.feed(new_text)
        later, content = self._read(rest)
        return self._result(reasoning + later, content, final=False)

    def finish(self) -> Any:
        """See BaseReasoningFormatDetector."""
        reasoning, rest = self._split.finish()
        later, content = self._read(rest)
        if self._content is not None:
            more = _texts(self._content.finish())
            later, content = later + more[0], content + more[1]
        return self._result(reasoning + later, content, final=True)

    def _read(self, rest: str) -> tuple[str, str]:
        return ("", rest) if self._content is None else _texts(self._content.feed(rest))

    def _result(self, reasoning: str, content: str, *, final: bool) -> Any:
        self._held.append(reasoning)
        if not (final or content) and (self._may_swap or not self.stream_reasoning):
            return reasoning_parser.StreamingParseResult()
        reasoning, self._held = "".join(self._held), []
        if content:
            self._may_swap = False
        if self._may_swap and final:
            return reasoning_parser.StreamingParseResult(reasoning, "")
        return reasoning_parser.StreamingParseResult(content, reasoning)


def _texts(deltas: Iterable[Delta]) -> tuple[str, str]:
    """The reasoning and the content of some changes."""
    found = list(deltas)
    return "".join(d.reasoning_content for d in found), "".join(d.content for d in found)


class GeneratedToolDetector(BaseFormatDetector):  # type: ignore[misc, unused-ignore]
    """Reads content and calls from what the reasoning detector leaves."""

    def __init__(self) -> None:
        super().__init__()
        self._parser: Parser | None = None

    def has_tool_call(self, text: str) -> bool:
        """Whether the text holds a complete call, or other markup: else SGLang takes it as it is."""
        message = parse(text, prompt=PROMPT_OF_CALLS)
        return bool(message.tool_calls) or message.content != text

    def detect_and_parse(self, text: str, tools: list[Any]) -> Any:
        """See BaseFormatDetector."""
        parser = _parser_for(tools)
        parser.feed(text)
        parser.finish()
        message = parser.message
        calls = [
            core_types.ToolCallItem(tool_index=index, name=call.name, parameters=call.arguments)
            for index, call in enumerate(message.tool_calls)
        ]
        return core_types.StreamingParseResult(normal_text=message.content, calls=calls)

    def parse_streaming_increment(self, new_text: str, tools: list[Any]) -> Any:
        """See BaseFormatDetector."""
        if self._parser is None:
            self._parser = _parser_for(tools)
        return self._result(self._parser.feed(new_text))

    def finish(self, tools: list[Any]) -> Any:
        """See BaseFormatDetector."""
        return self._result([] if self._parser is None else self._parser.finish())

    def supports_structural_tag(self) -> bool:
        """See BaseFormatDetector: calls are not always a begin, JSON and an end."""
        return False

    def parses_required_natively(self) -> bool:
        """See BaseFormatDetector: calls are read in the model's format also where one is demanded."""
        return True

    def structure_info(self) -> Any:
        """See BaseFormatDetector; not asked where structural tags are not supported."""
        raise NotImplementedError

    def _result(self, deltas: Iterable[Delta]) -> Any:
        content, calls = [], []
        for delta in deltas:
            content.append(delta.content)
            if delta.index is None or delta.retracted:
                continue
            if delta.name:
                self.prev_tool_call_arr.append({"name": delta.name, "arguments": ""})
                self.streamed_args_for_tool.append("")
                self.current_tool_id, self.current_tool_name_sent = delta.index, True
            self.streamed_args_for_tool[-1] += delta.arguments
            self.prev_tool_call_arr[-1]["arguments"] = self.streamed_args_for_tool[-1]
            calls.append(
                core_types.ToolCallItem(
                    tool_index=delta.index, name=delta.name or None, parameters=delta.arguments
                )
            )
        return core_types.StreamingParseResult(normal_text="".join(content), calls=calls)


def _parser_for(tools: Iterable[Any]) -> Parser:
    return Parser(tools=tool_list(tools), prompt=PROMPT_OF_CALLS, stream_arguments=STREAM_ARGUMENTS)


def register() -> None:
    """Make both detectors choices of the command line: the entry point in `sglang.srt.plugins`."""
    reasoning_parser.ReasoningParser.DetectorMap[PARSER_NAME] = GeneratedReasoningDetector
    FunctionCallParser.ToolCallParserEnum[PARSER_NAME] = GeneratedToolDetector


# ==== End SGLang block ====
