"""The format of small chat templates, one for each kind of format; none has a vendor's markers."""

from __future__ import annotations

import functools
from enum import Enum
from typing import Any

import pytest

from autoparser_gen.analysis import Analysis, analyze
from autoparser_gen.chat_template import ChatTemplate, Renderer
from autoparser_gen.errors import AnalysisError, ChatTemplateError
from autoparser_gen.probe import Prober


def chat(body: str, prompt: str = "", end: str = "<end>\n", before: str = "") -> str:
    """A chat template with headers `<role>`; `body` prints an assistant's message `m`.

    `~` stands for a line end, which Jinja's own trimming must not take.
    """
    text = (
        before
        + "{%- for m in messages -%}<{{ m.role }}>\n"
        + "{%- if m.role == 'assistant' -%}{{ '\n' }}"
        + body
        + f"{{{{ {end!r} }}}}"
        + "{%- else -%}{{ '\n' + m.content + '<end>\n' }}{%- endif -%}"
        + "{%- endfor -%}"
        + "{%- if add_generation_prompt -%}<assistant>{{ '\n' }}"
        + prompt
        + "{%- endif -%}"
    )
    return text.replace("~", "{{ '\n' }}")


def each_call(printed: str, between: str = "") -> str:
    """Print every call `c`, with text between two of them."""
    glue = f"{{%- if not loop.last -%}}{{{{ {between!r} }}}}{{%- endif -%}}" if between else ""
    return (
        "{%- for t in m.tool_calls or [] -%}{%- set c = t.function -%}"
        + printed
        + glue
        + "{%- endfor -%}"
    )


CONTENT = "{{ m.content or '' }}"
REASONING = "{%- if m.reasoning_content -%}<r>~{{ m.reasoning_content }}~</r>~~{%- endif -%}"
JSON_CALL = """{"name": "{{ c.name }}", "arguments": {{ c.arguments | tojson }}}"""


def find(text: str, **tokens: str) -> Analysis:
    return analyze(Prober(Renderer(ChatTemplate("small.jinja", text, tokens=tokens))))


def check(analysis: Analysis, expected: dict[str, Any]) -> None:
    found = {}
    for path in expected:
        value: Any = functools.reduce(getattr, path.split("."), analysis)
        found[path] = value.value if isinstance(value, Enum) else value
    assert found == expected


JSON_FORMATS: dict[str, tuple[str, dict[str, Any]]] = {
    "one object in each pair of tags": (
        CONTENT + each_call("<call>~" + JSON_CALL + "~</call>", "\n"),
        {
            "tools.format.per_call_start": "<call>\n",
            "tools.format.per_call_end": "\n</call>",
            "tools.format.section_start": "",
            "tools.format.call_separator": "",
            "tools.format.name_field": "name",
            "tools.format.args_field": "arguments",
            "tools.format.tools_array_wrapped": False,
            "capabilities.supports_parallel_tool_calls": True,
        },
    ),
    "arguments before the name": (
        CONTENT + each_call('<c>{"input": {{ c.arguments | tojson }}, "tool": "{{ c.name }}"}</c>'),
        {
            "tools.format.per_call_start": "<c>",
            "tools.format.name_field": "tool",
            "tools.format.args_field": "input",
        },
    ),
    "a section around pairs of tags": (
        CONTENT
        + "{%- if m.tool_calls -%}<calls>~"
        + each_call("<call>" + JSON_CALL + "</call>~")
        + "</calls>{%- endif -%}",
        {
            "tools.format.section_start": "<calls>\n",
            "tools.format.section_end": "\n</calls>",
            "tools.format.per_call_start": "<call>",
            "tools.format.per_call_end": "</call>",
        },
    ),
    "an array behind a marker, with ids": (
        CONTENT
        + "{%- if m.tool_calls -%}[CALLS]["
        + "{%- for t in m.tool_calls -%}"
        + '{"name": "{{ t.function.name }}", "arguments": {{ t.function.arguments | tojson }},'
        + ' "id": "{{ t.id }}"}{{ ", " if not loop.last }}{%- endfor -%}]{%- endif -%}',
        {
            "tools.format.section_start": "[CALLS]",
            "tools.format.section_end": "",
            "tools.format.tools_array_wrapped": True,
            "tools.format.id_field": "id",
        },
    ),
    "an array with numbers for ids": (
        CONTENT
        + "{%- if m.tool_calls -%}<act>[~"
        + "{%- for t in m.tool_calls -%}"
        + '    {"nr": "{{ loop.index0 }}", "tool": "{{ t.function.name }}",'
        + ' "input": {{ t.function.arguments | tojson }}}{{ ",\\n" if not loop.last }}'
        + "{%- endfor -%}~]</act>{%- endif -%}",
        {
            "tools.format.section_start": "<act>",
            "tools.format.section_end": "</act>",
            "tools.format.gen_id_field": "nr",
            "tools.format.name_field": "tool",
            "tools.format.args_field": "input",
        },
    ),
    "no marker at all": (
        "{%- if m.tool_calls and m.tool_calls | length > 1 -%}"
        "{{ raise_exception('one call at a time') }}{%- endif -%}"
        + "{%- if not m.tool_calls -%}{{ m.content }}{%- endif -%}"
        + each_call(JSON_CALL),
        {
            "tools.format.section_start": "",
            "tools.format.per_call_start": "",
            "tools.format.name_field": "name",
            "capabilities.supports_parallel_tool_calls": False,
            "capabilities.renders_content_beside_calls": False,
        },
    ),
    "the name as key": (
        CONTENT + each_call('<c>{"{{ c.name }}": {{ c.arguments | tojson }}}</c>'),
        {
            "tools.format.fun_name_is_key": True,
            "tools.format.name_field": "",
            "tools.format.args_field": "",
        },
    ),
    "the whole call printed": (
        CONTENT
        + "{%- if m.tool_calls -%}<c>{{ m.tool_calls | tojson(indent=2) }}</c>{%- endif -%}",
        {
            "tools.format.function_field": "function",
            "tools.format.name_field": "name",
            "tools.format.args_field": "arguments",
            "tools.format.id_field": "id",
            "tools.format.tools_array_wrapped": True,
            "tools.format.section_start": "<c>",
        },
    ),
    "arguments as JSON text in a string": (
        CONTENT
        + each_call(
            '<c>{"name": "{{ c.name }}", "arguments": {{ c.arguments | tojson | tojson }}}</c>'
        ),
        {"tools.format.arguments_as_string": True, "tools.format.args_field": "arguments"},
    ),
    "an array in an object": (
        CONTENT
        + '{%- if m.tool_calls -%}{"calls": ['
        + each_call(JSON_CALL, ", ")
        + "]}{%- endif -%}",
        {
            "tools.format.section_start": '{"calls": ',
            "tools.format.section_end": "}",
            "tools.format.tools_array_wrapped": True,
        },
    ),
    "no marker, and the tag that is kept for other calls": (
        CONTENT + each_call("{{ '<|python_tag|>' + c.code if c.code }}" + JSON_CALL),
        {"tools.format.per_call_start": "", "tools.format.optional_start": "<|python_tag|>"},
    ),
    "a marker, where that tag says nothing": (
        CONTENT + each_call("{{ '<|python_tag|>' + c.code if c.code }}<c>" + JSON_CALL),
        {"tools.format.per_call_start": "<c>", "tools.format.optional_start": ""},
    ),
    "no marker, words between calls": (
        CONTENT + each_call(JSON_CALL, "; "),
        {"tools.format.per_call_start": "", "tools.format.call_separator": "; "},
    ),
    "each call in an array of its own": (
        CONTENT + each_call("<c>[" + JSON_CALL + "]</c>", "\n"),
        {
            "tools.format.per_call_start": "<c>",
            "tools.format.per_call_end": "</c>",
            "tools.format.tools_array_wrapped": True,
        },
    ),
}


