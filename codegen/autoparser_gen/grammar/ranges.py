"""Numbers between bounds, as expressions over their digits.

Longer numbers come first: Python's `re` takes the first alternative that matches.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from autoparser_gen.grammar.ir import CharClass, Expr, Lit, Rep, alt, chars, opt, seq
from autoparser_gen.grammar.pattern import DIGIT

MAX_DIGITS = 20
# In either direction: beyond are infinity and zero to those who read doubles.
MAX_EXPONENT = 300


def integers(low: int | None, high: int | None) -> Expr | None:
    """The integers from `low` to `high`, without leading zeros; None where there are none."""
    choices: list[Expr] = []
    if low is None or low < 0:
        least = 1 if high is None or high >= 0 else -high
        negative = _between(least, None if low is None else -low)
        if negative is not None:
            choices.append(seq("-", negative))
    if high is None or high >= 0:
        positive = _between(max(low or 0, 0), high)
        if positive is not None:
            choices.append(positive)
    return alt(*choices) if choices else None


def numbers(
    low: Decimal | None, high: Decimal | None, *, above: bool = False, below: bool = False
) -> Expr | None:
    """Decimal numbers from `low` to `high`; `above` and `below` leave the bounds themselves out.

    None where there are none. An exponent stands behind one digit and its fraction, as Python and
    JavaScript write it, where the bounds permit all numbers of that exponent.
    """
    choices: list[Expr] = []
    if high is None or high >= 0:
        zero = low is None or low < 0
        positive = _decimals(
            Decimal(0) if zero or low is None else low, high, above=above and not zero, below=below
        )
        choices += [positive] if positive is not None else []
    if low is None or low < 0:
        least = Decimal(0) if high is None or high >= 0 else -high
        negative = _decimals(
            least, None if low is None else -low, above=below or least == 0, below=above
        )
        choices += [seq("-", negative)] if negative is not None else []
    return alt(*choices) if choices else None


def _between(low: int, high: int | None) -> Expr | None:
    """Integers that are not negative."""
    if high is None:
        return _at_least(low)
    if low > high:
        return None
    choices = []
    for length in range(len(str(high)), len(str(low)) - 1, -1):
        first = max(low, 10 ** (length - 1) if length > 1 else 0)
        last = min(high, 10**length - 1)
        choices.append(_same_length(str(first), str(last)))
    return alt(*choices)


def _at_least(low: int) -> Expr:
    length = len(str(low))
    same = _same_length(str(low), "9" * length)
    if length >= MAX_DIGITS:
        return same
    longer = seq(chars("1-9"), Rep(DIGIT, length, MAX_DIGITS - 1))
    return alt(longer, same)


def _same_length(low: str, high: str) -> Expr:
    """Digit strings from `low` to `high`, which are equally long."""
    if low == high:
        return Lit(low)
    if len(low) == 1:
        return _digits(low, high)
    if low[0] == high[0]:
        return seq(low[0], _same_length(low[1:], high[1:]))
    zeros, nines = "0" * (len(low) - 1), "9" * (len(low) - 1)
    first, last = int(low[0]), int(high[0])
    choices: list[Expr] = []
    if low[1:] != zeros:
        choices.append(seq(low[0], _same_length(low[1:], nines)))
        first += 1
    upper: list[Expr] = []
    if high[1:] != nines:
        upper.append(seq(high[0], _same_length(zeros, high[1:])))
        last -= 1
    if first <= last:
        choices.append(seq(_digits(str(first), str(last)), _any_digits(len(low) - 1)))
    return alt(*choices, *upper)


def _digits(low: str, high: str) -> Expr:
    return Lit(low) if low == high else CharClass(((low, high),))


def _any_digits(count: int) -> Expr:
    return DIGIT if count == 1 else Rep(DIGIT, count, count)


def _decimals(low: Decimal, high: Decimal | None, *, above: bool, below: bool) -> Expr | None:
    """Decimal numbers that are not negative."""
    if high is not None and (low > high or (low == high and (above or below))):
        return None
    floor = int(low)
    ceiling = None if high is None else int(high)
    if floor == ceiling:
        assert high is not None
        between = _Fractions(_fraction(low), _fraction(high), above, below)
        found = [_scientific(low, high, above=above), _with_fraction(floor, between)]
        return _alt(found)
    choices = [_scientific(low, high, above=above)]
    if high is not None and ceiling is not None:
        choices.append(_with_fraction(ceiling, _Fractions("", _fraction(high), False, below)))
    whole = _between(floor + 1, None if ceiling is None else ceiling - 1)
    if whole is not None:
        choices.append(seq(whole, opt(seq(".", Rep(DIGIT, 1, MAX_DIGITS)))))
    choices.append(_with_fraction(floor, _Fractions(_fraction(low), None, above, False)))
    return _alt(choices)


def _alt(choices: Iterable[Expr | None]) -> Expr | None:
    found = [choice for choice in choices if choice is not None]
    return alt(*found) if found else None


def _scientific(low: Decimal, high: Decimal | None, *, above: bool) -> Expr | None:
    """Positive numbers with an exponent that leaves all of them between the bounds."""
    least, most = -MAX_EXPONENT, MAX_EXPONENT
    if low:
        is_power = low == Decimal(1).scaleb(low.adjusted())
        least = max(least, low.adjusted() + int(above or not is_power))
    if high is not None:
        most = min(most, high.adjusted() - 1) if high else least - 1
    down = _between(max(1, -most), -least)
    up = _between(max(0, least), most)
    choices = [
        None if down is None else seq("-", opt("0"), down),
        None if up is None else seq(opt("+"), opt("0"), up),
    ]
    exponent = _alt(choices)
    if exponent is None:
        return None
    return seq(chars("1-9"), opt(seq(".", Rep(DIGIT, 1, MAX_DIGITS))), chars("eE"), exponent)


def _fraction(value: Decimal) -> str:
    """The digits behind the point, without zeros at the end."""
    return f"{value % 1:f}".partition(".")[2].rstrip("0")


def _with_fraction(whole: int, fractions: _Fractions) -> Expr | None:
    """One whole number with the fractions that are allowed behind it."""
    digits = fractions.digits()
    if digits is None:
        return Lit(str(whole)) if fractions.allow_nothing else None
    behind = seq(".", digits)
    return seq(str(whole), opt(behind) if fractions.allow_nothing else behind)


@dataclass(frozen=True)
class _Fractions:
    """Fractions from `low` to `high`, given by their digits; `high` None is unlimited.

    `above` and `below` leave the bounds themselves out.
    """

    low: str
    high: str | None
    above: bool
    below: bool

    @property
    def allow_nothing(self) -> bool:
        """Whether no further digit, which is as good as zeros, is inside."""
        return not self.low and not self.above and (self.high != "" or not self.below)

    def digits(self) -> Expr | None:
        """One digit or more; None where there are none."""
        if self.high == "":
            zeros = not self.low and not self.above and not self.below
            return Rep(Lit("0"), 1, MAX_DIGITS) if zeros else None
        if not self.low and self.high is None:
            if not self.above:
                return Rep(DIGIT, 1, MAX_DIGITS)
            rest = Rep(DIGIT, 0, MAX_DIGITS)
            return seq(Rep(Lit("0"), 0, MAX_DIGITS), chars("1-9"), rest)
        choices: list[Expr] = []
        first, last = int(self.low[:1] or "0"), int(self.high[0]) if self.high else 9
        free = [digit for digit in range(first, last + 1) if not self._bounded(digit)]
        for digit in range(first, last + 1):
            if self._bounded(digit):
                choices += self._behind(digit)
        if free:
            any_digits = Rep(DIGIT, 0, MAX_DIGITS)
            choices.append(seq(_digits(str(free[0]), str(free[-1])), any_digits))
        return alt(*choices) if choices else None

    def _bounded(self, digit: int) -> bool:
        """Whether bounds still hold behind a first digit."""
        at_low = digit == int(self.low[:1] or "0") and (self.low != "" or self.above)
        return at_low or (bool(self.high) and digit == int((self.high or "0")[0]))

    def _behind(self, digit: int) -> list[Expr]:
        at_low = digit == int(self.low[:1] or "0")
        at_high = bool(self.high) and digit == int((self.high or "0")[0])
        rest = _Fractions(
            self.low[1:] if at_low else "",
            (self.high or "")[1:] if at_high else None,
            self.above and at_low,
            self.below and at_high,
        )
        digits = rest.digits()
        choices: list[Expr] = [] if digits is None else [seq(str(digit), digits)]
        return choices + ([Lit(str(digit))] if rest.allow_nothing else [])
