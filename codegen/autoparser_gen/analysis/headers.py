"""Turns of several messages, each with a header (convention "words-in-headers")."""

from __future__ import annotations

import re
from dataclasses import replace

from autoparser_gen.analysis.layout import Layout
from autoparser_gen.analysis.marks import MARKER
from autoparser_gen.analysis.model import Content, Headers, Reasoning, ReasoningMode
from autoparser_gen.analysis.study import Study
from autoparser_gen.probe import needles
from autoparser_gen.probe.glue import common_prefix

_JOINTS = (
    ("reasoning_to_content", {"reasoning": True, "content": True}),
    ("reasoning_to_call", {"reasoning": True, "calls": 1}),
    ("call_to_call", {"calls": 2}),
    ("content_to_call", {"content": True, "calls": 1}),
)


def find_headers(
    study: Study, reasoning: Reasoning, content: Content, end_of_turn: str
) -> Headers | None:
    """The words of message headers, where a turn holds several messages."""
    header = study.header.strip()
    for pair, parts in _JOINTS:
        glue = study.glue(pair, **parts)
        if header and glue is not None and header in glue:
            message_end = glue.partition(header)[0].strip()
            if not pair.startswith("reasoning") and message_end == end_of_turn.strip():
                continue  # two turns, not two messages of one
            study.found("headers.start", f"the header is repeated: {pair}", glue)
            found = _words(study, Headers(start=header, message_end=message_end))
            named = None if found.end else _named_like_a_call(study, content)
            if named is None:
                return found
            return replace(found, end=named.end, recipient=named.start, content=named.content)
    return _named_like_a_call(study, content) or _named_behind_header(study, reasoning, content)


def _words(study: Study, found: Headers) -> Headers:
    """Channel, recipient and the words that mean reasoning, content and a call."""
    reasoning = study.glue("prompt_to_reasoning", reasoning=True, content=True)
    content = study.glue("prompt_to_content", content=True)
    if reasoning is None or content is None:
        return found
    end = _last_marker(reasoning)
    if not end or _last_marker(content) != end or end in (reasoning, content):
        return found
    if reasoning == content:  # no word tells them apart
        return found
    words = [text[: -len(end)] for text in (reasoning, content)]
    markers = [marker[0] if (marker := MARKER.match(word)) else "" for word in words]
    channel = markers[0] if markers[0] == markers[1] else ""
    call = study.layout(calls=1)
    head = _call_head(call, end) if call is not None else ""
    before_name, _, behind_name = head.partition(needles.FUNCTIONS[0])
    if not channel:  # the word itself is the recipient, behind the same prefix
        recipient = common_prefix((*words, before_name))
        return Headers(
            start=found.start,
            end=end,
            message_end=found.message_end,
            reasoning=words[0][len(recipient) :],
            content=words[1][len(recipient) :],
            recipient=recipient,
            namespace=before_name[len(recipient) :],
            content_type=behind_name,
        )
    # The channel's word and the recipient may stand in either order.
    first = before_name.startswith(channel)
    topic = before_name[len(channel) :] if first else behind_name.partition(channel)[2]
    preamble = re.match(r"\w*", topic)
    assert preamble is not None
    address = topic[preamble.end() :] if first else before_name
    prefix = re.match(r"\s*\w+\W", address)
    recipient = prefix[0] if prefix else address
    return Headers(
        start=found.start,
        channel=channel,
        end=end,
        message_end=found.message_end,
        reasoning=words[0][len(channel) :],
        content=words[1][len(channel) :],
        preamble=preamble[0],
        recipient=recipient,
        namespace=address[len(recipient) :],
        content_type=behind_name if first else topic[preamble.end() :],
    )


def _last_marker(head: str) -> str:
    """The marker that a header ends with."""
    markers = MARKER.findall(head)
    return markers[-1] if markers and head.endswith(markers[-1]) else ""


def _call_head(call: Layout, end: str) -> str:
    """The header of the message that holds a call."""
    at = call.text.find(end, call.calls[0].start)
    return call.text[:at] if at >= 0 else ""


def _named_like_a_call(study: Study, content: Content) -> Headers | None:
    """Content whose opener is a call's opener with a word in the name's place."""
    call = study.layout(calls=1)
    opener = (call.glue("prompt_to_call") or "").strip() if call else ""
    if call is None or not opener or not content.start.startswith(opener):
        return None
    span = call.calls[0]
    if span.value is None or not call.text.startswith(needles.FUNCTIONS[0], span.start):
        return None
    behind = call.text[span.start + len(needles.FUNCTIONS[0]) : span.value.start]
    word = content.start[len(opener) : len(content.start) - len(behind)]
    if not behind or not content.start.endswith(behind) or not word.isidentifier():
        return None
    study.found("headers.start", "content / a call: a word in the name's place")
    return Headers(start=opener, end=behind, content=word)


def _named_behind_header(study: Study, reasoning: Reasoning, content: Content) -> Headers | None:
    """Calls that repeat the turn's header with a function's name in its first line.

    Content leaves that line empty.
    """
    call, header = study.layout(calls=1), study.header.strip()
    if call is None or not header or content.start or reasoning.mode is not ReasoningMode.NONE:
        return None
    span, joint = call.calls[0], study.glue("call_to_call", calls=2)
    name = needles.FUNCTIONS[0]
    if span.value is None or span.start or not call.text.startswith(name) or joint is None:
        return None
    behind = call.text[len(name) : span.value.start]
    empty = study.glue("prompt_to_content", content=True)
    if joint.strip() != header or "\n" not in behind or behind.strip() or empty != behind:
        return None
    study.found("headers.start", "content / a call: no word in the name's place")
    return Headers(start=header, end=behind)
