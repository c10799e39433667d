"""The prober finds the message shape that a chat template demands, and cuts out turns."""

from __future__ import annotations

from typing import Any

import pytest

from autoparser_gen.chat_template import ChatTemplate, Renderer
from autoparser_gen.errors import AnalysisError, ChatTemplateError
from autoparser_gen.probe import Prober, needles, source
from autoparser_gen.probe.glue import Cut, cut_joint, is_boundary, shared_end, shared_start

CALL = [("f", {"k": "v"})]


def prober(text: str) -> Prober:
    return Prober(Renderer(ChatTemplate("small.jinja", text)))


def chat(assistant: str, prompt: str = "", check: str = "") -> str:
    return (
        "{%- for m in messages -%}"
        + check
        + "<{{ m.role }}>{%- if m.role == 'assistant' -%}"
        + assistant
        + "{%- else -%}{{ m.content }}{%- endif -%}<end>"
        + "{%- endfor -%}"
        + "{%- if add_generation_prompt -%}<assistant>"
        + prompt
        + "{%- endif -%}"
    )


CALLS = (
    "{{ m.content or '' }}{%- for t in m.tool_calls or [] -%}"
    "<c>{{ t.function.name }}{{ t.function.arguments | tojson }}</c>{%- endfor -%}"
)

SHAPES: dict[str, tuple[str, dict[str, Any]]] = {
    "plain": (chat(CALLS), {}),
    "arguments as strings": (
        chat(CALLS.replace(" | tojson", " + ''")),
        {"string_arguments": True},
    ),
    "no content beside a call": (
        chat("{%- if m.content is none -%}" + CALLS + "{%- else -%}{{ m.content }}{%- endif -%}"),
        {"null_content": True},
    ),
    "ids that hold the name": (
        chat(CALLS.replace("t.function.name", "t.id")),
        {"named_ids": True},
    ),
    "tools in every conversation": (
        chat(CALLS, check="{%- for tool in tools -%}{%- endfor -%}"),
        {"tools_always": True},
    ),
    "no tools in any": (
        chat(CALLS, check="{{ raise_exception('no tools, please') if tools }}"),
        {"no_tools": True},
    ),
    "a system message": (
        chat(
            CALLS,
            check="{{ raise_exception('who am I?') if messages[0].role != 'system' }}",
        ),
        {"system": True},
    ),
    "a last word from the user": (
        chat(
            CALLS,
            check="{{ raise_exception('whose turn?') if messages[-1].role != 'user' }}",
        ),
        {"user_follows": True},
    ),
    "variables of its own": (
        chat(CALLS, check="{{ clock.upper() }}{{ place.upper() }}"),
        {"variables": {"clock": "", "place": ""}},
    ),
    "content in parts": (
        chat(CALLS)
        .replace("{{- m.content -}}", "{{ m.content }}")
        .replace("{%- else -%}{{ m.content }}", "{%- else -%}{{ m.content[0]['text'].strip() }}"),
        {"parts": True},
    ),
    "flat calls": (
        chat(CALLS.replace("t.function.", "t.")),
        {"flat_calls": True},
    ),
}


@pytest.mark.parametrize("kind", SHAPES)
def test_shapes(kind: str) -> None:
    text, expected = SHAPES[kind]
    shape = prober(text).shape
    found = {name: value for name, value in vars(shape).items() if value}
    assert found == expected
    turn = prober(text).turn(calls=CALL)
    assert turn is not None
    assert turn.text.startswith("<c>")
    assert turn.header == "<assistant>"


def test_a_template_that_never_shows_a_call_costs_few_renderings() -> None:
    renderer = Renderer(ChatTemplate("small.jinja", chat("{{ m.content }}")))
    assert not Prober(renderer).renders_calls
    assert renderer.renders < 45


def test_renderings_are_kept() -> None:
    renderer = Renderer(ChatTemplate("small.jinja", chat(CALLS)))
    found = Prober(renderer)
    before = renderer.renders
    assert found.turn("Hi.") == found.turn("Hi.")
    assert renderer.renders == before + 1


