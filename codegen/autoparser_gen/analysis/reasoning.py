"""Reasoning: the markers around it (phases R1 to R3)."""

from __future__ import annotations

from dataclasses import replace

from autoparser_gen.analysis import conventions
from autoparser_gen.analysis.model import Reasoning, ReasoningMode
from autoparser_gen.analysis.plants import planted_closer, planted_pair
from autoparser_gen.analysis.study import Study, is_on
from autoparser_gen.probe import Options, needles
from autoparser_gen.probe.edges import count_markers
from autoparser_gen.probe.glue import shared_end, shared_start, without_suffix

PROMPTS = "generation prompts with thinking on / off"


def analyze_reasoning(study: Study) -> Reasoning:
    """Find the reasoning markers: in history, else in the generation prompts, else by plants."""
    found = compare_reasoning_presence(study)
    if found.mode is ReasoningMode.NONE:
        found = compare_reasoning_scope(study)
    found = compare_thinking_enabled(study, found)
    if not found.end.strip():
        found = _closed_in_every_prompt(study, found)
    if not found.end.strip():
        found = _closer_by_plant(study, found)
    if found.end.strip() and not found.start.strip():
        found = _opener_for(study, found)
    if not found.end.strip():
        found = _closer_by_convention(study, found)
    if not found.end.strip():
        found = _pair_in_instructions(study, found)
    if found.end.strip() and found.mode is ReasoningMode.NONE:
        found = replace(found, mode=ReasoningMode.TAG_BASED)
    if not found.end.strip():
        return _closed_by_next_line(study, found)
    found = _out_of_header(study, found)
    return _as_history_spaces_it(study, replace(found, start=found.start.lstrip()))


# -- R1 and R3: reasoning that history shows ---------------------------------------------------


def compare_reasoning_presence(study: Study) -> Reasoning:
    """R1: content with and without reasoning."""
    if not _find_field(study, calls=0):
        return Reasoning()
    layout = study.layout(reasoning=True, content=True)
    start = layout.before("reasoning") if layout else None
    to_content = layout.glue("reasoning_to_content") if layout else None
    if layout is None or start is None or to_content is None:
        study.forget_reasoning()  # what stands behind an answer is none
        return Reasoning()
    plain = study.layout(content=True)
    texts = (plain.text if plain else "", layout.text)
    study.found("reasoning.start", "content without / with reasoning", *texts)
    study.found("reasoning.end", "reasoning before content / before a call", *texts)
    to_call = study.glue("reasoning_to_call", reasoning=True, calls=1)
    end = to_content if to_call is None else shared_start(to_content, to_call)
    return _in_this_message(study, Reasoning(ReasoningMode.TAG_BASED, _trimmed(start), end))


def compare_reasoning_scope(study: Study) -> Reasoning:
    """R3: reasoning with a call, where a turn without a call does not show it."""
    if not study.prober.renders_calls or not _find_field(study, calls=1):
        return Reasoning()
    layout = study.layout(reasoning=True, calls=1)
    start = layout.before("reasoning") if layout else None
    to_call = layout.glue("reasoning_to_call") if layout else None
    if start is None or to_call is None:
        study.forget_reasoning()
        return Reasoning()
    study.found("reasoning.start", "reasoning with content / with a call")
    end = _closer_before_call(study, start.strip(), to_call)
    return _in_this_message(study, Reasoning(ReasoningMode.TOOLS_ONLY, _trimmed(start), end))


def _trimmed(opener: str) -> str:
    """An opener without the whitespace before it; whitespace alone may follow one in the header."""
    return opener.lstrip() or opener


def _find_field(study: Study, calls: int) -> bool:
    """Look for the message key and the option that make reasoning appear; keep both."""
    prober = study.prober
    options: list[Options] = [{}]
    options += [
        {name: True} for name in ("enable_thinking", "thinking") if name in prober.option_values
    ]
    options += [{name: True} for name in prober.option_values if {name: True} not in options]
    for chosen in options:
        name = prober.find_reasoning_field(chosen, needles.calls(calls))
        if name:
            prober.set_reasoning_field(name, chosen)
            return True
    return False


def _closer_before_call(study: Study, start: str, to_call: str) -> str:
    """The closer in front of a call: what an empty block shows, else what no other call shows."""
    leads = [prefill for _, prefill in study.prefills()]
    leads.append(study.glue("prompt_to_content", content=True) or "")
    leads.append(study.glue("prompt_to_call", calls=1) or "")
    margin = to_call[: len(to_call) - len(to_call.lstrip())]
    for lead in leads:
        if start and lead.lstrip().startswith(start):
            rest = lead.lstrip()[len(start) :].lstrip()
            shared = shared_start(rest, to_call.lstrip())
            if shared.strip() and shared.strip() != to_call.strip():
                study.found("reasoning.end", "reasoning before a call / an empty block")
                return margin + shared
            closer = conventions.mirrored_closer(start)
            if closer and shared.startswith(closer):  # an empty block stands before every call
                study.found("reasoning.end", "convention mirrored-closer")
                return margin + closer
    bare = study.glue("content_to_call", content=True, calls=1)
    bare = study.glue("prompt_to_call", calls=1) if bare is None else bare
    study.found("reasoning.end", "a call without / with reasoning")
    return without_suffix(to_call, shared_end(to_call, bare or ""))