@pytest.mark.parametrize("kind", JSON_FORMATS)
def test_calls_that_are_json(kind: str) -> None:
    body, expected = JSON_FORMATS[kind]
    check(find(chat(body)), {"tools.format.mode": "JSON_NATIVE", **expected})


ARGUMENTS_JSON: dict[str, tuple[str, dict[str, Any]]] = {
    "the name in a tag": (
        each_call("<fn={{ c.name }}>{{ c.arguments | tojson }}</fn>"),
        {
            "tools.function.name_prefix": "<fn=",
            "tools.function.name_suffix": ">",
            "tools.function.close": "</fn>",
        },
    ),
    "a section, words, a fence": (
        "{%- if m.tool_calls -%}<|calls|>"
        + each_call(
            "<|call|>function<|sep|>{{ c.name }}~```json~{{ c.arguments | tojson }}~```<|/call|>",
            "\n",
        )
        + "<|/calls|>{%- endif -%}",
        {
            "tools.format.section_start": "<|calls|>",
            "tools.format.section_end": "<|/calls|>",
            "tools.format.per_call_start": "<|call|>",
            "tools.format.per_call_end": "<|/call|>",
            "tools.function.name_prefix": "function<|sep|>",
            "tools.function.name_suffix": "\n```json\n",
            "tools.function.close": "\n```",
        },
    ),
    "an id before the name": (
        "{%- for t in m.tool_calls or [] -%}<|b|>{{ t.id }}<|n|>{{ t.function.name }}<|a|>"
        "{{ t.function.arguments | tojson }}<|e|>{%- endfor -%}",
        {
            "tools.format.per_call_start": "<|b|>",
            "tools.call_id.pos": "PRE_FUNC_NAME",
            "tools.call_id.prefix": "",
            "tools.call_id.suffix": "<|n|>",
            "tools.function.name_suffix": "<|a|>",
            "tools.format.per_call_end": "<|e|>",
        },
    ),
    "an id behind the name": (
        "{%- for t in m.tool_calls or [] -%}[CALL]{{ t.function.name }}[ID]{{ t.id }}[ARGS]"
        "{{ t.function.arguments | tojson }}{%- endfor -%}",
        {
            "tools.format.per_call_start": "[CALL]",
            "tools.call_id.pos": "BETWEEN_FUNC_AND_ARGS",
            "tools.call_id.prefix": "[ID]",
            "tools.call_id.suffix": "[ARGS]",
            "tools.function.name_suffix": "",
        },
    ),
    "an id behind the arguments": (
        "{%- for t in m.tool_calls or [] -%}<c>{{ t.function.name }}:"
        "{{ t.function.arguments | tojson }}<id>{{ t.id }}</c>{%- endfor -%}",
        {
            "tools.call_id.pos": "POST_ARGS",
            "tools.call_id.prefix": "<id>",
            "tools.function.name_suffix": ":",
        },
    ),
    "an id that carries the name": (
        "{%- for t in m.tool_calls or [] -%}<|b|>{{ t.id }}<|a|>"
        "{{ t.function.arguments | tojson }}<|e|>{%- endfor -%}",
        {
            "capabilities.call_id_shape": "functions.NAME:INDEX",
            "tools.call_id.pos": "CARRIES_NAME",
            "tools.call_id.prefix": "functions.",
            "tools.call_id.suffix": ":",
            "tools.format.per_call_start": "<|b|>",
            "tools.function.name_suffix": "<|a|>",
        },
    ),
    "words without brackets": (
        each_call("Action: {{ c.name }}~Action Input: {{ c.arguments | tojson }}~"),
        {
            "tools.function.name_prefix": "Action: ",
            "tools.function.name_suffix": "\nAction Input: ",
            "tools.format.per_call_start": "",
        },
    ),
    "a number behind the name": (
        each_call("<|b|>{{ c.name }}#{{ loop.index }}<|a|>{{ c.arguments | tojson }}<|e|>"),
        {"tools.call_id.pos": "CARRIES_NAME", "tools.call_id.suffix": "#"},
    ),
}


