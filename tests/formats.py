"""Formats written down by hand, one for each way in which a call can be put together."""

from __future__ import annotations

from typing import Any

from autoparser_gen.analysis.model import (
    Analysis,
    Arguments,
    CallId,
    CallIdPosition,
    Capabilities,
    Content,
    ContentMode,
    Function,
    GenerationPrompts,
    Headers,
    LiteralSyntax,
    Reasoning,
    ReasoningMode,
    ToolFormat,
    ToolMode,
    Tools,
    ValueSyntax,
)

PARALLEL = Capabilities(supports_tool_calls=True, supports_parallel_tool_calls=True)
THINK = Reasoning(ReasoningMode.TAG_BASED, "<think>\n", "\n</think>\n\n")


def _format(name: str, tools: Tools, **fields: Any) -> Analysis:
    values: dict[str, Any] = {"capabilities": PARALLEL, **fields}
    return Analysis(source=f"{name}.jinja", sha256="", tools=tools, **values)


JSON_IN_TAGS = _format(
    "json in tags",
    Tools(
        ToolFormat(
            ToolMode.JSON_NATIVE,
            per_call_start="<tool_call>\n",
            per_call_end="\n</tool_call>",
            name_field="name",
            args_field="arguments",
        )
    ),
    reasoning=THINK,
    generation_prompts=GenerationPrompts(
        default="<|im_start|>assistant\n",
        thinking="<|im_start|>assistant\n<think>\n",
        no_thinking="<|im_start|>assistant\n<think>\n\n</think>\n\n",
    ),
    end_of_turn="<|im_end|>",
    preserved_tokens=("<think>", "</think>", "<tool_call>", "</tool_call>"),
)

JSON_ARRAY = _format(
    "json array",
    Tools(
        ToolFormat(
            ToolMode.JSON_NATIVE,
            section_start="[TOOL_CALLS]",
            name_field="name",
            args_field="arguments",
            id_field="id",
            tools_array_wrapped=True,
        )
    ),
)

WRAPPED_CONTENT = _format(
    "wrapped content",
    Tools(
        ToolFormat(
            ToolMode.JSON_NATIVE,
            section_start="<|START_ACTION|>",
            section_end="<|END_ACTION|>",
            name_field="tool_name",
            args_field="parameters",
            gen_id_field="tool_call_id",
            tools_array_wrapped=True,
        )
    ),
    reasoning=Reasoning(ReasoningMode.TOOLS_ONLY, "<|START_THINKING|>", "<|END_THINKING|>"),
    content=Content(ContentMode.ALWAYS_WRAPPED, "<|START_RESPONSE|>", "<|END_RESPONSE|>"),
)

BARE_JSON = _format(
    "bare json",
    Tools(ToolFormat(ToolMode.JSON_NATIVE, name_field="name", args_field="parameters")),
    capabilities=Capabilities(supports_tool_calls=True),
)

NAME_AS_KEY = _format(
    "name as key",
    Tools(
        ToolFormat(
            ToolMode.JSON_NATIVE,
            section_start="<|tools_prefix|>",
            section_end="<|tools_suffix|>",
            fun_name_is_key=True,
            tools_array_wrapped=True,
        )
    ),
)

JSON_IN_A_STRING = _format(
    "json in a string",
    Tools(
        ToolFormat(
            ToolMode.JSON_NATIVE,
            section_start="functools",
            name_field="name",
            args_field="arguments",
            tools_array_wrapped=True,
            arguments_as_string=True,
        )
    ),
)

WHOLE_OBJECT = _format(
    "whole object",
    Tools(
        ToolFormat(
            ToolMode.JSON_NATIVE,
            section_start="<tool_call>\n",
            section_end="\n</tool_call>",
            function_field="function",
            name_field="name",
            args_field="arguments",
            id_field="id",
            tools_array_wrapped=True,
        )
    ),
)

