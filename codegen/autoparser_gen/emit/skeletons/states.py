"""Where JSON and literals like it can go on: numbers, and what changes with a character."""

from __future__ import annotations

from collections.abc import Iterable

# ==== Begin states block (identical in every file that has it) ====

# State -> character class -> state. A number may end in a capitalised one.
_NUMBER = {
    "start": {"-": "minus", "0": "Zero", "1": "Integer"},
    "minus": {"0": "Zero", "1": "Integer"},
    "Zero": {".": "point", "e": "exponent"},
    "Integer": {"0": "Integer", "1": "Integer", ".": "point", "e": "exponent"},
    "point": {"0": "Fraction", "1": "Fraction"},
    "Fraction": {"0": "Fraction", "1": "Fraction", "e": "exponent"},
    "exponent": {"-": "sign", "+": "sign", "0": "Digits", "1": "Digits"},
    "sign": {"0": "Digits", "1": "Digits"},
    "Digits": {"0": "Digits", "1": "Digits"},
}
_NUMBER_CLASS = {**dict.fromkeys("123456789", "1"), **dict.fromkeys("eE", "e")}
_NUMBER_CLASS |= {char: char for char in "0.+-"}
_ENDED = frozenset(["comma", *filter(str.istitle, _NUMBER)])  # a value has ended, or may end here
_PLAIN = "".join(char for char in map(chr, range(ord(" "), 127)) if char not in "\"'\\")
_SHORT_PIECE = 16  # characters; longer ones are read by patterns


# What is expected inside a container: a character -> what is expected then, what it is as JSON text,
# and what it does to the container or to a key. Under "" stand the name of the state itself and, in a
# string that is a value, its quote.
_State = dict[str, tuple["_State", str, str]]


def _states(names: Iterable[str]) -> dict[str, _State]:
    """These states, with those inside of numbers and the one behind a value."""
    states: dict[str, _State] = {name: {} for name in ("comma", *names, *_NUMBER)}
    for name, state in states.items():
        state[""] = (state, name, "")
    for name, following in _NUMBER.items():
        for char, kind in _NUMBER_CLASS.items():
            if kind in following:
                _lead(states[name], char, states[following[kind]])
    return states


def _lead(
    state: _State, chars: Iterable[str], target: _State, text: str | None = None, action: str = ""
) -> None:
    """Characters that lead to a state; as JSON text they are themselves, or this."""
    state.update((char, (target, char if text is None else text, action)) for char in chars)


# ==== End states block ====