@pytest.mark.parametrize("kind", ARGUMENTS_JSON)
def test_arguments_that_are_json(kind: str) -> None:
    body, expected = ARGUMENTS_JSON[kind]
    check(find(chat(CONTENT + body)), {"tools.format.mode": "TAG_WITH_JSON", **expected})


def tagged(argument: str, between: str = "\n", written: str = "") -> str:
    """Print every argument `k`, `v` of every call; `written` prints a value that is no string."""
    value = "{%- if v is string -%}{{ v }}{%- else -%}" + (written or "{{ v | tojson }}")
    value += "{%- endif -%}"
    return (
        "{%- for k, v in c.arguments | items -%}"
        + argument.replace("VALUE", value)
        + f"{{%- if not loop.last -%}}{{{{ {between!r} }}}}{{%- endif -%}}"
        + "{%- endfor -%}"
    )


IN_TAGS = "<call>~<fn={{ c.name }}>~" + tagged("<arg={{ k }}>~VALUE~</arg>")
IN_TAGS += "{{ '\\n' if c.arguments }}</fn>~</call>"

ARGUMENTS_TAGGED: dict[str, tuple[str, dict[str, Any]]] = {
    "names in tags": (
        each_call(IN_TAGS, "\n"),
        {
            "tools.format.per_call_start": "<call>\n",
            "tools.function.name_prefix": "<fn=",
            "tools.function.name_suffix": ">\n",
            "tools.arguments.name_prefix": "<arg=",
            "tools.arguments.name_suffix": ">\n",
            "tools.arguments.value_suffix": "\n</arg>",
            "tools.arguments.separator": "\n",
            "tools.function.close": "\n</fn>",
            "tools.format.per_call_end": "\n</call>",
            "tools.arguments.python_words": False,
        },
    ),
    "Python's words": (
        each_call("<c={{ c.name }}>" + tagged("<{{ k }}:>VALUE</>", "", "{{ v }}") + "</c>"),
        {
            "tools.arguments.python_words": True,
            "tools.arguments.python_containers": True,
            "tools.arguments.value_syntax": "RAW",
        },
    ),
    "only Python's words": (
        each_call(
            "<c={{ c.name }}>"
            + tagged(
                "<{{ k }}:>VALUE</>",
                "",
                "{{ v | tojson if v is mapping or v is sequence else v }}",
            )
            + "</c>"
        ),
        {"tools.arguments.python_words": True, "tools.arguments.python_containers": False},
    ),
    "pairs of name and value": (
        each_call("<c>{{ c.name }}~" + tagged("<k>{{ k }}</k>~<v>VALUE</v>") + "~</c>", "\n"),
        {
            "tools.format.per_call_start": "<c>",
            "tools.function.name_prefix": "",
            "tools.function.name_suffix": "\n",
            "tools.arguments.name_prefix": "<k>",
            "tools.arguments.name_suffix": "</k>\n",
            "tools.arguments.value_prefix": "<v>",
            "tools.arguments.value_suffix": "</v>",
            "tools.format.per_call_end": "\n</c>",
        },
    ),
    "one section, attributes": (
        "{%- if m.tool_calls -%}<calls>~"
        + each_call('<do name="{{ c.name }}">~' + tagged('<p name="{{ k }}">VALUE</p>') + "~</do>~")
        + "</calls>{%- endif -%}",
        {
            "tools.format.section_start": "<calls>\n",
            "tools.format.section_end": "\n</calls>",
            "tools.format.per_call_start": "",
            "tools.function.name_prefix": '<do name="',
            "tools.function.name_suffix": '">\n',
            "tools.function.close": "\n</do>",
        },
    ),
    "three markers for each argument": (
        each_call("<|c|>{{ c.name }}" + tagged("<|k|>{{ k }}<|v|>VALUE<|/v|>", "") + "<|/c|>"),
        {
            "tools.format.per_call_start": "<|c|>",
            "tools.arguments.name_prefix": "<|k|>",
            "tools.arguments.name_suffix": "<|v|>",
            "tools.arguments.value_suffix": "<|/v|>",
            "tools.format.per_call_end": "<|/c|>",
        },
    ),
    "strings in quotes": (
        each_call(
            "<c={{ c.name }}>"
            "{%- for k, v in c.arguments | items -%}<a={{ k }}>{{ v | tojson }}</a>{%- endfor -%}"
            "</c>"
        ),
        {
            "tools.arguments.value_syntax": "JSON",
            "tools.arguments.value_prefix": "",
            "tools.arguments.value_suffix": "</a>",
        },
    ),
    "whether it is a string": (
        each_call(
            "<c={{ c.name }}>"
            + tagged('<a name="{{ k }}" text="{{ "yes" if v is string else "no" }}">VALUE</a>', "")
            + "</c>"
        ),
        {
            "tools.arguments.type_prefix": '" text="',
            "tools.arguments.types": (("yes", "string"), ("no", "json")),
            "tools.arguments.value_prefix": '">',
            "tools.arguments.name_suffix": "",
        },
    ),
    "the key is the tag, nested": (
        "{%- macro tags(v) -%}{%- if v is mapping -%}"
        "{%- for k, x in v | items -%}@<{{ k }}>{{ tags(x) }}@</{{ k }}>{%- endfor -%}"
        "{%- elif v is string or v is number or v is boolean -%}{{ v }}"
        "{%- else -%}{%- for x in v -%}@<li>{{ tags(x) }}@</li>{%- endfor -%}"
        "{%- endif -%}{%- endmacro -%}"
        + each_call("@<c={{ c.name }}>{{ tags(c.arguments) }}@</c>"),
        {
            "tools.function.name_prefix": "@<c=",
            "tools.arguments.name_prefix": "@<",
            "tools.arguments.name_suffix": ">",
            "tools.arguments.value_suffix": "@</{key}>",
            "tools.arguments.value_syntax": "NESTED_TAGS",
            "tools.arguments.item_tag": "li",
        },
    ),
    "the name is the tag, too": (
        "{%- if m.tool_calls -%}<use>~"
        + each_call("<{{ c.name }}>~" + tagged("<{{ k }}>VALUE</{{ k }}>") + "~</{{ c.name }}>~")
        + "</use>{%- endif -%}",
        {
            "tools.format.section_start": "<use>\n",
            "tools.function.name_prefix": "<",
            "tools.function.name_suffix": ">\n",
            "tools.function.close": "\n</{name}>",
            "tools.arguments.name_prefix": "<",
            "tools.arguments.value_suffix": "</{key}>",
        },
    ),
    "an id beside the name": (
        "{%- for t in m.tool_calls or [] -%}{%- set c = t.function -%}"
        '<do name="{{ c.name }}" id="{{ t.id }}">~'
        + tagged('<p name="{{ k }}">VALUE</p>')
        + "~</do>~{%- endfor -%}",
        {
            "tools.call_id.pos": "BETWEEN_FUNC_AND_ARGS",
            "tools.call_id.prefix": '" id="',
            "tools.call_id.suffix": '">\n',
            "tools.arguments.name_prefix": '<p name="',
            "tools.function.close": "\n</do>",
        },
    ),
    "the type of every value": (
        each_call(
            "<c={{ c.name }}>"
            + tagged(
                '<a k="{{ k }}" t="{{ "s" if v is string else "b" if v is boolean else "n" if v is'
                ' number else "0" if v is none else "o" if v is mapping else "a" }}">VALUE</a>',
                "",
            )
            + "</c>"
        ),
        {
            "tools.arguments.types": (
                ("s", "string"),
                ("n", "number"),
                ("b", "boolean"),
                ("0", "null"),
                ("a", "array"),
                ("o", "object"),
            ),
        },
    ),
    "a number for each call": (
        each_call(
            '<c={{ c.name }} nr="{{ loop.index }}">' + tagged("<{{ k }}:>VALUE</>", "") + "</c>"
        ),
        {"tools.function.name_suffix": ' nr="{index}">'},
    ),
    "names of arguments as attributes": (
        each_call(
            "<c={{ c.name }}>"
            "{%- for k, v in c.arguments | items -%}"
            """<a k="{{ k | replace('&', '&amp;') | replace('"', '&q;') }}">{{ v }}</a>"""
            "{%- endfor -%}</c>"
        ),
        {"tools.arguments.name_escapes": (("&amp;", "&"), ("&q;", '"'))},
    ),
    "strings wrapped where they need it": (
        each_call(
            "<c={{ c.name }}>"
            "{%- for k, v in c.arguments | items -%}<a={{ k }}>"
            "{%- if v is string and '<' in v -%}<![RAW[{{ v }}]]>{%- elif v is string -%}{{ v }}"
            "{%- else -%}{{ v | tojson }}{%- endif -%}</a>{%- endfor -%}</c>"
        ),
        {"tools.arguments.optional_wrap": ("<![RAW[", "]]>")},
    ),
    "a container that needs arguments": (
        each_call(
            "<c>{{ c.name }}{%- if c.arguments -%}<args>"
            + tagged("<k>{{ k }}</k><v>VALUE</v>", "")
            + "</args>{%- endif -%}</c>"
        ),
        {
            "tools.arguments.start": "<args>",
            "tools.arguments.end": "</args>",
            "tools.function.name_suffix": "",
            "tools.format.per_call_end": "</c>",
        },
    ),
}