TAG_WITH_JSON = _format(
    "tag with json",
    Tools(
        ToolFormat(
            ToolMode.TAG_WITH_JSON,
            section_start="<｜tool▁calls▁begin｜>",
            section_end="<｜tool▁calls▁end｜>",
            per_call_start="<｜tool▁call▁begin｜>",
            per_call_end="<｜tool▁call▁end｜>",
        ),
        Function(name_suffix="<｜tool▁sep｜>"),
    ),
)

ID_CARRIES_NAME = _format(
    "id carries name",
    Tools(
        ToolFormat(
            ToolMode.TAG_WITH_JSON,
            section_start="<|tool_calls_section_begin|>",
            section_end="<|tool_calls_section_end|>",
            per_call_start="<|tool_call_begin|>",
            per_call_end="<|tool_call_end|>",
        ),
        Function(name_suffix="<|tool_call_argument_begin|>"),
        call_id=CallId(CallIdPosition.CARRIES_NAME, "functions.", ":"),
    ),
)

ID_BETWEEN = _format(
    "id between",
    Tools(
        ToolFormat(ToolMode.TAG_WITH_JSON, per_call_start="[TOOL_CALLS]"),
        Function(),
        Arguments(start="[ARGS]"),
        CallId(CallIdPosition.BETWEEN_FUNC_AND_ARGS, "[CALL_ID]"),
    ),
    capabilities=Capabilities(
        supports_tool_calls=True,
        supports_parallel_tool_calls=True,
        call_id_shape="alphanumeric9",
    ),
)

RAW_VALUES = _format(
    "raw values",
    Tools(
        ToolFormat(
            ToolMode.TAG_WITH_TAGGED,
            per_call_start="<tool_call>\n",
            per_call_end="\n</tool_call>",
        ),
        Function("<function=", ">\n", "\n</function>"),
        Arguments(
            name_prefix="<parameter=",
            name_suffix=">\n",
            value_suffix="\n</parameter>",
            separator="\n",
            value_syntax=ValueSyntax.RAW,
            python_words=True,
        ),
    ),
)

KEYS_AND_VALUES = _format(
    "keys and values",
    Tools(
        ToolFormat(
            ToolMode.TAG_WITH_TAGGED, per_call_start="<tool_call>", per_call_end="\n</tool_call>"
        ),
        Function(name_suffix="\n"),
        Arguments(
            name_prefix="<arg_key>",
            name_suffix="</arg_key>\n",
            value_prefix="<arg_value>",
            value_suffix="</arg_value>",
            separator="\n",
            value_syntax=ValueSyntax.RAW,
        ),
    ),
    reasoning=Reasoning(ReasoningMode.TAG_BASED, "<think>", "</think>\n"),
)

SECTION_OF_TAGS = _format(
    "section of tags",
    Tools(
        ToolFormat(
            ToolMode.TAG_WITH_TAGGED,
            section_start="<minimax:tool_call>\n",
            section_end="\n</minimax:tool_call>",
        ),
        Function('<invoke name="', '">\n', "\n</invoke>"),
        Arguments(
            name_prefix='<parameter name="',
            name_suffix='">',
            value_suffix="</parameter>",
            separator="\n",
            value_syntax=ValueSyntax.RAW,
        ),
    ),
    reasoning=THINK,
    generation_prompts=GenerationPrompts(default="]~b]ai\n<think>\n"),
)

TYPES_IN_TAGS = _format(
    "types in tags",
    Tools(
        ToolFormat(
            ToolMode.TAG_WITH_TAGGED,
            section_start="<｜DSML｜tool_calls>\n",
            section_end="\n</｜DSML｜tool_calls>",
        ),
        Function('<｜DSML｜invoke name="', '">\n', "\n</｜DSML｜invoke>"),
        Arguments(
            name_prefix='<｜DSML｜parameter name="',
            value_prefix='">',
            value_suffix="</｜DSML｜parameter>",
            separator="\n",
            value_syntax=ValueSyntax.RAW,
            type_prefix='" string="',
            types=(("true", "string"), ("false", "json")),
        ),
    ),
)

