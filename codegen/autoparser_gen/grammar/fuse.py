"""The same language without look-ahead: text and the marker that ends it as one token.

A lexer takes the longest token. Text as a token of its own would take the beginning of the marker
with it, so it becomes part of a token for each marker that may follow: "text up to and with
`<tool_call>`". What follows that marker in the grammar becomes a rule of its own where it holds
text again, so rules that leave off inside a text turn into right-recursive ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from autoparser_gen.errors import GrammarError
from autoparser_gen.grammar.ir import (
    EMPTY,
    Alt,
    Builder,
    Expr,
    Lit,
    Piece,
    Ref,
    Rep,
    ResponseGrammar,
    Rule,
    Seq,
    Stop,
    Text,
    Word,
    alt,
    items_of,
    nullable,
    nullable_rules,
    opt,
    reachable,
    references,
    replaced,
    seq,
)
from autoparser_gen.grammar.schema import slug
from autoparser_gen.grammar.stops import (
    begins,
    leads_to,
    marker_of,
    name_of_ending,
    read_piece,
    stops_inside,
    through,
)

_INSTEAD = "Leave out what makes the file portable; the other form can say it."


def fuse(grammar: ResponseGrammar, special: Collection[str] = ()) -> ResponseGrammar:
    """The grammar with text and the markers that end it as single tokens.

    Markers that are `special` tokens of a model cannot be part of another token, nor need they be:
    no text contains them.

    Raises GrammarError where a text is followed by something else than one of its stops.
    """
    return _Fuser(grammar, special).run()


class _NeedsMore(Exception):
    """What follows a text lies outside the rule that holds it."""


# Stands for what follows a rule, while that rule is converted by itself.
_OUTSIDE = Ref("")


@dataclass(frozen=True)
class _Step:
    """A token that an expression can begin with, and what is left of the expression then."""

    token: Rule
    rest: Expr


@dataclass(frozen=True)
class _Ending:
    """One way in which a text ends: the token it becomes part of, and what follows that.

    `special` is the marker behind the text that stays a token of its own.
    """

    name: str
    body: Expr
    rest: Expr
    special: Ref | None = None


class _Fuser:
    def __init__(self, grammar: ResponseGrammar, special: Collection[str]) -> None:
        self.grammar = grammar
        self.special = special
        self.builder = Builder()
        self.builder.rules = {rule.name: rule for rule in grammar.rules}
        self.empty = nullable_rules(grammar.rules)
        self.closed: dict[str, bool] = {}  # rules that hold no text, or all that ends it too
        self.names: dict[Expr, str] = {}  # of the rules for what follows a fused token
        self.with_rest: set[str] = set()  # the names of rules for others with what follows them
        self.never_chosen: set[Expr] = set()  # what cannot be converted by itself
        self.ends: dict[tuple[str, Expr], Expr] = {}  # by text and what follows it
        self.endings: dict[tuple[str, Expr], Sequence[_Ending]] = {}  # by the same
        # Rules with a name, whose bodies are still to be made: one after the other, since what
        # follows the calls of one tool is those of all others, however many there are.
        self.pending: list[tuple[str, tuple[Expr, ...]]] = []

    def run(self) -> ResponseGrammar:
        """The fused grammar."""
        start = self.grammar.start
        body = self.convert(self.grammar[start].body)
        self._define_pending()
        self.builder.rules[start] = Rule(start, body)
        for name, rule in self.builder.rules.items():
            body = replaced(rule.body, {_OUTSIDE.name: EMPTY})
            self.builder.rules[name] = replace(rule, body=body)
        self._dissolve(start)
        fused = self.builder.build(start)
        return ResponseGrammar(fused.rules, start, self.grammar.warnings)

    def _dissolve(self, start: str) -> None:
        """Write a rule with what follows it where it is used, if that is one place only."""
        rules = self.builder.rules
        used = [rule.body for rule in reachable(rules, start)]
        count = Counter(name for body in used for name in references(body))
        once = {name: rules[name].body for name in self.with_rest if count[name] == 1}

        def dissolved(expr: Expr) -> Expr:
            found = {name: dissolved(once[name]) for name in references(expr) if name in once}
            return replaced(expr, found) if found else expr

        self.builder.rules = {
            name: replace(rule, body=dissolved(rule.body)) for name, rule in rules.items()
        }

    # ---- expressions that hold text which something after it ends ----

    def convert(self, expr: Expr, word: str = "") -> Expr:
        """An expression that goes on to the end of the response, without text tokens.

        `word` is the literal before it, after which rules for what follows are named.
        """
        if not self._is_open(expr):
            return expr
        first, *following = items_of(expr)
        rest = seq(*following)
        if not self._is_open(first):
            second = items_of(rest)[0]
            if isinstance(first, Ref) and self._is_choice(second):
                return seq(first, self._following(rest, word or first.name))
            word = slug(first.text) if isinstance(first, Lit) else word
            return self._joined(first, rest) or seq(first, self.convert(rest, word))
        if isinstance(first, Ref):
            rule = self.grammar[first.name]
            if isinstance(rule.body, Text):
                return self._fused(rule, rest)
            return self._with_rest(rule, rest)
        if isinstance(first, Alt):
            return alt(*(self.convert(seq(item, rest)) for item in first.items))
        if isinstance(first, Rep):
            return self._repeated(first, rest)
        raise GrammarError(
            f"text stands where it cannot become part of a token: {first}. {_INSTEAD}"
        )

    def _with_rest(self, rule: Rule, rest: Expr) -> Expr:
        """An open rule with what follows it, as a rule: several tools go on with the same."""
        whole = seq(rule.body, rest)
        if isinstance(rule.body, Ref) or nullable(whole, self.empty):
            return self.convert(whole)
        if whole not in self.names:
            name = self.names[whole] = self.builder.reserve(f"{rule.name}-and-rest")
            self.with_rest.add(name)
            self.pending.append((name, (whole,)))
        return Ref(self.names[whole])

    def _define_pending(self) -> None:
        """Give the rules that have only a name their bodies."""
        while self.pending:
            name, choices = self.pending.pop()
            self.builder.define(name, alt(*map(self.convert, choices)))

    def _is_open(self, expr: Expr) -> bool:
        return any(name and not self._is_closed(name) for name in references(expr))

    def _is_closed(self, name: str) -> bool:
        """Whether what ends every text in a rule is in the rule; then it is converted by itself."""
        rule = self.grammar[name]
        if name not in self.closed:
            self.closed[name] = True  # for rules that refer to themselves
            if rule.token:
                self.closed[name] = not isinstance(rule.body, Text)
            elif (body := self._by_itself(rule.body)) is None:
                self.closed[name] = False
            elif body != rule.body:
                self.builder.rules[name] = Rule(name, body, capture=rule.capture)
        return self.closed[name]

    def _by_itself(self, expr: Expr) -> Expr | None:
        """An expression without text tokens; None if something after it ends its text."""
        if not self._is_open(expr):
            return expr
        known = dict(self.names), dict(self.ends), dict(self.builder.rules), dict(self.closed)
        pending, self.pending = self.pending, []
        try:
            body = self.convert(seq(expr, _OUTSIDE))
            self._define_pending()
            return body
        except _NeedsMore:
            # What was converted meanwhile is gone with the rest, and has to be so again.
            open_rules = {other for other, closed in self.closed.items() if not closed}
            self.names, self.ends, self.builder.rules, self.closed = known
            self.closed.update(dict.fromkeys(open_rules, False))
            return None
        finally:
            self.pending = pending

    def _repeated(self, first: Rep, rest: Expr) -> Expr:
        whole = seq(first, rest)
        if first.high is None and not first.low:
            if whole not in self.names:
                name = self.names[whole] = self.builder.reserve("further")
                self.pending.append((name, (seq(first.item, whole), rest)))
            return Ref(self.names[whole])
        once = self.convert(seq(first.item, _one_less(first), rest))
        return once if first.low else alt(once, self.convert(rest))

    def _following(self, rest: Expr, token: str) -> Expr:
        """What follows a fused token, as a rule where it holds text again.

        A choice, such as of the calls of several tools, is a rule with as much of what follows
        it as ends its texts: a parser generator copies what is optional for each alternative.
        """
        items = items_of(rest)
        if items and self._is_choice(items[0]):
            for end in range(1, len(items)):
                if isinstance(items[end - 1], Rep):
                    break  # it may hold the same choice again
                if (chosen := self._chosen(seq(*items[:end]), token)) is not None:
                    return seq(chosen, self._following(seq(*items[end:]), token))
        if not self._is_open(rest):
            return rest
        if rest not in self.names:
            name = self.names[rest] = self.builder.reserve(f"after-{token}")
            self.pending.append((name, (rest,)))
        return Ref(self.names[rest])

    def _is_choice(self, expr: Expr) -> bool:
        """Whether an expression is one of several, or an open rule of several."""
        if isinstance(expr, Ref) and self._is_open(expr):
            return isinstance(self.grammar[expr.name].body, Alt)
        return isinstance(expr, Alt)

    def _chosen(self, expr: Expr, token: str) -> Expr | None:
        """A rule for an expression that is converted by itself; None if it cannot be so."""
        whole = seq(expr, _OUTSIDE)
        if whole in self.never_chosen:
            return None
        if whole not in self.names:
            body = self._by_itself(expr)
            if body is None:
                self.never_chosen.add(whole)
                return None
            self.names[whole] = self.builder.rule(f"after-{token}", body).name
        return Ref(self.names[whole])

    # ---- text and what ends it ----

    def _fused(self, text: Rule, rest: Expr) -> Expr:
        """Text with each of its endings; of several a rule, since texts of many tools end so."""
        if (text.name, rest) not in self.ends:
            self.ends[text.name, rest] = self._with_endings(text, rest)
        return self.ends[text.name, rest]

    def _with_endings(self, text: Rule, rest: Expr) -> Expr:
        endings, shared = self._shared(text, rest)
        choices = []
        free = False
        for ending in endings:
            if ending.special is not None:
                following = self._following(ending.rest, ending.special.name)
                choices.append(seq(opt(Ref(text.name)), ending.special, following))
                continue
            token = self.builder.token(ending.name, ending.body, capture=text.capture)
            whole = isinstance(ending.body, Text)
            free = free or whole
            following = self._following(ending.rest, ending.name.partition("-to-")[2])
            choices.append(token if whole else seq(token, following))
        fused = alt(*choices, *shared)
        if (
            len(choices) + len(shared) > 1 and not free
        ):  # text up to the end may be empty, which no rule is
            fused = self.builder.rule(f"{text.name}-and-rest", fused)
        return opt(fused) if free else fused

    def _shared(self, text: Rule, rest: Expr) -> tuple[Sequence[_Ending], tuple[Expr, ...]]:
        """The endings of a text, and a rule for some of them: those past what may be missing.

        What may be missing is an argument, say; the calls behind it are the same for many texts.
        """
        items = items_of(rest)
        at = next((at for at, item in enumerate(items) if self._may_be_missing(item)), None)
        if at is None:
            return self._endings(text, rest), ()
        missing = seq(*items[:at], *items[at + 1 :])
        present = seq(*items[:at], *_present(items[at]), *items[at + 1 :])
        others = self._endings(text, missing)
        if len(others) < 2 or any(isinstance(ending.body, Text) for ending in others):
            return self._endings(text, rest), ()
        own = self._endings(text, present)
        if {replace(one, rest=EMPTY) for one in own} & {replace(one, rest=EMPTY) for one in others}:
            return self._endings(text, rest), ()
        return own, (self._fused(text, missing),)

    def _may_be_missing(self, expr: Expr) -> bool:
        """Whether an expression is an optional one, and of more than whitespace."""
        if not isinstance(expr, Rep) or expr.low:
            return False
        return any(read_piece(step.token) for step in self._steps(expr.item))

    def _joined(self, first: Expr, rest: Expr) -> Expr | None:
        """A marker, the text after it and the only marker that ends it, as one token."""
        before = self.grammar[first.name] if isinstance(first, Ref) and first.name else None
        text = _first_rule(self.grammar, rest)
        if before is None or not before.token or text is None or not isinstance(text.body, Text):
            return None
        following = seq(*rest.items[1:]) if isinstance(rest, Seq) else EMPTY
        endings = self._endings(text, following)
        apart = any(ending.special for ending in endings) or self._is_special(marker_of(before))
        if len(endings) != 1 or isinstance(endings[0].body, Text) or apart:
            return None
        closer = endings[0].name.partition("-to-")[2]
        body = seq(Ref(before.name), endings[0].body)
        token = self.builder.token(f"{before.name}-to-{closer}", body, capture=text.capture)
        return seq(token, self._following(endings[0].rest, closer))

    def _endings(self, text: Rule, rest: Expr) -> Sequence[_Ending]:
        """Every way in which a text ends, each once, with all that may follow it."""
        if (text.name, rest) not in self.endings:
            self.endings[text.name, rest] = tuple(self._all_endings(text, rest))
        return self.endings[text.name, rest]

    def _all_endings(self, text: Rule, rest: Expr) -> Iterator[_Ending]:
        rests: dict[_Ending, dict[Expr, None]] = {}
        for ending in self._search(text, rest, (), ()):
            rests.setdefault(replace(ending, rest=EMPTY), {})[ending.rest] = None
        for ending, following in rests.items():
            some = [expr for expr in following if expr != EMPTY]
            either = _either(some)
            yield replace(ending, rest=opt(either) if some and EMPTY in following else either)

    def _search(
        self, text: Rule, rest: Expr, read: Stop, tokens: tuple[Rule, ...]
    ) -> Iterator[_Ending]:
        """The endings that begin with what has been `read` of a stop, in these `tokens`."""
        assert isinstance(text.body, Text)
        spaced = False
        for step in self._steps(rest):
            marker = read_piece(step.token)
            if not marker:
                spaced = True
                continue
            stop = (*read, marker)
            if not read and self._is_special(marker) and _begins_one(marker, text.body.stops):
                yield _Ending(text.name, text.body, step.rest, Ref(step.token.name))
                continue
            begun = next((one for one in text.body.stops if begins(stop, one)), None)
            if begun is not None:
                yield _Ending(
                    name_of_ending(text, stop, begun, step.token),
                    through(text.body, stop, begun, step.token),
                    step.rest,
                )
            elif any(leads_to(stop, other) for other in text.body.stops):
                yield from self._search(text, step.rest, stop, (*tokens, step.token))
            else:
                raise GrammarError(
                    f"{text.name!r} is text until {text.body.stops}, but {marker!r} follows it."
                    f" {_INSTEAD}"
                )
        if not nullable(rest, self.empty):
            return
        if not read:
            yield _Ending(text.name, text.body, EMPTY)
        else:
            space = [opt(Ref(step.token.name)) for step in self._steps(rest) if spaced][:1]
            inside = Text(stops_inside(text.body.stops))
            body = seq(inside, *(Ref(token.name) for token in tokens), *space)
            yield _Ending(f"{text.name}-to-end", body, EMPTY)

    def _is_special(self, marker: Piece) -> bool:
        """Whether a marker begins with a special token."""
        return isinstance(marker, str) and marker.startswith(tuple(self.special))

    def _steps(self, expr: Expr) -> Iterator[_Step]:
        """The tokens that an expression can begin with."""
        if expr == _OUTSIDE:
            raise _NeedsMore
        if isinstance(expr, Lit):
            yield _Step(Rule("literal", expr, token=True), EMPTY)
        elif isinstance(expr, Ref):
            rule = self.grammar[expr.name]
            first, *behind = items_of(rule.body) or (EMPTY,)
            if rule.token and isinstance(first, Word):  # and the marker behind it, another piece
                yield _Step(replace(rule, body=first), seq(*behind))
            elif rule.token:
                yield _Step(rule, EMPTY)
            else:
                yield from self._steps(rule.body)
        elif isinstance(expr, Seq):
            for at, item in enumerate(expr.items):
                for step in self._steps(item):
                    yield _Step(step.token, seq(step.rest, *expr.items[at + 1 :]))
                if not nullable(item, self.empty):
                    break
        elif isinstance(expr, Alt):
            for item in expr.items:
                yield from self._steps(item)
        elif isinstance(expr, Rep):
            for step in self._steps(expr.item):
                yield _Step(step.token, seq(step.rest, _one_less(expr)))


def _first_rule(grammar: ResponseGrammar, expr: Expr) -> Rule | None:
    first = expr.items[0] if isinstance(expr, Seq) and expr.items else expr
    return grammar[first.name] if isinstance(first, Ref) and first.name else None


def _begins_one(marker: Piece, stops: tuple[Stop, ...]) -> bool:
    """Whether a marker, or the beginning of it, is what a stop begins with."""
    return any(begins((marker,), stop[:1]) for stop in stops)


def _either(choices: list[Expr]) -> Expr:
    """One of the expressions; what all of several end with is written once."""
    end: list[Expr] = []
    for last in zip(*(reversed(items_of(expr)) for expr in choices), strict=False):
        if len(set(last)) > 1:
            break
        end.insert(0, last[0])
    begun = [items_of(expr)[: -len(end)] for expr in choices]
    if len(choices) < 2 or not end or () in begun:
        return alt(*choices) if choices else EMPTY
    return seq(alt(*(seq(*items) for items in begun)), *end)


def _present(optional: Expr) -> tuple[Expr, ...]:
    """What may be missing, where it is not."""
    assert isinstance(optional, Rep), "what may be missing is repeated from no times on"
    return optional.item, _one_less(optional)


def _one_less(expr: Rep) -> Expr:
    if expr.high is None:
        return Rep(expr.item, max(expr.low - 1, 0))
    high = expr.high - 1
    return Rep(expr.item, max(expr.low - 1, 0), high) if high else EMPTY