def _in_this_message(study: Study, found: Reasoning) -> Reasoning:
    """Leave out of the closer what already belongs to the next message or to content."""
    header = study.header.strip()
    before, again, _ = found.end.partition(header) if header else (found.end, "", "")
    if again:
        found = replace(found, end=before.rstrip())
    leads = [prefill for _, prefill in study.prefills()]
    leads.append(study.glue("prompt_to_content", content=True) or "")
    for prefill in leads:
        # A prompt or an answer without reasoning may begin with what wraps content.
        if prefill.strip() and found.start.strip() not in prefill:
            end = without_suffix(found.end, prefill)
            if end.strip():
                found = replace(found, end=end)
    return found


# -- R2: generation prompts -------------------------------------------------------------------


def compare_thinking_enabled(study: Study, known: Reasoning) -> Reasoning:
    """R2: generation prompts with thinking switched on and off."""
    start, end = known.start.strip(), known.end.strip()
    prefills = study.prefills()
    if start and not end:
        for _, prefill in prefills:
            before, found, rest = prefill.partition(start)
            if found and not before.strip() and rest.strip():
                study.found("reasoning.end", PROMPTS, start, prefill)
                return replace(known, end=rest)
    if start or end:
        return known
    opened, closed = _opened_and_closed(study)
    if not closed.strip():
        return known
    study.found("reasoning.end", PROMPTS, opened, closed)
    return replace(known, start=opened, end=closed)


def _opened_and_closed(study: Study) -> tuple[str, str]:
    """The opener and the closer that generation prompts show; the opener may stay unknown."""
    prefills = study.prefills()
    texts = sorted((text for _, text in prefills), key=len, reverse=True)
    pairs = [(a, b) for b in texts for a in texts if a != b and b.startswith(a)]
    for opened, closed in pairs:
        more = closed[len(opened) :]
        if more.strip() and count_markers(opened) == 1:
            return opened, more
        if not opened.strip():  # opener or closer may be the last marker of the header
            inside = conventions.opener_in_header(study.header, more)
            if count_markers(more) == 1 and inside:
                return "", more
            if count_markers(more) == 2:
                return _split_block(more)
    lead = (study.glue("prompt_to_content", content=True) or "").strip()
    marks = [(is_on(options), text) for options, text in prefills if count_markers(text) == 1]
    off = [text for on, text in marks if text.strip() == lead] or [
        text for on, text in marks if on is False
    ]
    others = [text for on, text in marks if text not in off]
    if not off or (len(marks) == 1 and is_on(prefills[0][0]) is None and off[0].strip() != lead):
        return "", ""
    return (others[0] if others else ""), off[0].lstrip()


def _split_block(block: str) -> tuple[str, str]:
    """An empty block as opener and closer; the whitespace between them is halved."""
    at = min(block.find(closer) for closer in ">]" if closer in block) + 1
    rest = block[at:]
    space = len(rest) - len(rest.lstrip())
    at += (space + 1) // 2
    return block[:at], block[at:]


# -- reasoning that no rendering shows ----------------------------------------------------------


def _closed_in_every_prompt(study: Study, known: Reasoning) -> Reasoning:
    """An empty block that stands in every prompt, in the header even ("closed-in-prompt")."""
    prompts = [prompt for _, prompt in study.prober.prompt_variants()]
    pair = conventions.closed_pair(prompts[0]) if prompts else ""
    if not pair or any(not prompt.endswith(pair) for prompt in prompts):
        return known
    study.found("reasoning.start", "convention closed-in-prompt")
    study.found("reasoning.end", "convention closed-in-prompt")
    if study.header.endswith(pair):
        study.move_header(len(pair))
    start, end = _split_block(pair)
    return replace(known, start=start, end=end)


def _closer_by_plant(study: Study, known: Reasoning) -> Reasoning:
    closer = planted_closer(study)
    if closer:
        study.found("reasoning.end", f"planted in content: text before {closer!r} is cut out")
        return replace(known, end=closer)
    opener, closer = planted_pair(study)
    if not closer:
        return known
    evidence = f"planted in content: text from {opener!r} to {closer!r} is cut out"
    study.found("reasoning.start", evidence)
    study.found("reasoning.end", evidence)
    return replace(known, start=opener, end=closer)


