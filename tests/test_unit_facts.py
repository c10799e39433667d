"""Facts that the reference auto-parser's own tests pin down: segments, diffs, variants."""

from __future__ import annotations

from typing import Any

import pytest

from autoparser_gen.probe.diff import (
    DiffSplit,
    Segment,
    calculate_diff_split,
    compare_variants,
    segmentize_markers,
)


def text(piece: str) -> Segment:
    return Segment(piece, False)


def marker(piece: str) -> Segment:
    return Segment(piece, True)


@pytest.mark.parametrize(
    ("whole", "expected"),
    [
        ("pre<m>post", [text("pre"), marker("<m>"), text("post")]),
        ("pre[m]post", [text("pre"), marker("[m]"), text("post")]),
        ("<a><b>", [marker("<a>"), marker("<b>")]),
        ("<a>[b]", [marker("<a>"), marker("[b]")]),
        ("[a]<b> c [d]", [marker("[a]"), marker("<b>"), text(" c "), marker("[d]")]),
        ("<a[b>c]", [marker("<a[b>"), text("c]")]),
        ("no end <of marker", [text("no end <of marker")]),
        ("a [ b", [text("a [ b")]),
        ("", []),
    ],
)
def test_segments(whole: str, expected: list[Segment]) -> None:
    assert segmentize_markers(whole) == expected
    assert "".join(segment.text for segment in expected) == whole


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("hello world", "hello test", DiffSplit("hello ", "world", "test", "")),
        ("prefixA suffix", "prefixB suffix", DiffSplit("prefix", "A", "B", " suffix")),
        ("left", "right", DiffSplit("", "lef", "righ", "t")),
        ("Xtest", "Ytest", DiffSplit("", "X", "Y", "test")),
        ("abc", "xyz", DiffSplit("", "abc", "xyz", "")),
        # One text goes on where the other ends, in both directions.
        ("a", "ab", DiffSplit("a", "", "b", "")),
        ("testing", "test", DiffSplit("test", "ing", "", "")),
        ("", "whole", DiffSplit("", "", "whole", "")),
        # Prefix and suffix never overlap.
        ("aa", "ab", DiffSplit("a", "a", "b", "")),
        ("aXa", "aa", DiffSplit("a", "X", "", "a")),
        # Markers are whole; text between them is not.
        ("prefix<t>", "prefix</t>suffix", DiffSplit("prefix", "<t>", "</t>suffix", "")),
        ("a<|b|>", "a<|c|>", DiffSplit("a", "<|b|>", "<|c|>", "")),
        (
            "<d>content</d>",
            "<d>different</d>",
            DiffSplit("<d>", "cont", "differ", "ent</d>"),
        ),
        (
            "PREFIX</t>Sure",
            "PREFIX<t>Lemme think</t>Sure",
            DiffSplit("PREFIX", "", "<t>Lemme think", "</t>Sure"),
        ),
        # An appended prompt is not rotated, though both texts end in a line end.
        ("q<end>\n", "q<end>\n<a>\n", DiffSplit("q<end>\n", "", "<a>\n", "")),
        ("a<b", "a<c", DiffSplit("a<", "b", "c", "")),
    ],
)
def test_diff_split(left: str, right: str, expected: DiffSplit) -> None:
    assert calculate_diff_split(left, right) == expected


@pytest.mark.parametrize("same", ["", "x", "<m>", "a<m>b", "[x][y]"])
def test_equal_texts_are_all_prefix(same: str) -> None:
    assert calculate_diff_split(same, same) == DiffSplit(same, "", "", "")


@pytest.mark.parametrize("left", ["", "ab", "a<m>b", "<m><m>", "x[y]z", "<m", "aa<m>aa"])
@pytest.mark.parametrize("right", ["b", "<m>", "a<m>b<m>", "[y]", "aa<m>aab", "m>"])
def test_the_parts_make_the_texts(left: str, right: str) -> None:
    split = calculate_diff_split(left, right)
    assert split.prefix + split.left + split.suffix == left
    assert split.prefix + split.right + split.suffix == right


def render(messages: list[dict[str, str]], tools: Any = None) -> str | None:
    if any(message["role"] == "refused" for message in messages):
        return None
    return f"[T]{tools}[/T]" + "".join(f"<{m['role']}>{m['content']}" for m in messages)


VARIANT: dict[str, Any] = {"messages": [{"role": "user", "content": "hi"}], "tools": None}


def test_variants_differ_where_they_were_modified() -> None:
    def answered(variant: dict[str, Any]) -> None:
        variant["messages"].append({"role": "bot", "content": "yes"})

    def offered(variant: dict[str, Any]) -> None:
        variant["tools"] = 1

    split = compare_variants(render, VARIANT, answered)
    assert split is not None
    assert (split.left, split.right) == ("", "<bot>yes")
    split = compare_variants(render, VARIANT, offered)
    assert split is not None
    assert (split.left, split.right) == ("None", "1")
    assert VARIANT["messages"] == [{"role": "user", "content": "hi"}]


def test_a_variant_that_is_refused_gives_no_split() -> None:
    def refused(variant: dict[str, Any]) -> None:
        variant["messages"][0]["role"] = "refused"

    assert compare_variants(render, VARIANT, refused) is None
    same = compare_variants(render, VARIANT, lambda variant: None)
    assert same is not None
    assert (same.left, same.right) == ("", "")