@pytest.mark.parametrize(
    ("assistant", "prompt", "expected"),
    [
        # (prompt that the turn continues, generated text)
        ("{{ m.content }}", "", ("<assistant>", "Hi.<end>")),
        (
            "<r>{{ m.reasoning_content }}</r>{{ m.content }}",
            "<r>",
            ("<assistant><r>", "R</r>Hi.<end>"),
        ),
        ("<r></r>{{ m.content }}", "<r>", ("<assistant><r>", "</r>Hi.<end>")),
        # History lacks what the prompt opens: nothing is open behind the header.
        ("{{ m.content }}", "<r>", ("<assistant>", "Hi.<end>")),
        # ... but a turn that begins with the reasoning itself goes on behind the prompt.
        (
            "{{ m.reasoning_content }}</r>{{ m.content }}",
            "<r>",
            ("<assistant><r>", "R</r>Hi.<end>"),
        ),
    ],
)
def test_a_turn_continues_a_prompt(assistant: str, prompt: str, expected: tuple[str, str]) -> None:
    reasoning = "R" if "reasoning" in assistant else None
    turn = prober(chat(assistant, prompt)).turn("Hi.", reasoning)
    assert turn is not None
    assert (turn.prompt, turn.generated) == expected
    assert turn.after(turn.header) == turn.text
    assert turn.after("<other>") is None


def test_options_by_name_and_as_a_mapping() -> None:
    text = chat("{{ '<loud>' if prompt is defined and prompt }}{{ m.content }}")
    turn = prober(text).turn("Hi.", options={"prompt": True})
    assert turn is not None
    assert turn.text == "<loud>Hi.<end>"
    assert turn.options == {"prompt": True}


def test_a_refused_message_gives_no_turn() -> None:
    refusing = chat("{{ raise_exception('no') if m.tool_calls }}{{ m.content }}")
    assert prober(refusing).turn(calls=CALL) is None


def test_headers_that_differ_in_history_are_made_alike() -> None:
    text = chat("{{ m.content }}").replace("<{{ m.role }}>", "<turn of {{ m.role }}>")
    found = prober(text)
    turn = found.turn("Hi.")
    assert turn is not None
    assert (found.header, turn.header, turn.text) == ("<assistant>", "<assistant>", "Hi.<end>")


def test_a_prompt_that_nobody_asked_for_is_no_part_of_the_turn() -> None:
    text = chat("{{ m.content }}").replace(
        "{%- if add_generation_prompt -%}<assistant>{%- endif -%}",
        "{%- if messages[-1].role != 'x' -%}<assistant>{%- endif -%}",
    )
    turn = prober(text).turn("Hi.")
    assert turn is not None
    assert (turn.header, turn.text) == ("<assistant>", "Hi.<end>")


def test_words_that_an_option_adds_to_the_user_message_are_no_part_of_the_prompt() -> None:
    text = chat("{{ m.content }}", "{{ '<r>' if deep }}").replace(
        "<end>{%- endfor", "{{ ' /deep' if deep and m.role == 'user' }}<end>{%- endfor"
    )
    found = prober(text)
    assert found.header == "<assistant>"
    assert found.generation_prompt(deep=True) == "<assistant><r>"


def test_prompts_of_options_that_the_template_compares() -> None:
    prompt = "{{ '<r>' if effort in ['low', 'high'] else '<r></r>' if effort == 'none' }}"
    found = prober(chat("{{ m.content }}", "{%- set effort = effort | default('?') -%}" + prompt))
    assert {text for _, text in found.prompt_variants()} == {
        "<assistant>",
        "<assistant><r>",
        "<assistant><r></r>",
    }