@pytest.mark.parametrize("kind", ARGUMENTS_TAGGED)
def test_arguments_in_tags(kind: str) -> None:
    body, expected = ARGUMENTS_TAGGED[kind]
    check(find(chat(CONTENT + body)), {"tools.format.mode": "TAG_WITH_TAGGED", **expected})


OWN = (
    "{%- macro own(v) -%}{%- if v is string -%}<q>{{ v }}<q>"
    "{%- elif v is mapping -%}{{ '{' }}{%- for k, x in v | items -%}{{ k }}:{{ own(x) }}"
    "{{ ',' if not loop.last }}{%- endfor -%}{{ '}' }}"
    "{%- elif v is number or v is none or v is boolean -%}{{ v | tojson }}"
    "{%- else -%}[{%- for x in v -%}{{ own(x) }}{{ ',' if not loop.last }}{%- endfor -%}]"
    "{%- endif -%}{%- endmacro -%}"
)


def test_arguments_that_are_one_literal() -> None:
    body = CONTENT + OWN + each_call("<c>call:{{ c.name }}{{ own(c.arguments) }}</c>")
    analysis = find(chat(body))
    check(
        analysis,
        {
            "tools.format.mode": "TAG_WITH_LITERAL",
            "tools.format.per_call_start": "<c>",
            "tools.function.name_prefix": "call:",
            "tools.function.name_suffix": "",
            "tools.arguments.start": "{",
            "tools.arguments.end": "}",
            "tools.arguments.name_suffix": ":",
            "tools.arguments.separator": ",",
            "tools.arguments.literals.quotes": ("<q>",),
            "tools.arguments.literals.quoted_keys": False,
            "tools.arguments.literals.escapes": False,
            "tools.format.per_call_end": "</c>",
        },
    )


