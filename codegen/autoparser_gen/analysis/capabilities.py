"""What the chat template can render, and the message shape that it demands."""

from __future__ import annotations

from dataclasses import replace

from autoparser_gen.analysis.model import Capabilities, KeyOrder, Reasoning
from autoparser_gen.analysis.plants import cuts_every_block
from autoparser_gen.analysis.study import Study
from autoparser_gen.errors import shown
from autoparser_gen.probe import needles


def find_capabilities(study: Study, reasoning: Reasoning, end_of_turn: str) -> Capabilities:
    """Read the capabilities off the probes; few renderings beyond those already kept."""
    prober, shape = study.prober, study.prober.shape
    with_tools = prober.render(shape.opening(), tools=True, prompt=True)
    without = prober.render(shape.opening(), prompt=True)
    system = prober.render(replace(shape, system=True).opening())
    history = study.layout(reasoning=True, content=True, user_follows=True)
    return Capabilities(
        supports_tools=shape.tools_always or with_tools is not None and with_tools != without,
        supports_tool_calls=prober.renders_calls,
        supports_parallel_tool_calls=study.layout(calls=2) is not None,
        supports_system_role=system is not None and needles.SYSTEM in system,
        supports_thinking_switch=len(study.prefills()) > 1,
        requires_string_arguments=shape.string_arguments,
        requires_nonnull_content=prober.renders_calls and _refuses_null(study),
        call_id_shape=_id_shape(study),
        reasoning_field=shape.reasoning_field,
        keeps_reasoning_in_history=history is not None and history.before("reasoning") is not None,
        renders_content_beside_calls=_beside_calls(study, end_of_turn),
        several_reasoning_blocks=_several_blocks(study, reasoning),
        reasoning_comes_first=_reasoning_first(study),
        renders_empty_arguments=not prober.renders_calls or _empty_arguments(study),
        argument_order=_argument_order(study),
    )


def _beside_calls(study: Study, end_of_turn: str) -> bool:
    """Whether content and calls stand in one turn, and can be told apart.

    Some chat templates render two turns, some write nothing, or no more than a blank, between
    content and calls that no marker begins.
    """
    layout = study.layout(content=True, calls=1)
    if layout is None:
        return not study.prober.renders_calls
    before = layout.glue("content_to_call")
    if before is not None and before.strip() in ("", "["):
        return "\n" in before
    between = before or layout.glue("call_to_content")
    core = end_of_turn.strip()
    return bool(between) and not (core and core in str(between))


def _several_blocks(study: Study, reasoning: Reasoning) -> bool:
    """Whether reasoning may open again behind content."""
    if not cuts_every_block(study, reasoning):
        return False
    study.found("capabilities.several_reasoning_blocks", "planted in content: every block is cut")
    return True


def _reasoning_first(study: Study) -> bool:
    """Whether reasoning stands before the answer and the call, as a model writes them."""
    layouts = (
        study.layout(reasoning=True, content=True),
        study.layout(reasoning=True, calls=1),
    )
    for layout in layouts:
        kinds = [part.kind for part in layout.parts] if layout is not None else []
        if "reasoning" in kinds and kinds[0] != "reasoning":
            study.note(
                "history shows reasoning behind the answer or the call; models write it first"
            )
            return False
    return True


def _empty_arguments(study: Study) -> bool:
    """Whether a call without arguments is written like one with arguments, JSON where that is."""
    some, none = study.layout(calls=1), study.layout(calls=1, arguments=0)
    if some is None or none is None:
        return False
    name = needles.FUNCTIONS[0]
    if some.calls[0].holds_name(name) == none.calls[0].holds_name(name):
        return True
    study.note(
        "a call without arguments is rendered in a way that cannot be read back, and is not"
        f" verified: {none.text!r} beside {some.text!r}"
    )
    return False


def _argument_order(study: Study) -> KeyOrder:
    """The order in which arguments come out that are not sorted when they go in."""
    turn = study.prober.turn(None, None, [(needles.FUNCTIONS[0], needles.UNSORTED)])
    if turn is None or not all(value in turn.text for value in needles.UNSORTED.values()):
        return KeyOrder.NONE
    written = sorted(needles.UNSORTED, key=lambda key: turn.text.index(needles.UNSORTED[key]))
    found = next((order for order in KeyOrder if order.arranged(needles.UNSORTED) == written), None)
    if found is None:
        study.note(f"arguments are written in an order of their own: {shown(turn.text)}")
    elif found is not KeyOrder.NONE:
        study.found("capabilities.argument_order", "keys that are given in no order")
    return found or KeyOrder.NONE


def _refuses_null(study: Study) -> bool:
    """Whether a call without content must have the empty string for its content."""
    shape = replace(study.prober.shape, null_content=True)
    text = study.prober.after_user(calls=needles.calls(1), shape=shape)
    return text is None or "None" in text


def _id_shape(study: Study) -> str:
    if study.prober.shape.named_ids:
        return "functions.NAME:INDEX"
    if study.prober.renders_calls and study.prober.refuses_long_ids():
        return "alphanumeric9"
    return ""