NESTED_TAGS = _format(
    "nested tags",
    Tools(
        ToolFormat(
            ToolMode.TAG_WITH_TAGGED,
            section_start="]<]minimax[>[<tool_call>\n",
            section_end="\n]<]minimax[>[</tool_call>",
        ),
        Function(']<]minimax[>[<invoke name="', '">', "]<]minimax[>[</invoke>"),
        Arguments(
            name_prefix="]<]minimax[>[<",
            name_suffix=">",
            value_suffix="]<]minimax[>[</{key}>",
            value_syntax=ValueSyntax.NESTED_TAGS,
            item_tag="item",
        ),
    ),
)

CUSTOM_QUOTES = _format(
    "custom quotes",
    Tools(
        ToolFormat(
            ToolMode.TAG_WITH_LITERAL, per_call_start="<|tool_call>", per_call_end="<tool_call|>"
        ),
        Function("call:"),
        Arguments(
            start="{",
            end="}",
            name_suffix=":",
            separator=",",
            literals=LiteralSyntax(quotes=('<|"|>',), escapes=False, quoted_keys=False),
        ),
    ),
)

PYTHON_LIST = _format(
    "python list",
    Tools(
        ToolFormat(
            ToolMode.PYTHON_CALLS,
            section_start="<|tool_call_start|>",
            section_end="<|tool_call_end|>",
            call_separator=", ",
            tools_array_wrapped=True,
        ),
        Function(name_suffix="(", close=")"),
        Arguments(
            name_suffix="=",
            separator=", ",
            python_words=True,
            literals=LiteralSyntax(quotes=("'",), escapes=False, python_words=True),
        ),
    ),
)

PYTHON_BARE = _format(
    "python bare",
    Tools(
        ToolFormat(ToolMode.PYTHON_CALLS, call_separator=", ", tools_array_wrapped=True),
        Function(name_suffix="(", close=")"),
        Arguments(
            name_suffix="=",
            separator=", ",
            python_words=True,
            literals=LiteralSyntax(escapes=False, python_words=True, bare_strings=True),
        ),
    ),
)

PYTHON_LINES = _format(
    "python lines",
    Tools(
        ToolFormat(
            ToolMode.PYTHON_CALLS,
            section_start="<function_calls>",
            section_end="</function_calls>",
        ),
        Function(name_suffix="(", close=")"),
        Arguments(name_suffix="=", separator=", ", literals=LiteralSyntax()),
    ),
)

CHANNELS = _format(
    "channels",
    Tools(
        ToolFormat(ToolMode.TAG_WITH_JSON),
        Function("to=functions.", "<|channel|>commentary json<|message|>"),
    ),
    reasoning=Reasoning(ReasoningMode.TAG_BASED, "<|channel|>analysis<|message|>", "<|end|>"),
    content=Content(ContentMode.ALWAYS_WRAPPED, "<|channel|>final<|message|>"),
    capabilities=Capabilities(supports_tool_calls=True),
    end_of_turn="<|return|>",
    end_of_turn_after_calls="<|call|>",
    headers=Headers(
        start="<|start|>assistant",
        channel="<|channel|>",
        end="<|message|>",
        message_end="<|end|>",
        reasoning="analysis",
        content="final",
        preamble="commentary",
        recipient=" to=",
        namespace="functions.",
        content_type=" json",
    ),
)

RECIPIENTS = _format(
    "recipients",
    Tools(ToolFormat(ToolMode.TAG_WITH_JSON), Function(">>>", "\n")),
    content=Content(ContentMode.ALWAYS_WRAPPED, ">>>all\n"),
    headers=Headers(start=">>>", end="\n", content="all"),
)

FORMATS = {
    analysis.source.removesuffix(".jinja"): analysis
    for analysis in list(globals().values())
    if isinstance(analysis, Analysis)
}