def _opener_for(study: Study, known: Reasoning) -> Reasoning:
    """The opener of a known closer: in a prompt, in the header, or mirrored."""
    end = known.end.strip()
    for _, prefill in study.prefills():
        opener = prefill.partition(end)[0]
        if count_markers(opener) <= 1 and conventions.shared_words(opener, end):
            study.found("reasoning.start", "generation prompt / the planted or known closer")
            return replace(known, start=opener.lstrip())
    opener = conventions.opener_in_header(study.header, end)
    if opener and study.header.strip() != opener.strip():
        study.found("reasoning.start", "convention opener-in-header")
        return replace(known, start=opener + known.start)
    prefill = study.prefills()[0][1] if study.prefills() else ""
    if prefill.strip() and end not in prefill and known.mode is not ReasoningMode.NONE:
        study.found("reasoning.start", "what every prompt holds and no turn")
        return replace(known, start=prefill)
    mirrored = conventions.mirrored_opener(end)
    if mirrored and known.mode is ReasoningMode.NONE:
        study.found("reasoning.start", "convention mirrored-opener")
        return replace(known, start=mirrored)
    return known


def _closer_by_convention(study: Study, known: Reasoning) -> Reasoning:
    """A marker that every prompt opens and no turn holds is closed by its mirror image."""
    prefills = [prefill for _, prefill in study.prefills()]
    opener = known.start if known.start.strip() else prefills[0]
    closer = conventions.mirrored_closer(opener) if count_markers(opener) == 1 else ""
    turns = [study.layout(content=True), study.layout(calls=1)]
    if not closer or any(opener.strip() not in prefill for prefill in prefills):
        return known
    if any(opener.strip() in turn.text for turn in turns if turn is not None):
        return known
    study.found("reasoning.start", "every generation prompt opens it")
    study.found("reasoning.end", "convention mirrored-closer")
    study.note(f"no rendering closes {opener.strip()}: {closer} is its mirror image")
    return replace(known, start=opener, end=closer)


def _pair_in_instructions(study: Study, known: Reasoning) -> Reasoning:
    """Markers that a thinking option names in the text before the user's message."""
    pairs = instruction_pairs(study)
    if not pairs:
        return known
    study.found("reasoning.start", "convention pairs-in-instructions")
    study.found("reasoning.end", "convention pairs-in-instructions")
    return replace(known, start=pairs[0][0], end=pairs[0][1])


def instruction_pairs(study: Study) -> list[tuple[str, str]]:
    """Adjacent opener-closer pairs in the text that a thinking option adds to the opening."""
    prober = study.prober
    default = prober.render(prober.shape.opening(), prompt=True) or ""
    for name in ("enable_thinking", "thinking"):
        if name not in prober.option_values:
            continue
        text = prober.render(prober.shape.opening(), prompt=True, options={name: True}) or ""
        before = text.partition(needles.USER)[0]
        pairs = [pair for pair in conventions.adjacent_pairs(before) if pair[0] not in default]
        if pairs:
            return pairs
    return []


def _closed_by_next_line(study: Study, found: Reasoning) -> Reasoning:
    """A line end is the closer where the openers of content and of a call follow it."""
    if found.mode is not ReasoningMode.TAG_BASED or not found.start.strip() or found.end != "\n":
        return Reasoning()
    content, call = {"content": True}, {"calls": 1}
    for part, parts in (("content", content), ("call", call)):
        opener = study.glue(f"prompt_to_{part}", **parts)
        behind = study.glue(f"reasoning_to_{part}", reasoning=True, **parts)
        if not opener or not opener.strip() or behind != found.end + opener:
            return Reasoning()
    return found


def _as_history_spaces_it(study: Study, found: Reasoning) -> Reasoning:
    """A closer that is not followed by reasoning's own content takes the space of an empty block's.

    Of content alone and content beside a call, the one with more space.
    """
    if study.prober.shape.reasoning_field:
        return found
    core = found.end.strip()
    closer = found.end
    for lead in (study.glue("prompt_to_content", content=True, calls=n) or "" for n in (0, 1)):
        if lead.rstrip().endswith(core):
            spaced = found.end.rstrip() + lead[len(lead.rstrip()) :]
            closer = spaced if closer == found.end or spaced.startswith(closer) else closer
    return replace(found, end=closer)


def _out_of_header(study: Study, found: Reasoning) -> Reasoning:
    """An opener at the end of the header belongs to the turn."""
    core = found.start.strip()
    header = study.header
    if core and header.rstrip().endswith(core) and header.strip() != core:
        at = header.rindex(core)
        start = found.start if len(found.start) > len(core) else header[at:]
        study.move_header(len(header) - at)
        return replace(found, start=start)
    return found
