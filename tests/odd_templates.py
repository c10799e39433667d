"""Small chat templates of formats that no vendor ships, in the ways in which vendors differ."""

from __future__ import annotations


def chat(body: str, prompt: str = "", end: str = "<end>\n") -> str:
    """A chat template with headers `<role>`; `body` prints an assistant's message `m`.

    `~` stands for a line end, which Jinja's own trimming must not take.
    """
    text = (
        "{%- for m in messages -%}<{{ m.role }}>~"
        "{%- if m.role == 'assistant' -%}"
        + body
        + f"{{{{ {end!r} }}}}"
        + "{%- else -%}{{ m.content + '<end>\n' }}{%- endif -%}"
        "{%- endfor -%}{%- if add_generation_prompt -%}<assistant>~" + prompt + "{%- endif -%}"
    )
    return text.replace("~", "{{ '\n' }}")


def calls(printed: str, before: str = "", between: str = "", after: str = "") -> str:
    """Print every call `c`, with text before the first, between two, and behind the last."""
    return (
        "{%- if m.tool_calls -%}"
        + before
        + "{%- for t in m.tool_calls -%}{%- set c = t.function -%}"
        + printed
        + (f"{{%- if not loop.last -%}}{between}{{%- endif -%}}" if between else "")
        + "{%- endfor -%}"
        + after
        + "{%- endif -%}"
    )


CONTENT = "{{ m.content or '' }}"
REASONING = "{%- if m.reasoning_content -%}<r>~{{ m.reasoning_content }}~</r>~{%- endif -%}"
JSON_CALL = """{"name": "{{ c.name }}", "arguments": {{ c.arguments | tojson }}}"""
EACH = "{%- for k, v in c.arguments | items -%}"
RAW = "{{ v if v is string else v | tojson }}"
KEY_TAG = f"<{{{{ k }}}}>{RAW}</{{{{ k }}}}>"
CUT_BLOCKS = (
    "{%- for piece in (m.content or '').split('</r>') -%}{{ piece.split('<r>')[0] }}{%- endfor -%}"
)

