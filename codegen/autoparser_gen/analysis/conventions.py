"""Named conventions: the few facts that lie outside of what a chat template renders.

Each has a behavioural trigger, which is a property of renderings. None looks at the chat
template's source or at the model's name. `CONVENTIONS` is the whole list; the functions below it
apply the rules about marker shapes, the other modules those about ids and headers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from autoparser_gen.probe.glue import is_boundary


@dataclass(frozen=True)
class Convention:
    """One rule: why it holds, where it was seen, and what in the renderings makes it apply."""

    name: str
    reason: str
    source: str
    trigger: str


CONVENTIONS = (
    Convention(
        "opener-in-header",
        "When every generation prompt and every turn opens reasoning, the opener looks like a part"
        " of the header.",
        "chat templates of models that always think",
        "the reasoning's closer is known, its opener is not, and the header ends with a marker that"
        " shares a word with the closer",
    ),
    Convention(
        "mirrored-closer",
        "Chat templates that open reasoning in every prompt often drop it from history, and never"
        " show what the model writes behind it. A closer mirrors its opener.",
        "chat templates of reasoning models whose history keeps answers only",
        "every generation prompt ends with one marker that no rendered turn contains; or the block"
        " stands before every call, empty where no reasoning is given",
    ),
    Convention(
        "mirrored-opener",
        "Chat templates that cut reasoning out of history look for its closer only.",
        "chat templates that split content at a closer",
        "a planted closer cuts text out of history, and no rendering shows an opener",
    ),
    Convention(
        "closed-in-prompt",
        "Some chat templates switch reasoning off for good: every prompt holds an empty block.",
        "chat templates of models tuned not to think",
        "every generation prompt ends with a marker and its mirrored closer, nothing between them",
    ),
    Convention(
        "pairs-in-instructions",
        "Where thinking is asked for in prose alone, the prose names the markers as adjacent pairs.",
        "chat templates whose thinking option only changes the system prompt",
        "a thinking option adds text before the user's message, and that text holds adjacent pairs of"
        " an opener and its mirrored closer: the first is reasoning, a second one wraps content",
    ),
    Convention(
        "id-carries-name",
        "Some formats identify a call by `PREFIX NAME SEPARATOR NUMBER`, written where the name"
        " belongs. Models leave out the prefix or the number.",
        "chat templates that print a call's id and never its name",
        "the name is only shown when the id holds it, or a number that grows with each call follows"
        " the name",
    ),
    Convention(
        "words-in-headers",
        "A turn of several messages names channel and recipient in each message's header; models"
        " write these words in another order than history does, and add a content type.",
        "published descriptions of channel formats",
        "the assistant's header is repeated inside a turn, or the generation prompt ends inside a"
        " header that goes on differently for content and for calls",
    ),
    Convention(
        "tag-before-json",
        "Models whose calls are bare JSON in history often write the token that announces tool"
        " output first, which their chat template keeps for calls of another kind.",
        "the vendor's description of the prompt format of Llama 3.1 to 3.3, and public bug reports",
        "no marker stands before a call that is JSON, and one of `CALL_TAGS` is among the chat"
        " template's own string literals",
    ),
)

CALL_TAGS = ("<|python_tag|>",)

# How models write the content type that history shows as one word (words-in-headers). Source:
# OpenAI's harmony format, where a generated header is `commentary to=functions.f <|constrain|>json`.
CONSTRAIN = "<|constrain|>"

_INVERSES = (
    ("start", "end"),
    ("START", "END"),
    ("Start", "End"),
    ("begin", "end"),
    ("BEGIN", "END"),
    ("Begin", "End"),
    ("open", "close"),
)


def shared_words(left: str, right: str) -> set[str]:
    """Words that two markers have in common, without regard to case."""
    words = [set(re.findall(r"[^\W_]+", text.lower())) for text in (left, right)]
    return words[0] & words[1]


def opener_in_header(header: str, end: str) -> str:
    """The reasoning's opener at the end of a header ("opener-in-header"), or ""."""
    best = (0, "")
    # From the back: the shortest of those that share most words with the closer.
    for at in range(len(header.rstrip()) - 1, 0, -1):
        count = len(shared_words(header[at:], end))
        if header[at] in "<[" and is_boundary(header, at) and count > best[0]:
            best = (count, header[at:])
    return best[1]


def mirrored_closer(opener: str) -> str:
    """`</x>` for `<x>`, `[/X]` for `[X]`, END for START; "" where the opener has no such shape."""
    core = opener.strip()
    simple = re.fullmatch(r"([<\[])([\w:.-]+)([>\]])", core)
    if simple:
        return f"{simple[1]}/{simple[2]}{simple[3]}"
    for start, end in _INVERSES:
        if re.search(rf"(?<![A-Za-z]){start}(?![A-Za-z])|{start}(?=_)", core):
            return core.replace(start, end)
    barred = re.fullmatch(r"<\|([\w:.-]+)>", core)
    return f"<{barred[1]}|>" if barred else ""


def mirrored_opener(closer: str) -> str:
    """The reverse of `mirrored_closer`."""
    core = closer.strip()
    simple = re.fullmatch(r"([<\[])/([\w:.-]+)([>\]])", core)
    if simple:
        return f"{simple[1]}{simple[2]}{simple[3]}"
    for start, end in _INVERSES:
        if re.search(rf"(?<![A-Za-z]){end}(?![A-Za-z])|{end}(?=_)", core):
            return core.replace(end, start)
    barred = re.fullmatch(r"<([\w:.-]+)\|>", core)
    return f"<|{barred[1]}>" if barred else ""


def closed_pair(prompt: str) -> str:
    """A marker and its mirrored closer, with the whitespace around them, at the end of a prompt."""
    found = re.search(r"(<[^<>/]+>|\[[^\[\]/]+\])\s*(<[^<>]+>|\[[^\[\]]+\])\s*$", prompt)
    if found is None or mirrored_closer(found[1]) != found[2]:
        return ""
    return found[0]


def tag_before_json(literals: Iterable[str]) -> str:
    """The tag that a model may write before a call of bare JSON ("tag-before-json"), or ""."""
    return next((tag for tag in CALL_TAGS for text in literals if tag in text), "")


def adjacent_pairs(text: str) -> list[tuple[str, str]]:
    """Openers that are directly followed by their mirrored closers."""
    pairs = []
    for opener in re.finditer(r"<[^<>/\s]+>|\[[^\[\]/\s]+\]", text):
        closer = mirrored_closer(opener[0])
        if closer and text.startswith(closer, opener.end()):
            pairs.append((opener[0], closer))
    return list(dict.fromkeys(pairs))
