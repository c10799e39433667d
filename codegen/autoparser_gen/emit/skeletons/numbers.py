"""Where a JSON number can go on."""

from __future__ import annotations

# ==== Begin numbers block (identical in every file that has it) ====

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


# ==== End numbers block ====
