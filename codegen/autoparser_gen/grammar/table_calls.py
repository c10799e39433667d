"""Regions of calls: what opens one, its name, id and arguments, and what closes it."""

from __future__ import annotations

import re
from functools import partial

from autoparser_gen.analysis.model import SAME_NAME, CallIdPosition, ToolMode, ValueSyntax
from autoparser_gen.emit.skeletons.tables import Go, Region
from autoparser_gen.grammar.markup import is_named_tag, says_call
from autoparser_gen.grammar.table_builder import (
    SPACE,
    Builder,
    Rows,
    separated,
    space_before,
    space_behind,
    tokens,
)
from autoparser_gen.grammar.table_literals import literal_arguments, python_calls, tree_arguments
from autoparser_gen.grammar.value_ends import (
    says_argument,
    unclosed_before_argument,
    unclosed_before_end,
)


class Calls:
    """Lays out the regions of calls."""

    def __init__(self, build: Builder, texts: list[str]) -> None:
        self.build = build
        self.texts = texts
        tools = build.analysis.tools
        self.format, self.function = tools.format, tools.function
        self.arguments, self.call_id = tools.arguments, tools.call_id
        self.section = build.markers_of(
            "SECTION_START", self.format.section_start, "tools.format.section_start"
        )
        self.section_end = build.markers_of(
            "SECTION_END", self.format.section_end, "tools.format.section_end"
        )
        self.text = "content"  # the text region after a call
        self.after = "content"  # the region after a call
        self.openers: Rows = {}  # what begins a call

    def lay_out(self) -> None:
        """The call's own regions, then what opens and what follows it."""
        if self.section:
            self.text = self.after = self.build.region("calls", Region("text", "content"))
        if self._separator():
            self.after = self.build.region("between", Region("gap", otherwise=self.text))
        if self.format.mode is ToolMode.JSON_NATIVE:
            self._json_native()
        elif self.format.mode is ToolMode.TAG_WITH_JSON:
            self._tagged_name(self.json_arguments)
        elif self.arguments.value_syntax is ValueSyntax.NESTED_TAGS:
            self._tagged_name(partial(tree_arguments, self))
        elif self.format.mode is ToolMode.TAG_WITH_TAGGED:
            self._tagged_name(self.tagged_arguments)
        elif self.format.mode is ToolMode.TAG_WITH_LITERAL:
            self._tagged_name(partial(literal_arguments, self))
        elif self.format.mode is ToolMode.PYTHON_CALLS:
            python_calls(self)
        self._open_rows()

    # ---- What opens a call ----

    def begin(self, name: str, markup: str, path: str, region: str) -> None:
        """A call begins with this markup and goes on in a region."""
        parts = self.build.markers_of(name, markup, path)
        if parts:
            self.openers = self.build.chain(parts, Go(region, opens=True), "opener")

    def _begin_with_id(self, behind: str, region: str) -> None:
        """A call begins with its id, and goes on in a region behind the markup that follows that."""
        build, markup = self.build, self.format.per_call_start + self.call_id.prefix
        suffix = build.markers_of("ID_SUFFIX", behind, "tools.call_id.suffix")
        build.region("id", Region("field", "id"), build.chain(suffix, Go(region), "id_suffix"))
        self.begin("CALL_START", markup, "tools.format.per_call_start", "id")

    def _open_rows(self) -> None:
        """Rows for openers in the text regions, the section and after self-closing calls."""
        build, before = self.build, self._writes_space_before()
        rows = {marker: go._replace(before=before) for marker, go in self.openers.items()}
        if self.section:
            ending = self.section_end_rows(closes=True)
            build.region("section", Region("gap"), {**self.openers, **ending})
            rows = {
                **build.chain(self.section, Go("section", before=before, opens=True), "section"),
                **rows,
            }
            build.transitions[self.text].update(self.section_end_rows(closes=False))
        if self._separator():
            build.region("next_call", Region("gap"), self.openers)
            build.transitions[self.after].update(self._separator_rows(closes=False))
        rows.update(self._tag_rows())
        for region in dict.fromkeys((*self.texts, self.text)):
            for marker, go in rows.items():
                if (
                    region != self.text
                    and self.section
                    and not says_call(build.markers[marker].text)
                ):
                    continue
                # Without a marker of its own a call needs the section's, or a call before it.
                if not go.stays or (region == self.text and not self.format.tools_array_wrapped):
                    build.transitions[region].setdefault(marker, go)
        ended = [build.transitions[name] for name, region in build.regions.items() if region.ends]
        for transitions in ended:
            for marker, go in rows.items():
                transitions.setdefault(marker, go._replace(closes=True, before=False))
            # These may add regions of their own: the parts of a marker.
            more = {**self.section_end_rows(closes=True), **self._separator_rows(closes=True)}
            for marker, go in more.items():
                transitions.setdefault(marker, go)

    def _tag_rows(self) -> Rows:
        """The tag that may stand before a call without a marker; behind it anything else is none."""
        tags = self.build.markers_of(
            "CALL_TAG", self.format.optional_start, "tools.format.optional_start"
        )
        if not tags:
            return {}
        marked = {m: go._replace(bare=False, stays=True) for m, go in self.openers.items()}
        self.build.region("tagged", Region("gap"), marked)
        return self.build.chain(tags, Go("tagged", opens=True), "tag")

    def _separator(self) -> str:
        """What stands between two calls besides whitespace; an array's commas are its decoder's."""
        in_array = self.format.tools_array_wrapped
        return "" if in_array else self.format.call_separator.strip(SPACE)

    def _separator_rows(self, closes: bool) -> Rows:
        """The separator behind a call, which the next call must follow."""
        if not self._separator():
            return {}
        name = self.build.marker("CALL_SEPARATOR", self._separator(), "tools.format.call_separator")
        bare = any(go.bare for go in self.openers.values())
        if not bare:
            return {name: Go("next_call", opens=True, closes=closes)}
        self.build.region("separator", Region("gap"), {name: Go("next_call")})
        return {name: Go("separator", opens=True, closes=closes, bare=True)}

    def closed(self) -> Go:
        """What a call's last marker leads to."""
        glue = self.build.analysis.joints.get("call_to_content", "")
        return Go(self.after, closes=True, after="" if self.section_end else space_behind(glue))

    def section_end_rows(self, closes: bool) -> Rows:
        """The section's end, behind a call that it closes or in the text after one."""
        if not self.section_end:
            return {}
        space = space_behind(self.build.analysis.joints.get("call_to_content", ""))
        go = Go("content", closes=closes, before=not closes, after=space)
        return self.build.chain(self.section_end, go, "section_close" if closes else "section_end")

    def _writes_space_before(self) -> bool:
        """Whether the chat template writes whitespace right before a call or section."""
        opener = self.section or list(self.openers)
        if not opener:
            return True
        text = self.build.markers[opener[0]].text
        joints = self.build.analysis.joints
        glues = [joints.get(f"{part}_to_call", "") for part in ("content", "reasoning", "call")]
        unmarked = not self.section and any(go.bare for go in self.openers.values())
        if unmarked and not self.format.tools_array_wrapped:
            glues = [
                glue + text for glue in glues
            ]  # the glue ends before the call's first character
        return any(space_before(glue, text) for glue in glues)

    # ---- JSON with the name inside ----

    def _json_native(self) -> None:
        build, form = self.build, self.format
        build.region("call", Region("data", "calls"))
        build.decoders["call"] = "JsonCalls"
        build.settings.update(
            NAME_FIELD=form.name_field,
            ARGUMENTS_FIELD=form.args_field,
            ID_FIELD=form.id_field or form.gen_id_field,
            FUNCTION_FIELD=form.function_field,
            FIXED_FIELDS=[key for key, _ in form.fixed_fields],
            NAME_IS_KEY=form.fun_name_is_key,
            CALLS_IN_ARRAY=form.tools_array_wrapped,
            ARGUMENTS_AS_STRING=form.arguments_as_string,
        )
        first = "[" if form.tools_array_wrapped else "{"
        if self.call_id.pos is CallIdPosition.PRE_FUNC_NAME:
            self._begin_with_id(self.call_id.suffix, "call")
        else:
            self.begin("CALL_START", form.per_call_start, "tools.format.per_call_start", "call")
        if not self.openers:
            name = build.marker("CALL_OPENING", first, "tools.format.mode")
            bare = not self.section
            self.openers = {name: Go("call", opens=True, bare=bare, stays=not bare)}
        ends = build.markers_of("CALL_END", form.per_call_end, "tools.format.per_call_end")
        if form.tools_array_wrapped:
            # Each call of the array is complete with its object; the rest is markup.
            build.transitions["call"][""] = Go(self.after, closes=True)
            build.transitions[self.after].update(
                build.chain(ends, Go(self.after), "call_end") if ends else {}
            )
            return
        build.transitions["call"][""] = Go("call_end")
        if self.call_id.pos is CallIdPosition.POST_ARGS:
            rows = self._id_after_arguments()
        else:
            rows = build.chain(ends, self.closed(), "call_end") if ends else {}
        build.region("call_end", Region("gap", ends=True), rows)

    # ---- The name in markup ----

    def _tagged_name(self, lay_out_arguments: object) -> None:
        """Opener, id and name; `lay_out_arguments` gives the rows that follow the name."""
        build, form, function, call_id = self.build, self.format, self.function, self.call_id
        assert callable(lay_out_arguments)
        following: Rows = lay_out_arguments()
        before, counter, suffix_text = function.name_suffix.partition("{index}")
        suffix = build.markers_of(
            "NAME_SUFFIX", suffix_text if counter else before, "tools.function.name_suffix"
        )
        if suffix:
            build.region("after_name", Region("gap"), following)
            following = build.chain(
                suffix, self.build.only(following) or Go("after_name"), "name_suffix"
            )
        if counter:  # a number that grows with each call stands behind the name
            build.region("counter", Region("field", "counter"), following)
            marker = build.marker("COUNTER_PREFIX", before, "tools.function.name_suffix")
            following = {marker: Go("counter")}
        if call_id.pos is CallIdPosition.BETWEEN_FUNC_AND_ARGS:
            following = {**following, **self._id_rows(following)}
        carries_name = call_id.pos is CallIdPosition.CARRIES_NAME
        build.region("name", Region("field", "named_id" if carries_name else "name"), following)
        start, prefix = form.per_call_start, function.name_prefix
        if call_id.pos is CallIdPosition.PRE_FUNC_NAME:
            self._begin_with_id(call_id.suffix + prefix, "name")
            return
        self.begin("CALL_START", start + prefix, "tools.format.per_call_start", "name")
        if is_named_tag(build.analysis.tools):
            bare, (bracket,) = not self.section, self.openers
            build.region("tag", Region("gap"), {bracket: Go("name")})
            self.openers = {bracket: Go("tag", opens=True, bare=bare, stays=not bare, inline=bare)}
        if (
            len(self.openers) == 1
            and start.strip(SPACE)
            and re.match(r"\W.*\w", prefix.strip(SPACE), re.S)
        ):
            # Models leave the per-call opener out; the name's own prefix says as much.
            name = build.marker("NAME_PREFIX", tokens(prefix)[0], "tools.function.name_prefix")
            rows = build.chain(
                [name, *build.markers_of("NAME_PREFIX", prefix, "")[1:]],
                Go("name", opens=True),
                "prefix",
            )
            self.openers = {**self.openers, **rows}

    def _id_rows(self, following: Rows) -> Rows:
        build = self.build
        prefix = build.markers_of("ID_PREFIX", self.call_id.prefix, "tools.call_id.prefix")
        suffix = build.markers_of("ID_SUFFIX", self.call_id.suffix, "tools.call_id.suffix")
        go = build.only(following)
        if suffix and go is None:
            go = Go(build.region("after_name", Region("gap"), following))
        rows = build.chain(suffix, go, "id_suffix") if suffix and go else following
        build.region("id", Region("field", "id"), rows)
        return {**rows, **build.chain(prefix, Go("id"), "id_prefix")}  # an id may be missing

    def closing(self, more: str) -> list[str]:
        """The markers from the end of the arguments to the end of the call."""
        build = self.build
        if more:
            text = self.function.close + self.format.per_call_end + more
            return build.markers_of("CALL_END", text, "tools.function.close")
        close = build.markers_of("FUNCTION_CLOSE", self.function.close, "tools.function.close")
        return close + build.markers_of(
            "CALL_END", self.format.per_call_end, "tools.format.per_call_end"
        )

    def json_arguments(self, more: str = "") -> Rows:
        """Arguments that are one JSON object; `more` closes the call besides its own markers."""
        build = self.build
        build.region("arguments", Region("data", "arguments"), {"": Go("call_end")})
        build.decoders["arguments"] = "JsonArguments"
        rows: Rows = {}
        if self.call_id.pos is CallIdPosition.POST_ARGS:
            rows = self._id_after_arguments()
        elif closing := self.closing(more):
            rows = build.chain(closing, self.closed(), "closing")
        build.region("call_end", Region("gap", ends=True), rows)
        opening = tokens(self.arguments.start)
        if opening and not opening[-1].endswith("{"):
            names = build.markers_of(
                "ARGUMENTS_START", self.arguments.start, "tools.arguments.start"
            )
            return build.chain(names, Go("arguments"), "arguments_start")
        return {
            build.marker("ARGUMENTS_OPENING", "{", "tools.format.mode"): Go("arguments", stays=True)
        }

    def _id_after_arguments(self) -> Rows:
        build = self.build
        close = self.function.close + self.format.per_call_end
        go = self.closed()
        without = build.markers_of("CALL_END", close, "tools.format.per_call_end")
        names = build.markers_of("ID_SUFFIX", self.call_id.suffix + close, "tools.call_id.suffix")
        build.region("id", Region("field", "id"), build.chain(names, go, "id_suffix"))
        prefix = build.markers_of("ID_PREFIX", self.call_id.prefix, "tools.call_id.prefix")
        rows = build.chain(prefix, Go("id"), "id_prefix")
        return {**rows, **(build.chain(without, go, "closing") if without else {})}

    # ---- Arguments in markup ----

    def tagged_arguments(self, more: str = "") -> Rows:
        """Key and value regions; returns the rows that follow the name."""
        build, arguments = self.build, self.arguments
        path = "tools.arguments."
        end = build.markers_of("ARGUMENTS_END", arguments.end, path + "end")
        closing = end + self.closing(more)
        prefix = build.markers_of("KEY_PREFIX", arguments.name_prefix, path + "name_prefix")
        after_key = self._after_key()
        build.region("key", Region("field", "key"), after_key)
        next_key = build.chain(prefix, Go("key"), "key_prefix")
        self._value(next_key, closing)
        close = build.chain(closing, self.closed(), "closing") if closing else {}
        rows = {**next_key, **close}
        opening = build.markers_of("ARGUMENTS_START", arguments.start, path + "start")
        if not opening:
            return rows
        build.region("in_arguments", Region("gap"), rows)
        return build.chain(opening, Go("in_arguments"), "arguments_start")

    def _after_key(self) -> Rows:
        """What stands between an argument's name and its value, a type attribute included."""
        build, arguments = self.build, self.arguments
        _, _, after = separated(arguments.name_suffix + arguments.value_prefix)
        go = Go("value", after=after)
        if arguments.types:
            suffix = build.markers_of(
                "VALUE_PREFIX", arguments.value_prefix, "tools.arguments.value_prefix"
            )
            build.region("type", Region("field", "type"), build.chain(suffix, go, "value_prefix"))
            build.settings["RAW_TYPES"] = dict(arguments.types)
            go = Go("type")
            markup = arguments.name_suffix + arguments.type_prefix
        else:
            markup = arguments.name_suffix + arguments.value_prefix
        names = build.markers_of("KEY_SUFFIX", markup, "tools.arguments.name_suffix")
        return build.chain(names, go, "key_suffix")

    def _value(self, next_key: Rows, closing: list[str]) -> None:
        """The raw value: which closer ends it, and closers that models leave out."""
        build, arguments = self.build, self.arguments
        build.region("value", Region("raw", "value"))
        build.decoders["value"] = "RawValue"
        build.settings.setdefault("RAW_TYPES", {})
        build.settings.update(
            RAW_WRAP=arguments.optional_wrap,
            VALUE_ESCAPES=dict(arguments.value_escapes),
            PYTHON_WORDS=arguments.python_words,
            QUOTED_STRINGS=arguments.value_syntax is ValueSyntax.JSON,
        )
        # Where nothing closes a value, it ends like one whose closer is missing.
        suffixes = (arguments.value_suffix, *arguments.other_value_suffixes)
        for number, suffix in enumerate(filter(str.strip, suffixes)):
            build.transitions["value"].update(self._closer(suffix, number))
        ending = build.chain(closing, self.closed(), "value_close", "value") if closing else {}
        build.region(
            "value_end", Region("gap", otherwise="value", ends=not closing), {**next_key, **ending}
        )
        self._missing_closers(closing)

    def _closer(self, suffix: str, number: int) -> Rows:
        """Rows for what ends a value, with the whitespace that is written before it and without."""
        build = self.build
        before, core, _ = separated(suffix)
        path, end = "tools.arguments.value_suffix", f"_{number + 1}" if number else ""
        closer = build.markers_of(f"VALUE_SUFFIX{end}", core, path)
        rows = build.chain(closer, Go("value_end"), "value_suffix", "value")
        if before:
            text = before + build.markers[closer[0]].text
            spaced = build.marker(f"VALUE_SUFFIX{end}_WITH_SPACE", text, path)
            rows = {spaced: rows[closer[0]], **rows}
        return rows

    def _missing_closers(self, closing: list[str]) -> None:
        """A closer may be missing right before an exactly written next argument or closing."""
        build, path = self.build, "tools.arguments.name_prefix"
        exact_key, exact_value = unclosed_before_argument(self.arguments)
        if not self.arguments.types and says_argument(exact_key):
            after_key = build.marker("NEXT_VALUE", exact_value, path)
            name = build.marker("NEXT_KEY", exact_key, path)
            build.region(
                "next_key", Region("field", "key", otherwise="value"), {after_key: Go("value")}
            )
            build.transitions["value"].setdefault(name, Go("next_key"))
        if closing:
            exact = unclosed_before_end(build.analysis.tools)
            if SAME_NAME in exact:
                return
            name = build.marker("CLOSING", exact, "tools.format.per_call_end")
            build.region("unclosed", Region("gap", otherwise="value", ends=True))
            build.transitions["value"].setdefault(name, Go("unclosed"))