def python_call(value: str) -> str:
    return (
        "{{ c.name }}({%- for k, v in c.arguments | items -%}{{ k }}="
        + value
        + "{{ ', ' if not loop.last }}{%- endfor -%})"
    )


PYTHON: dict[str, tuple[str, dict[str, Any]]] = {
    "a list": (
        "{%- if m.tool_calls -%}<run>["
        + each_call(python_call("{{ v | tojson }}"), ", ")
        + "]</run>{%- endif -%}",
        {
            "tools.format.section_start": "<run>",
            "tools.format.section_end": "</run>",
            "tools.format.call_separator": ", ",
            "tools.format.tools_array_wrapped": True,
            "tools.arguments.literals.quotes": ('"',),
            "tools.arguments.literals.escapes": True,
        },
    ),
    "one call a line": (
        "{%- if m.tool_calls -%}<run>"
        + each_call(python_call("{{ v | tojson }}"), "\n")
        + "</run>{%- endif -%}",
        {
            "tools.format.section_start": "<run>",
            "tools.format.tools_array_wrapped": False,
            "tools.format.call_separator": "",
        },
    ),
    "strings without quotes": (
        "{%- if m.tool_calls -%}[" + each_call(python_call("{{ v }}"), ", ") + "]{%- endif -%}",
        {"tools.arguments.literals.bare_strings": True, "tools.format.section_start": ""},
    ),
}


@pytest.mark.parametrize("kind", PYTHON)
def test_calls_as_in_python(kind: str) -> None:
    body, expected = PYTHON[kind]
    expected = {
        "tools.format.mode": "PYTHON_CALLS",
        "tools.function.name_suffix": "(",
        "tools.function.close": ")",
        "tools.arguments.name_suffix": "=",
        "tools.arguments.separator": ", ",
        **expected,
    }
    check(find(chat(CONTENT + body)), expected)


CALLS = each_call("<c>" + JSON_CALL + "</c>")
THINK_TAIL = "{{ m.content.split('</r>')[-1] if m.content else '' }}"

