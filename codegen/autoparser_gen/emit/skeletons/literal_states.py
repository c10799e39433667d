"""Where literals that are not JSON can go on inside a container: a table of steps, as for JSON."""

from __future__ import annotations

from functools import lru_cache

from autoparser_gen.emit.skeletons.search import _SPACE
from autoparser_gen.emit.skeletons.states import _ENDED, _PLAIN, _lead, _State, _states

# ==== Begin literal states block (identical in every file that has it) ====

_LITERAL_WORDS = {
    "True": "true",
    "False": "false",
    "None": "null",
    "true": "true",
    "false": "false",
    "null": "null",
}
_WORD_PARTS = frozenset(word[:size] for word in _LITERAL_WORDS for size in range(1, len(word)))
_CLOSERS = {"[": "]", "(": ")", "{": "}"}


@lru_cache
def _literal_states(quotes: tuple[str, ...]) -> dict[str, dict[str, _State]]:
    """What may be expected inside a list, tuple or object, where strings have Python's escapes.

    There is no table where a quote has several characters.
    """
    if max(map(len, quotes)) > 1:
        return {}
    return {closer: _states_inside(closer, quotes) for closer in _CLOSERS.values()}


def _states_inside(closer: str, quotes: tuple[str, ...]) -> dict[str, _State]:
    ways = ("opened", "string", "key opened", "key string")
    names = ("item", "next item", "key", ":", "value", *_WORD_PARTS)
    states = _states([*names, *(way + quote for way in ways for quote in quotes)])
    for word, text in _LITERAL_WORDS.items():
        for size in range(1, len(word) - 1):
            _lead(states[word[:size]], word[size], states[word[: size + 1]], "")
        _lead(states[word[:-1]], word[-1], states["comma"], text)
    for expect, before in {"value": "", "item": "", "next item": ", "}.items():
        for char in "-0123456789":
            _lead(states[expect], char, states["start"][char][0], before + char)
        for word in _LITERAL_WORDS:
            _lead(states[expect], word[0], states[word[0]], before)
        for quote in quotes:
            _lead(states[expect], quote, states["opened" + quote], before + '"')
        for opener in _CLOSERS:
            text = before + ("{" if opener == "{" else "[")
            _lead(states[expect], opener, states[expect], text, "open")
    for expect in (*_ENDED, *names[:5]):
        _lead(states[expect], _SPACE, states["comma" if expect in _ENDED else expect], "")
    if closer != ")":  # of a tuple the commas are counted
        for expect in _ENDED:
            _lead(states[expect], ",", states["key" if closer == "}" else "next item"], "")
        for expect in (*_ENDED, "key", "item", "next item"):
            _lead(states[expect], closer, states[expect], closer, "close")
    _lead(states[":"], ":", states["value"], ": ")
    for quote in quotes:
        for way in ways:
            string = states[way.replace("opened", "string") + quote]
            _lead(states[way + quote], _PLAIN, string, "" if way.startswith("key") else None)
        string = states["string" + quote]
        string[""] = (string, "string" + quote, quote)
        _lead(string, quote, states["comma"], '"')
        _lead(states["key"], quote, states["key opened" + quote], "", "key")
        _lead(states["key string" + quote], quote, states["key string" + quote], "", "end of key")
    return states


# ==== End literal states block ====