TEMPLATES = {
    "bare calls with commas": chat(CONTENT + calls(JSON_CALL, before="~", between=",")),
    "bare calls right behind content": chat(CONTENT + calls(JSON_CALL)),
    "whitespace of any kind around calls": chat(
        CONTENT + calls("{{ ' \\r\n' }}<c>{{ '\\t' }}" + JSON_CALL + "</c>{{ '\\r\n' }}")
    ),
    "calls in tags with a semicolon": chat(
        CONTENT + calls("<c>" + JSON_CALL + "</c>", between="; ")
    ),
    "a wrapper of content beside calls": chat(
        "{%- if m.tool_calls -%}<say>{{ m.content or '' }}</say>{%- else -%}"
        + CONTENT
        + "{%- endif -%}"
        + calls("<c>" + JSON_CALL + "</c>")
    ),
    "a wrapper of content beside calls, none without content": chat(
        "{%- if m.content and m.tool_calls -%}<say>{{ m.content }}</say>~{%- else -%}"
        + CONTENT
        + "{%- endif -%}"
        + calls("<c>" + JSON_CALL + "</c>")
    ),
    "a wrapper of content beside bare calls": chat(
        "{%- if m.tool_calls -%}<say>{{ m.content or '' }}</say>{%- else -%}"
        + CONTENT
        + "{%- endif -%}"
        + calls(JSON_CALL)
    ),
    "json values in tags": chat(
        CONTENT
        + calls(
            '<call name="{{ c.name }}">~'
            + EACH
            + '<arg name="{{ k }}">{{ v | tojson }}</arg>~{%- endfor -%}</call>'
        )
    ),
    "closers by type": chat(
        CONTENT
        + calls(
            "<f={{ c.name }}>~" + EACH + "<p={{ k }}>~{{ v if v is string else v | tojson }}~"
            "{{ '</text>' if v is string else '</data>' }}~{%- endfor -%}</f>"
        )
    ),
    "reasoning anywhere in content": chat(
        "{%- if m.tool_calls and m.reasoning_content -%}<r>{{ m.reasoning_content }}</r>"
        "{%- endif -%}" + CUT_BLOCKS + calls("<c>" + JSON_CALL + "</c>")
    ),
    "more indentation beside calls": chat(
        "{{ '    ' if m.tool_calls else '  ' }}" + CONTENT + calls("<c>" + JSON_CALL + "</c>")
    ),
    "reasoning behind calls": chat(
        calls("<c>" + JSON_CALL + "</c>") + REASONING + CONTENT, prompt="<r>~"
    ),
    "no arguments as broken JSON": chat(
        CONTENT
        + calls(
            '<c>{"name": "{{ c.name }}", "arguments": '
            "{{ c.arguments | tojson if c.arguments }}}</c>"
        )
    ),
    "the end of turn between content and calls": chat(
        "{%- if m.content and m.tool_calls -%}{{ m.content }}<end>{%- else -%}"
        + CONTENT
        + "{%- endif -%}"
        + calls("<c>" + JSON_CALL + "</c>")
    ),
    "calls in front of content": chat(REASONING + calls("<c>" + JSON_CALL + "</c>~") + CONTENT),
    "a blank between marker and id": chat(
        CONTENT + calls("<c {{ t.id }}>{{ c.name }}<a>{{ c.arguments | tojson }}</c>")
    ),
    "names as keys, in a fence": chat(
        CONTENT
        + calls(
            "{{ '{' }}\"{{ c.name }}\": {{ c.arguments | tojson }}{{ '}' }}",
            before="```tool_code~[",
            between=", ",
            after="]~```",
        )
    ),
    "words in front of lines": chat(
        CONTENT + calls("ACTION: {{ c.name }}~INPUT: {{ c.arguments | tojson }}~")
    ),
    "a namespace and a number": chat(
        CONTENT
        + calls("functions.{{ c.name }}:{{ loop.index0 }}{{ c.arguments | tojson }}", between="~")
    ),
    "arguments as a string of JSON": chat(
        CONTENT
        + calls('<c>{"name": "{{ c.name }}", "arguments": {{ c.arguments | tojson | tojson }}}</c>')
    ),
    "names as tags around JSON": chat(
        CONTENT + calls("<{{ c.name }}>{{ c.arguments | tojson }}</{{ c.name }}>")
    ),
    "names as tags in a section": chat(
        CONTENT
        + calls(
            "<{{ c.name }}>{{ c.arguments | tojson }}</{{ c.name }}>~",
            before="<tools>~",
            after="</tools>",
        )
    ),
    "names and keys as tags": chat(
        CONTENT + calls(f"<{{{{ c.name }}}}>~{EACH}{KEY_TAG}~{{%- endfor -%}}</{{{{ c.name }}}}>~")
    ),
    "keys as tags": chat(
        CONTENT + calls(f"<c><name>{{{{ c.name }}}}</name>{EACH}{KEY_TAG}{{%- endfor -%}}</c>")
    ),
    "the name in the closer": chat(
        CONTENT
        + calls(
            f"<do {{{{ c.name }}}}>{EACH}<p={{{{ k }}}}>{RAW}</p>{{%- endfor -%}}</do {{{{ c.name }}}}>"
        )
    ),
    "an id in the tag around JSON": chat(
        REASONING + CONTENT + calls("<c id='{{ t.id }}'>" + JSON_CALL + "</c>~")
    ),
    "an id behind JSON": chat(CONTENT + calls("<c>" + JSON_CALL + "<id>{{ t.id }}</id></c>")),
    "an id behind the arguments": chat(
        CONTENT + calls("<c>{{ c.name }}<a>{{ c.arguments | tojson }}</a><id>{{ t.id }}</id></c>")
    ),
    "an id between type and function": chat(
        CONTENT
        + calls(
            """<c>{"type": "function", "id": "{{ t.id }}", "function": """ + JSON_CALL + "}</c>"
        )
    ),
    "a number in JSON": chat(
        CONTENT + calls("""<c>{"nr": {{ loop.index }}, """ + JSON_CALL[1:] + "</c>")
    ),
    "a number in the tag around JSON": chat(
        CONTENT + calls("<c nr={{ loop.index0 }}>" + JSON_CALL + "</c>~")
    ),
    "a number in the tag with the name": chat(
        CONTENT
        + calls("""<c id="call_{{ loop.index }}" f="{{ c.name }}">{{ c.arguments | tojson }}</c>""")
    ),
    "a number between tags": chat(
        REASONING
        + CONTENT
        + calls("<c>{{ loop.index }}<f>{{ c.name }}</f>{{ c.arguments | tojson }}</c>")
    ),
    "an id behind the name": chat(
        CONTENT
        + calls(
            f'<c f="{{{{ c.name }}}}" id="{{{{ t.id }}}}">{EACH}<p={{{{ k }}}}>{RAW}</p>{{%- endfor -%}}</c>'
        )
    ),
    "a marker alone between key and value": chat(
        CONTENT + calls(f"<f>{{{{ c.name }}}}{EACH}<k>{{{{ k }}}}<v>{RAW}</v>{{%- endfor -%}}</f>")
    ),
    "values without a closer": chat(
        CONTENT + calls(f"<f>{{{{ c.name }}}}{EACH}<k>{{{{ k }}}}<v>{RAW}{{%- endfor -%}}</f>")
    ),
    "a call that is printed": chat(
        CONTENT
        + calls(
            "<py>~print({{ c.name }}("
            + EACH
            + "{{ k }}={{ v | tojson }}{{ ', ' if not loop.last }}{%- endfor -%}))~</py>"
        )
    ),
    "no end of turn": chat(REASONING + CONTENT + calls("<c>" + JSON_CALL + "</c>"), end="\n"),
    "a member that is the same in every call": chat(
        CONTENT
        + calls(
            '<c>{"type": "use", "id": "{{ t.id }}", "tool": "{{ c.name }}", '
            '"input": {{ c.arguments | tojson }}}</c>'
        )
    ),
    "words behind the role": (
        "{%- for m in messages -%}"
        + "{%- if m.role == 'assistant' -%}"
        + "{%- if m.reasoning -%}<s>me:think<b>{{ m.reasoning }}<e>{{ '\n' }}{%- endif -%}"
        + "{%- if m.content -%}<s>me:say<b>{{ m.content }}<e>{{ '\n' }}{%- endif -%}"
        + "{%- for t in m.tool_calls or [] -%}<s>me:{{ t.function.name }}<b>"
        + "{{ t.function.arguments | tojson }}<e>{{ '\n' }}{%- endfor -%}"
        + "{%- else -%}<s>{{ m.role }}<b>{{ m.content }}<e>{{ '\n' }}{%- endif -%}"
        + "{%- endfor -%}{%- if add_generation_prompt -%}<s>me{%- endif -%}"
    ),
    "reasoning between equal markers": chat(
        "{%- if m.reasoning_content -%}|think|{{ m.reasoning_content }}|think|~{%- endif -%}"
        + CONTENT
        + calls("<c>" + JSON_CALL + "</c>"),
        prompt="|think|",
    ),
    "reasoning between equal markers that the model writes": chat(
        "{%- if m.reasoning_content -%}***{{ m.reasoning_content }}***~{%- endif -%}"
        + CONTENT
        + calls("<c>" + JSON_CALL + "</c>")
    ),
    "an id in the function's object": chat(
        CONTENT
        + calls(
            '<c>{"function": {"name": "{{ c.name }}", "arguments": {{ c.arguments | tojson }}, '
            '"id": "{{ t.id }}"}}</c>'
        )
    ),
    "an id between name and arguments": chat(
        CONTENT
        + calls(
            '<c>{"name": "{{ c.name }}", "id": "{{ t.id }}", '
            '"arguments": {{ c.arguments | tojson }}}</c>'
        )
    ),
    "the type behind the function": chat(
        CONTENT + calls("<c>{{ {'function': c, 'id': t.id, 'type': 'function'} | tojson }}</c>")
    ),
    "the type in bare calls": chat(
        CONTENT
        + calls(
            """{"type": "function", "name": "{{ c.name }}", "parameters": {{ c.arguments | tojson }}}""",
            between="; ",
        )
    ),
    "a line end behind wrapped content": chat(
        REASONING
        + "{%- if m.content -%}<a>~{{ m.content }}~</a>~{%- endif -%}"
        + calls("<c>~" + JSON_CALL + "~</c>~")
    ),
    "strings with entities": chat(
        CONTENT
        + calls(
            f"<f={{{{ c.name }}}}>{EACH}<p={{{{ k }}}}>"
            "{{ v | e if v is string else v | tojson }}</p>{%- endfor -%}</f>"
        )
    ),
    "a bracket in front of each call": chat(
        CONTENT
        + calls("[{{ loop.index }}] " + JSON_CALL + "~", before="<tools>~", after="</tools>")
    ),
    "escapes that begin alike": chat(
        CONTENT
        + calls(
            f"<f={{{{ c.name }}}}>{EACH}<p={{{{ k }}}}>{{{{ v | replace('<', '&lt;') | "
            "replace('&', '&amp;') if v is string else v | tojson }}</p>{%- endfor -%}</f>"
        )
    ),
    "two closers behind a value": chat(
        CONTENT
        + calls(
            f"<c><name>{{{{ c.name }}}}</name>~{EACH}<arg>~<key>{{{{ k }}}}</key>~<value>{RAW}</value>~"
            "</arg>~{%- endfor -%}</c>"
        )
    ),
    "keys without quotes": chat(
        CONTENT
        + calls(
            "<js>{{ c.name }}({{ '{' }}"
            + EACH
            + "{{ k }}: {{ v | tojson }}{{ ', ' if not loop.last }}{%- endfor -%}{{ '}' }});</js>"
        )
    ),
    "python calls in a fence between tags": chat(
        calls(
            "{{ c.name }}("
            + EACH
            + "{{ k }}={{ v | tojson }}{{ ',' if not loop.last }}{%- endfor -%})~",
            before="<py>~```python~",
            after="```~</py>~",
        )
        + CONTENT
    ),
    "the whole list of calls without a marker": chat(
        "{{ m.tool_calls | tojson if m.tool_calls else m.content }}"
    ),
    "a member of every bare call": chat(
        "{%- if not m.tool_calls -%}"
        + CONTENT
        + "{%- endif -%}"
        + calls('{"kind": "call", ' + JSON_CALL[1:])
    ),
    "a wrapper of content that is always written": chat(
        REASONING + "<a>" + CONTENT + "</a>" + calls("<c>" + JSON_CALL + "</c>")
    ),
    "a number behind the tag's name": chat(
        CONTENT + calls("<call {{ loop.index }}>" + JSON_CALL + "</call>", between="~")
    ),
    "a number behind the tag's name, with tagged arguments": chat(
        CONTENT
        + calls(
            "<call {{ loop.index }}><f={{ c.name }}>"
            + EACH
            + "<p={{ k }}>"
            + RAW
            + "</p>{%- endfor -%}</f></call>"
        )
    ),
    "reasoning up to the next line's word": chat(
        "{%- if m.reasoning_content -%}Idea: {{ m.reasoning_content }}~{%- endif -%}"
        "{%- if not m.tool_calls -%}Reply: {{ m.content }}{%- endif -%}"
        + calls("Tool: {{ c.name }}~Tool input: {{ c.arguments | tojson }}", between="~")
    ),
    "a header that the prompt begins": (
        "{%- for m in messages -%}{%- if m.content -%}<by>{{ m.role }}~<to>all~<is>{{ m.content }}"
        "{%- if m.role != 'assistant' or m.tool_calls -%}~{%- endif -%}{%- endif -%}"
        + calls("<by>assistant~<to>{{ c.name }}~<is>{{ c.arguments | tojson }}", between="~")
        + "{%- if m.role == 'assistant' -%}<end>~{%- endif -%}{%- endfor -%}"
        "{%- if add_generation_prompt -%}<by>assistant~<to>{%- endif -%}"
    ).replace("~", "{{ '\\n' }}"),
    "a content of its own for an empty text, none for null": (
        "{%- for m in messages -%}{%- if m.content is not none -%}<by>{{ m.role }}~<to>all~<is>"
        "{{ m.content }}{%- if m.role != 'assistant' or m.tool_calls -%}~{%- endif -%}{%- endif -%}"
        + calls("<by>assistant~<to>{{ c.name }}~<is>{{ c.arguments | tojson }}", between="~")
        + "{%- if m.role == 'assistant' -%}<end>~{%- endif -%}{%- endfor -%}"
        "{%- if add_generation_prompt -%}<by>assistant~<to>{%- endif -%}"
    ).replace("~", "{{ '\\n' }}"),
    "a block of reasoning before every call": chat(
        "{%- if not m.tool_calls -%}<say>{{ m.content }}</say>{%- endif -%}"
        + calls(JSON_CALL, before="<r>{{ m.reasoning }}</r><c>[", between=", ", after="]</c>")
    ),
    "content right behind a bare list of python calls": chat(
        calls(
            "{{ c.name }}("
            + EACH
            + "{{ k }}={{ v | tojson }}{{ ', ' if not loop.last }}{%- endfor -%})",
            before="[",
            between=", ",
            after="]",
        )
        + CONTENT
    ),
    "content right behind a bare list of JSON": chat(
        calls(JSON_CALL, before="[", between=", ", after="]") + CONTENT
    ),
    "names in the first line of a message": (
        "{%- for m in messages -%}"
        "{%- if m.content or m.role != 'assistant' -%}<{{ m.role }}>"
        "{{ '\n' + m.content }}{%- endif -%}"
        + calls("<assistant>{{ c.name + '\n' + c.arguments | tojson }}")
        + "{%- endfor -%}{%- if add_generation_prompt -%}<assistant>{%- endif -%}"
    ),
}