REASONED: dict[str, tuple[str, dict[str, Any]]] = {
    "its own field": (
        chat(REASONING + CONTENT + CALLS),
        {"reasoning.mode": "TAG_BASED", "reasoning.start": "<r>\n", "reasoning.end": "\n</r>\n\n"},
    ),
    "a field of another name": (
        chat("{%- if m.musings -%}[R]{{ m.musings }}[/R]{%- endif -%}" + CONTENT + CALLS),
        {"capabilities.reasoning_field": "musings", "reasoning.start": "[R]"},
    ),
    "a content part": (
        chat(
            "{%- if m.content is string -%}{{ m.content }}{%- else -%}{%- for p in m.content -%}"
            "{%- if p.type == 'thinking' -%}[R]{{ p.thinking }}[/R]{%- else -%}{{ p.text }}"
            "{%- endif -%}{%- endfor -%}{%- endif -%}" + CALLS
        ),
        {"capabilities.reasoning_field": "content part", "reasoning.end": "[/R]"},
    ),
    "only with an option": (
        chat("{%- if loud is defined and loud -%}" + REASONING + "{%- endif -%}" + CONTENT),
        {"reasoning.start": "<r>\n"},
    ),
    "only beside calls": (
        chat(
            "{%- if m.tool_calls -%}"
            + REASONING
            + CALLS
            + "{%- else -%}{{ m.content }}{%- endif -%}",
            "{%- if quick is defined and quick -%}<r></r>{%- endif -%}",
        ),
        {"reasoning.mode": "TOOLS_ONLY", "reasoning.start": "<r>\n", "reasoning.end": "\n</r>"},
    ),
    "opened by every prompt and every turn": (
        chat(
            "<r>{{ m.reasoning_content or '' }}</r>" + CONTENT + CALLS,
            "<r>",
        ),
        {
            "reasoning.start": "<r>",
            "reasoning.end": "</r>",
            "assistant_header": "<assistant>\n",
            "generation_prompts.default": "<assistant>\n<r>",
        },
    ),
    "dropped, prompts with and without": (
        chat(
            CONTENT + CALLS,
            "{%- if slow is defined and not slow -%}<r>~~</r>~~{%- else -%}<r>~{%- endif -%}",
        ),
        {
            "reasoning.start": "<r>\n",
            "reasoning.end": "\n</r>\n\n",
            "generation_prompts.default": "<assistant>\n<r>\n",
            "generation_prompts.thinking": "<assistant>\n<r>\n",
            "generation_prompts.no_thinking": "<assistant>\n<r>\n\n</r>\n\n",
            "capabilities.supports_thinking_switch": True,
        },
    ),
    "dropped, one prompt opens and one closes": (
        chat(
            "</r>" + CONTENT + CALLS,
            "{%- if slow is defined and slow -%}<r>{%- else -%}</r>{%- endif -%}",
        ),
        {
            "reasoning.start": "<r>",
            "reasoning.end": "</r>",
            "generation_prompts.thinking": "<assistant>\n<r>",
            "generation_prompts.no_thinking": "<assistant>\n</r>",
        },
    ),
    "dropped, found by planting its closer": (
        chat(THINK_TAIL + CALLS, "<r>~"),
        {"reasoning.start": "<r>\n", "reasoning.end": "</r>"},
    ),
    "dropped, found by planting both": (
        chat(
            "{%- set p = m.content or '' -%}{%- if '<r>' in p and '</r>' in p -%}"
            "{%- set p = p.split('<r>')[0] + p.split('</r>')[-1] -%}{%- endif -%}{{ p }}" + CALLS
        ),
        {"reasoning.start": "<r>", "reasoning.end": "</r>"},
    ),
    "dropped, nothing closes what the prompt opens": (
        chat(CONTENT + CALLS, "<r>"),
        {"reasoning.start": "<r>", "reasoning.end": "</r>"},
    ),
    "an empty block in every prompt": (
        chat(CONTENT + CALLS, "<r></r>"),
        {"reasoning.start": "<r>", "reasoning.end": "</r>"},
    ),
    "a delimiter": (
        chat(
            "{%- if m.reasoning_content -%}{{ m.reasoning_content }}~[ANSWER]~{%- endif -%}"
            + CONTENT,
            "Let me think:~",
        ),
        {"reasoning.start": "Let me think:\n", "reasoning.end": "\n[ANSWER]\n"},
    ),
    "named in the instructions": (
        chat(
            CONTENT,
            before="{%- if thinking is defined and thinking -%}Think in <r></r>, answer in"
            " <a></a>.{%- endif -%}",
        ),
        {
            "reasoning.start": "<r>",
            "reasoning.end": "</r>",
            "content.mode": "WRAPPED_WITH_REASONING",
            "content.start": "<a>",
            "content.end": "</a>",
        },
    ),
    "none": (
        chat(CONTENT + CALLS),
        {"reasoning.mode": "NONE", "reasoning.start": "", "reasoning.end": ""},
    ),
}


@pytest.mark.parametrize("kind", REASONED)
def test_reasoning(kind: str) -> None:
    text, expected = REASONED[kind]
    check(find(text), expected)


def test_content_in_a_wrapper() -> None:
    wrapped = "{%- if m.content -%}<a>{{ m.content }}</a>{%- endif -%}"
    check(
        find(chat(REASONING + wrapped + CALLS)),
        {
            "reasoning.end": "\n</r>\n\n",
            "content.mode": "ALWAYS_WRAPPED",
            "content.start": "<a>",
            "content.end": "</a>",
            "content.plain_beside_calls": False,
            "tools.format.per_call_start": "<c>",
            "end_of_turn": "<end>",
        },
    )


def test_content_in_a_wrapper_without_calls_only() -> None:
    body = "{%- if m.tool_calls -%}{{ m.content }}{%- else -%}<a>{{ m.content }}</a>{%- endif -%}"
    check(find(chat(body + CALLS)), {"content.start": "<a>", "content.plain_beside_calls": True})


def test_an_empty_wrapper_before_calls_is_no_section() -> None:
    body = "{%- if m.tool_calls -%}<a>{{ m.content }}</a>{%- else -%}{{ m.content }}{%- endif -%}"
    check(
        find(chat(body + CALLS)),
        {
            "content.mode": "PLAIN",
            "content.beside_call_start": "<a>",
            "content.beside_call_end": "</a>",
            "tools.format.section_start": "",
            "tools.format.per_call_start": "<c>",
        },
    )


def test_a_turn_of_calls_may_end_otherwise() -> None:
    text = chat(CONTENT + CALLS + "{{ '<wait>' if m.tool_calls else '<end>' }}", end="")
    check(
        find(text),
        {
            "end_of_turn": "<end>",
            "end_of_turn_after_calls": "<wait>",
            "tools.format.per_call_end": "</c>",
            "tools.format.section_end": "",
        },
    )