def test_what_the_source_is_asked_for() -> None:
    renderer = Renderer(
        ChatTemplate(
            "small.jinja",
            "{%- set x = 1 -%}{%- if deep is defined and mode == 'slow' -%}"
            "{{ messages[0].content.split('</r>')[-1] }}{{ messages[0]['musings'] }}{%- endif -%}",
        )
    )
    assert source.marker_literals(renderer) == ["</r>"]
    assert "musings" in source.read_names(renderer)
    assert source.option_values(renderer) == {
        "deep": [True, False],
        "mode": [True, False, "slow"],
    }


def test_an_option_is_asked_for_through_the_variable_that_it_is_taken_into() -> None:
    text = (
        "{%- set effort = level | default('none') -%}{%- if effort not in ('none', 'high') -%}"
        "{{ raise_exception('no') }}{%- endif -%}{{ messages[0].content }}"
    )
    renderer = Renderer(ChatTemplate("small.jinja", text))
    assert source.option_values(renderer) == {"level": [True, False, "none", "high"]}


def test_no_conversation_renders() -> None:
    with pytest.raises(ChatTemplateError, match="never"):
        prober("{{ raise_exception('never') }}")


def test_no_answer_renders() -> None:
    with pytest.raises(AnalysisError, match="renders no assistant message"):
        prober("{{ messages[0].content }}")


def test_needles_are_unlike_each_other() -> None:
    texts = [needles.USER, needles.USER_AGAIN, needles.SYSTEM, needles.CONTENT, needles.REASONING]
    texts += [*needles.FUNCTIONS, *needles.IDS]
    texts += [text for group in (*needles.KEYS, *needles.VALUES) for text in group]
    for text in texts:
        assert text.isalnum()
        assert not any(text in other for other in texts if other is not text)


@pytest.mark.parametrize(
    ("before", "joint", "after", "expected"),
    [
        ("<a>\n", "\n</a>\n<a>\n", "\n</a>", Cut("\n</a>", "\n", "<a>\n")),
        ("<s><a>", "</a><a>", "</a></s>", Cut("</a>", "", "<a>")),
        # The greedy suffix and prefix overlap in `<` and in `>`.
        ('<s>\n<do n="', '</do>\n<do n="', "</do>\n</s>", Cut("</do>", "\n", '<do n="')),
        (">\n<p=", "\n</p>\n<p=", "\n</p>\n</f>", Cut("\n</p>", "\n", "<p=")),
        # Nothing but a separator.
        ("[", ", ", "]", Cut("", ", ", "")),
        ("", "; ", "", Cut("", "; ", "")),
        # Every marker begins with the same token.
        (
            "@[<s>@[<c",
            "@[</c>@[<c",
            "@[</c>@[</s>",
            Cut("@[</c>", "", "@[<c"),
        ),
        # A word between brackets is one marker with them.
        (
            "<|o|>all<|s|><|o|>call",
            "<|x|>call<|s|><|o|>call",
            "<|x|>call<|s|><|x|>all<|s|>",
            Cut("<|x|>call<|s|>", "", "<|o|>call"),
        ),
    ],
)
def test_joints_are_cut_at_markers(before: str, joint: str, after: str, expected: Cut) -> None:
    assert cut_joint(before, joint, after) == expected


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("word", 2),
        ("<tag>", 1),
        ("<tag>", 4),
        ("</tag>", 2),
        ("<|tag|>", 2),
        ("<|tag|>", 5),
        ("tool\u2581calls", 4),
        ("<|o|>think", 5),
        ("functions.", 9),
        ("[CALLS]", 1),
    ],
)
def test_no_marker_ends_here(text: str, inside: int) -> None:
    assert not is_boundary(text, inside)
    assert is_boundary(text, 0)
    assert is_boundary(text, len(text))


def test_shared_parts_end_at_markers() -> None:
    assert shared_start("</t>\n<a>", "</t>\n<ab>") == "</t>\n"
    assert shared_end("x|id>", "y|id>") == ""
    assert shared_end("</c><end>\n", "hi<end>\n") == "<end>\n"
    assert shared_start("same", "same") == "same"
