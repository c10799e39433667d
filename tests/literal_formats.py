"""Small chat templates whose calls are Python, literals or nested tags; none has a vendor's markers."""

from __future__ import annotations

import functools
import types

from autoparser_gen import verify
from autoparser_gen.analysis import Analysis, analyze
from autoparser_gen.chat_template import ChatTemplate, Renderer
from autoparser_gen.emit import python
from autoparser_gen.probe import Prober

# Values in a notation of their own: strings between quotes, keys without, the rest as JSON.
OWN_NOTATION = """
{%- macro own(value, quote) -%}
{%- if value is string -%}{{ quote + value + quote }}
{%- elif value is mapping -%}
{{ '{' }}{%- for k, v in value.items() -%}
{{ ',' if not loop.first }}{{ k }}:{{ own(v, quote) }}{%- endfor -%}{{ '}' }}
{%- elif value is sequence -%}
[{%- for v in value -%}{{ ',' if not loop.first }}{{ own(v, quote) }}{%- endfor -%}]
{%- else -%}{{ value | tojson }}{%- endif -%}
{%- endmacro -%}
"""

# Objects and arrays as tags of their own.
AS_TAGS = """
{%- macro tags(value, lead) -%}
{%- if value is mapping -%}
{%- for k, v in value.items() -%}
{{ lead }}<{{ k }}>{{ tags(v, lead) }}{{ lead }}</{{ k }}>
{%- endfor -%}
{%- elif value is sequence and value is not string -%}
{%- for v in value -%}{{ lead }}<el>{{ tags(v, lead) }}{{ lead }}</el>{%- endfor -%}
{%- elif value is string -%}{{ value }}
{%- else -%}{{ value | tojson }}{%- endif -%}
{%- endmacro -%}
"""


def chat(body: str, macros: str = "") -> str:
    """A chat template whose assistant's message `m` is printed by `body`."""
    return (
        macros
        + "{%- for m in messages -%}<{{ m.role }}>{{ '\\n' }}{{ m.content or '' }}"
        + body
        + "<end>{{ '\\n' }}{%- endfor -%}"
        + "{%- if add_generation_prompt -%}<assistant>{{ '\\n' }}{%- endif -%}"
    )


def calls(opener: str, closer: str, between: str, value: str, list_of: str = "") -> str:
    """All calls as `name(key=value, ...)`; `list_of` is what surrounds all of them."""
    before, _, after = list_of.partition("|")
    return (
        f"{{%- if m.tool_calls -%}}{before}"
        "{%- for t in m.tool_calls -%}"
        f"{opener}{{{{ t.function.name }}}}("
        "{%- for k, v in t.function.arguments.items() -%}"
        f"{{{{ ', ' if not loop.first }}}}{{{{ k }}}}={value}"
        f"{{%- endfor -%}}){closer}{{{{ {between!r} if not loop.last }}}}"
        "{%- endfor -%}"
        f"{after}{{%- endif -%}}"
    )


def each(printed: str) -> str:
    """Every call `c`, one behind the other."""
    return (
        "{%- for t in m.tool_calls or [] -%}{%- set c = t.function -%}" + printed + "{%- endfor -%}"
    )


RAW_IN_QUOTES = "{%- if v is string -%}'{{ v }}'{%- else -%}{{ v }}{%- endif -%}"

CHAT_TEMPLATES = {
    "python list": chat(calls("", "", ", ", "{{ v | tojson }}", "<calls>[|]</calls>")),
    "python lines": chat(calls("", "", "\n", "{{ v | tojson }}", "<calls>|</calls>")),
    "python raw": chat(calls("", "", ", ", RAW_IN_QUOTES, "<calls>[|]</calls>")),
    "python tags": chat(calls("<call>", "</call>", "", "{{ v | tojson }}")),
    "python bare": chat(calls("", "", ", ", RAW_IN_QUOTES, "[|]")),
    "python unquoted": chat(calls("", "", ", ", "{{ v }}", "[|]")),
    "own quotes": chat(
        each("<call>{{ c.name }}{{ own(c.arguments, '<q>') }}</call>"), OWN_NOTATION
    ),
    "nested tags": chat(
        each('<call name="{{ c.name }}">{{ tags(c.arguments, "%") }}</call>'), AS_TAGS
    ),
}


@functools.cache
def analysis_of(name: str) -> Analysis:
    """What the generator finds in one of the chat templates."""
    return analyze(Prober(Renderer(ChatTemplate(f"{name}.jinja", CHAT_TEMPLATES[name]))))


@functools.cache
def parser_of(name: str) -> types.ModuleType:
    """The parser of one of the chat templates."""
    return verify.import_text(python.emit(analysis_of(name), []))