def test_calls_shown_in_history_only_end_as_other_turns() -> None:
    calls = "{%- if not loop.last -%}" + CALLS + "{%- endif -%}"
    check(
        find(chat(CONTENT + calls)), {"end_of_turn": "<end>", "tools.format.per_call_end": "</c>"}
    )


CHANNELS = (
    "{%- for m in messages -%}"
    "{%- if m.role == 'assistant' -%}"
    "{%- if m.reasoning_content -%}"
    "<b>bot<ch>inner<msg>{{ m.reasoning_content }}<fin>"
    "{%- endif -%}"
    "{%- if m.tool_calls -%}{%- set c = m.tool_calls[0].function -%}"
    "<b>bot to=fn.{{ c.name }}<ch>tool as json<msg>{{ c.arguments | tojson }}<go>"
    "{%- else -%}<b>bot<ch>said<msg>{{ m.content }}<stop>{%- endif -%}"
    "{%- else -%}<b>{{ m.role }}<msg>{{ m.content }}<fin>{%- endif -%}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}<b>bot{%- endif -%}"
)


def test_channels_and_recipients_in_headers() -> None:
    check(
        find(CHANNELS),
        {
            "assistant_header": "<b>bot",
            "headers.start": "<b>bot",
            "headers.channel": "<ch>",
            "headers.end": "<msg>",
            "headers.message_end": "<fin>",
            "headers.reasoning": "inner",
            "headers.content": "said",
            "headers.preamble": "tool",
            "headers.recipient": " to=",
            "headers.namespace": "fn.",
            "headers.content_type": " as json",
            "reasoning.start": "<ch>inner<msg>",
            "reasoning.end": "<fin>",
            "content.start": "<ch>said<msg>",
            "end_of_turn": "<stop>",
            "end_of_turn_after_calls": "<go>",
            "tools.format.mode": "TAG_WITH_JSON",
        },
    )


RECIPIENTS = (
    "{%- for m in messages -%}"
    "{%- if m.role == 'assistant' -%}"
    "{%- if m.reasoning_content -%}<b>bot @me<msg>{{ m.reasoning_content }}<next>{%- endif -%}"
    "{%- if m.tool_calls -%}{%- for t in m.tool_calls -%}{%- set c = t.function -%}"
    "<b>bot @{{ c.name }}<msg><do><fn name='{{ c.name }}'>"
    "{%- for k, v in c.arguments | items -%}<p name='{{ k }}'>{{ v }}</p>{%- endfor -%}"
    "</fn></do>{{ '<next>' if not loop.last else '<stop>' }}"
    "{%- endfor -%}"
    "{%- else -%}<b>bot @you<msg>{{ m.content }}<stop>{%- endif -%}"
    "{%- else -%}<b>{{ m.role }}<msg>{{ m.content }}<stop>{%- endif -%}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}<b>bot{%- endif -%}"
)


def test_channels_before_recipients_in_headers() -> None:
    text = CHANNELS.replace(
        " to=fn.{{ c.name }}<ch>tool as json", "<ch>tool to=fn.{{ c.name }} as json"
    )
    check(
        find(text),
        {
            "headers.channel": "<ch>",
            "headers.preamble": "tool",
            "headers.recipient": " to=",
            "headers.namespace": "fn.",
            "headers.content_type": " as json",
        },
    )


def test_recipients_in_headers_that_the_body_repeats() -> None:
    check(
        find(RECIPIENTS),
        {
            "headers.channel": "",
            "headers.recipient": " @",
            "headers.reasoning": "me",
            "headers.content": "you",
            "headers.message_end": "<next>",
            "tools.format.mode": "TAG_WITH_TAGGED",
            "tools.format.per_call_start": "<do>",
            "tools.function.name_prefix": "<fn name='",
            "tools.function.name_suffix": "'>",
            "tools.function.close": "</fn>",
            "tools.format.per_call_end": "</do>",
        },
    )


def test_content_named_like_a_call() -> None:
    body = "{%- if m.content -%}{{ '>>all\\n' + m.content }}{%- endif -%}" + each_call(
        ">>{{ c.name }}~{{ c.arguments | tojson }}"
    )
    check(
        find(chat(body)),
        {
            "content.start": ">>all\n",
            "headers.start": ">>",
            "headers.content": "all",
            "headers.end": "\n",
            "tools.function.name_prefix": ">>",
            "tools.function.name_suffix": "\n",
        },
    )


def test_recipients_with_messages_for_calls() -> None:
    text = (
        "{%- for m in messages -%}{%- set head = '<from>' + m.role + '\n' -%}"
        "{%- if m.content -%}{{ head + '<to>all\n<what>' + m.content + '<stop>' }}{%- endif -%}"
        + each_call(
            "{{ head + '<to>' + c.name + '\n<what>' }}{{ c.arguments | tojson }}"
            "{{ '<stop>' if loop.last else '\n' }}"
        )
        + "{%- endfor -%}{%- if add_generation_prompt -%}{{ '<from>assistant\n<to>' }}{%- endif -%}"
    )
    check(
        find(text),
        {
            "headers.start": "<from>assistant",
            "headers.recipient": "<to>",
            "headers.content": "all",
            "headers.end": "\n<what>",
            "tools.format.mode": "TAG_WITH_JSON",
            "tools.function.name_suffix": "\n<what>",
            "tools.format.call_separator": "",
        },
    )