# Calls that no parser can be made for, and what the note says.
UNREADABLE = {
    "values between dashes": (
        chat(
            CONTENT + calls(f"<c>{{{{ c.name }}}}~{EACH}- {{{{ k }}}}: {RAW}~{{%- endfor -%}}</c>")
        ),
        "no marker ends an argument's value",
    ),
    "the name behind the closer": (
        chat(CONTENT + calls("<c {{ c.name }}>{{ c.arguments | tojson }}</c> {{ c.name }}")),
        "what closes a call begins or ends with the function's name",
    ),
    "types as tags": (
        chat(
            CONTENT
            + calls(
                "<f={{ c.name }}>"
                + EACH
                + "{%- set kind = 'str' if v is string else 'json' -%}<{{ kind }} key={{ k }}>"
                "{{ v if v is string else v | tojson }}</{{ kind }}>{%- endfor -%}</f>"
            )
        ),
        "what begins an argument differs with the type of its value",
    ),
    "an id behind arguments in markup": (
        chat(
            CONTENT
            + calls(
                f"<c><n>{{{{ c.name }}}}</n>{EACH}<p={{{{ k }}}}>{RAW}</p>{{%- endfor -%}}"
                "<id>{{ t.id }}</id></c>"
            )
        ),
        "a call's id stands behind arguments that are not one JSON object",
    ),
    "values of every type with entities": (
        chat(
            CONTENT
            + calls(
                f"<f={{{{ c.name }}}}>{EACH}<p={{{{ k }}}}>{{{{ ({RAW[3:-3]}) | e }}}}</p>"
                "{%- endfor -%}</f>"
            )
        ),
        "values that are no strings are escaped like text",
    ),
    "keys without a marker": (
        chat(CONTENT + calls("CALL {{ c.name }}~" + EACH + "{{ k }}: {{ v }}~{%- endfor -%}END~")),
        "no marker begins an argument",
    ),
    "lines of names and JSON": (
        chat(
            CONTENT
            + calls(
                "{{ c.name }}~{{ c.arguments | tojson }}",
                before="<act>~",
                between="~",
                after="~</act>",
            )
        ),
        "no marker begins a call's name",
    ),
}