def test_joints_hold_the_glue_as_rendered() -> None:
    body = REASONING + CONTENT + "{{ '\\n' if m.content and m.tool_calls }}"
    analysis = find(chat(body + each_call("<c>~" + JSON_CALL + "~</c>", "\n")))
    assert dict(analysis.joints) == {
        "prompt_to_content": "",
        "prompt_to_call": "<c>\n",
        "prompt_to_reasoning": "<r>\n",
        "reasoning_to_content": "\n</r>\n\n",
        "reasoning_to_call": "\n</r>\n\n<c>\n",
        "content_to_call": "\n<c>\n",
        "call_to_call": "\n</c>\n<c>\n",
        "call_to_end": "\n</c><end>\n",
        "content_to_end": "<end>\n",
    }


def test_joints_after_an_opened_prompt_leave_out_what_the_prompt_holds() -> None:
    body = "<r>{{ m.reasoning_content or '' }}</r>" + CONTENT
    joints = find(chat(body, "<r>")).joints
    assert joints["prompt_to_reasoning"] == ""
    assert joints["prompt_to_content"] == "</r>"


def test_what_declares_tools_but_renders_no_call_says_so() -> None:
    analysis = find(chat(CONTENT, before="{%- if tools -%}{{ tools | tojson }}{%- endif -%}"))
    check(
        analysis,
        {
            "tools.format.mode": "NONE",
            "capabilities.supports_tools": True,
            "capabilities.supports_tool_calls": False,
        },
    )
    assert any("renders no tool call" in note for note in analysis.notes)


def test_an_unknown_token_reaches_no_field() -> None:
    text = chat(CONTENT + CALLS, end="", before="{{ bos_token }}").replace(
        "{%- else -%}{{ '\n' +", "{{ eos_token }}{%- else -%}{{ '\n' +"
    )
    known, unknown = find(text, eos_token="<eos>", bos_token="<s>"), find(text)
    assert known.end_of_turn == "<eos>"
    assert not known.notes
    assert unknown.end_of_turn == ""
    assert any("eos_token" in note for note in unknown.notes)
    assert not any("\ue000" <= character <= "\uf8ff" for character in repr(unknown))


def test_every_marker_has_its_evidence_and_is_preserved() -> None:
    analysis = find(chat(REASONING + CONTENT + CALLS))
    assert analysis.evidence["tools.format.per_call_start"] == "1 call / 2 calls"
    assert analysis.evidence["reasoning.start"] == "content without / with reasoning"
    assert analysis.preserved_tokens == ("<r>", "</r>", "<c>", "</c>")


def test_reasoning_behind_a_call_is_noted() -> None:
    analysis = find(chat("{%- if m.tool_calls -%}" + CALLS + "{%- endif -%}" + REASONING + CONTENT))
    check(analysis, {"reasoning.start": "<r>\n", "capabilities.reasoning_comes_first": False})
    assert any("behind the answer or the call" in note for note in analysis.notes)


def test_a_planted_closer_is_spaced_as_history_spaces_an_empty_block() -> None:
    body = "<r></r>~~" + THINK_TAIL + CALLS
    check(find(chat(body, "<r>")), {"reasoning.start": "<r>", "reasoning.end": "</r>\n\n"})


def test_the_opener_of_a_planted_closer_may_stand_between_any_signs() -> None:
    body = "{{ m.content.split('\u25c1/hm\u25b7')[-1] }}"
    check(
        find(chat(body, "\u25c1hm\u25b7")),
        {"reasoning.start": "\u25c1hm\u25b7", "reasoning.end": "\u25c1/hm\u25b7"},
    )


def test_arguments_that_are_no_object_are_not_guessed_at() -> None:
    listed = (
        '<c>{"name": "{{ c.name }}", "args": [{%- for k, v in c.arguments | items -%}'
        '{"k": "{{ k }}", "v": {{ v | tojson }}}{{ "," if not loop.last }}{%- endfor -%}]}</c>'
    )
    analysis = find(chat(CONTENT + each_call(listed)))
    check(analysis, {"tools.format.mode": "NONE"})
    assert any("not a JSON object" in note for note in analysis.notes)


def test_a_third_call_that_is_joined_otherwise_is_noted() -> None:
    calls = each_call("<c>" + JSON_CALL + "</c>{{ '<odd>' if loop.index == 2 }}", "\n")
    analysis = find(chat(CONTENT + calls))
    assert any("a third call" in note for note in analysis.notes)


@pytest.mark.parametrize(
    "text",
    [
        "{{ messages[0].content }}",
        "{%- for m in messages if m.role == 'user' -%}{{ m.content }}{%- endfor -%}",
    ],
)
def test_no_assistant_turn_is_an_error_that_shows_the_renderings(text: str) -> None:
    with pytest.raises(AnalysisError, match="renders no assistant message") as caught:
        find(text)
    assert "zuserzq" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "{{ raise_exception('never') }}",
        "{{ messages.nothing.at.all }}",
        "{{ 1 / 0 }}",
        "no messages{{ '' }}",
    ],
)
def test_what_never_renders_is_an_error(text: str) -> None:
    with pytest.raises(ChatTemplateError):
        find(text)
