"""What the analysis finds: one frozen, printable value per phase.

Marker fields hold their text with its whitespace, exactly as rendered; `grammar.lower` splits
them into separator, core, separator. An empty string means that the format has no such marker.
Openers have no whitespace before them and closers none behind them: that belongs to the joints.
Only the reasoning's closer keeps what stands behind it in every joint.

Three placeholders stand for text that a marker repeats: `{name}` for the function's name, `{key}`
for the argument's name, `{index}` for a number that differs from call to call.

How a call is put together (joints leave out nothing, separators are between the fields):

    section_start (per_call_start CALL per_call_end call_separator)* section_end

    JSON_NATIVE       the call object; with tools_array_wrapped in one array, whose brackets are
                      between section_start and section_end (or inside per_call_start and _end)
    TAG_WITH_JSON     name_prefix NAME name_suffix OBJECT close
    TAG_WITH_TAGGED   name_prefix NAME name_suffix start (ARGUMENT separator)* end close
                      ARGUMENT = name_prefix KEY name_suffix value_prefix VALUE value_suffix, or,
                      with types, name_prefix KEY type_prefix TYPE value_prefix VALUE value_suffix
    TAG_WITH_LITERAL  name_prefix NAME name_suffix start (KEY name_suffix LITERAL separator)* end
    PYTHON_CALLS      NAME name_suffix (KEY name_suffix LITERAL separator)* close, where name_suffix
                      is "(" behind the name and "=" behind a key; tools_array_wrapped for a list
    call ids          PRE_FUNC_NAME: per_call_start prefix ID suffix NAME ...
                      BETWEEN_FUNC_AND_ARGS: NAME name_suffix prefix ID suffix OBJECT ...
                      POST_ARGS: ... OBJECT prefix ID suffix close
                      CARRIES_NAME: per_call_start prefix NAME suffix NUMBER name_suffix OBJECT ...

The names of structures, fields and enum members are those of the reference auto-parser, so that
the two analyses can be compared; members marked "added" cover formats which it treats by hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

FORMAT_VERSION = 1

# The placeholders: what a marker repeats of its call, and the number of the call.
SAME_NAME = "{name}"
SAME_KEY = "{key}"
CALL_NUMBER = "{index}"


class ReasoningMode(str, Enum):
    NONE = "NONE"  # no reasoning markers found
    TAG_BASED = "TAG_BASED"  # between two markers; the start may be empty (delimiter style)
    TOOLS_ONLY = "TOOLS_ONLY"  # rendered only in turns that call tools


class ContentMode(str, Enum):
    PLAIN = "PLAIN"
    ALWAYS_WRAPPED = "ALWAYS_WRAPPED"
    WRAPPED_WITH_REASONING = "WRAPPED_WITH_REASONING"


class ToolMode(str, Enum):
    NONE = "NONE"
    JSON_NATIVE = "JSON_NATIVE"  # name and arguments inside one JSON value
    TAG_WITH_JSON = "TAG_WITH_JSON"  # name in markup, arguments one JSON object
    TAG_WITH_TAGGED = "TAG_WITH_TAGGED"  # name, argument names and values in markup
    TAG_WITH_LITERAL = "TAG_WITH_LITERAL"  # added: name in markup, arguments one non-JSON literal
    PYTHON_CALLS = "PYTHON_CALLS"  # added: name(key=value, ...), usually in a list


class CallIdPosition(str, Enum):
    NONE = "NONE"
    PRE_FUNC_NAME = "PRE_FUNC_NAME"
    BETWEEN_FUNC_AND_ARGS = "BETWEEN_FUNC_AND_ARGS"
    POST_ARGS = "POST_ARGS"
    # added: the id stands where the name belongs and contains it (convention "id-carries-name"):
    # prefix, suffix and number are optional when read
    CARRIES_NAME = "CARRIES_NAME"


class ValueSyntax(str, Enum):
    """How argument values in markup are written (TAG_WITH_TAGGED)."""

    JSON = "JSON"  # every value is JSON, strings quoted
    RAW = "RAW"  # strings verbatim, everything else JSON (or Python literals, see `python_words`)
    NESTED_TAGS = "NESTED_TAGS"  # objects and arrays are themselves tags


class KeyOrder(str, Enum):
    """The order in which the chat template writes the members of an object."""

    NONE = "NONE"  # as they are given
    SORTED = "SORTED"
    SORTED_IGNORING_CASE = "SORTED_IGNORING_CASE"

    def arranged(self, keys: Iterable[str]) -> list[str]:
        """Keys as the chat template writes them."""
        if self is KeyOrder.NONE:
            return list(keys)
        return sorted(keys, key=str if self is KeyOrder.SORTED else str.lower)


@dataclass(frozen=True)
class Capabilities:
    """What the chat template renders at all, and the message shape that it demands."""

    supports_tools: bool = False  # the prompt changes when tools are offered
    supports_tool_calls: bool = False
    supports_parallel_tool_calls: bool = False
    supports_system_role: bool = False
    supports_thinking_switch: bool = False  # a keyword changes the generation prompt's reasoning
    requires_string_arguments: bool = False
    requires_nonnull_content: bool = False
    call_id_shape: str = ""  # "" any, "alphanumeric9", "functions.NAME:INDEX"
    reasoning_field: str = ""  # the message key it reads reasoning from
    keeps_reasoning_in_history: bool = False
    renders_content_beside_calls: bool = True
    several_reasoning_blocks: bool = False
    reasoning_comes_first: bool = True  # added: history writes it before content and calls
    renders_empty_arguments: bool = True  # added: a call without arguments is readable
    argument_order: KeyOrder = KeyOrder.NONE  # added; taken for that of objects in them, too


@dataclass(frozen=True)
class Reasoning:
    mode: ReasoningMode = ReasoningMode.NONE
    start: str = ""
    end: str = ""


@dataclass(frozen=True)
class Content:
    mode: ContentMode = ContentMode.PLAIN
    start: str = ""
    end: str = ""
    # added: wrapper of content that stands beside a call, where it differs
    beside_call_start: str = ""
    beside_call_end: str = ""
    plain_beside_calls: bool = False  # added: start and end are not written beside a call


@dataclass(frozen=True)
class ToolFormat:
    mode: ToolMode = ToolMode.NONE
    section_start: str = ""
    section_end: str = ""
    per_call_start: str = ""
    per_call_end: str = ""
    optional_start: str = ""  # added: may stand before a call that needs no marker
    call_separator: str = ""  # added: between calls, where it is more than whitespace (", ")
    function_field: str = ""  # JSON key of the object that holds name and arguments, if nested
    name_field: str = ""
    args_field: str = ""
    id_field: str = ""
    id_in_function: bool = False  # added: the id is a member of function_field's object
    id_between: bool = False  # added: the id stands between name and arguments
    gen_id_field: str = ""  # an id that the chat template numbers itself
    gen_id_is_number: bool = False  # added: it is a number, not a string
    fixed_fields: tuple[tuple[str, str], ...] = ()  # added: (key, JSON text) the same in every call
    fun_name_is_key: bool = False
    tools_array_wrapped: bool = False
    arguments_as_string: bool = False  # added: arguments are JSON text inside a JSON string


@dataclass(frozen=True)
class Function:
    name_prefix: str = ""
    name_suffix: str = ""
    close: str = ""
    repeats_name: bool = False  # added: the name stands a second time inside name_suffix, as {name}


@dataclass(frozen=True)
class LiteralSyntax:
    """Literals that are not JSON (TAG_WITH_LITERAL, PYTHON_CALLS)."""

    quotes: tuple[str, ...] = ('"',)  # what opens and closes a string, the rendered one first
    escapes: bool = True  # backslash escapes inside strings
    python_words: bool = False  # True, False, None are written (JSON's words are always read)
    quoted_keys: bool = True
    bare_strings: bool = False  # strings are written without any quotes


@dataclass(frozen=True)
class Arguments:
    start: str = ""
    end: str = ""
    name_prefix: str = ""
    name_suffix: str = ""
    value_prefix: str = ""
    value_suffix: str = ""
    other_value_suffixes: tuple[str, ...] = ()  # added: what ends values of some types instead
    separator: str = ""
    # added, for TAG_WITH_TAGGED:
    name_escapes: tuple[tuple[str, str], ...] = ()  # (as written, character) in names of arguments
    value_escapes: tuple[tuple[str, str], ...] = ()  # the same in strings that are values
    value_syntax: ValueSyntax = ValueSyntax.JSON
    python_words: bool = False  # non-string values are written as Python literals
    python_containers: bool = False  # lists and objects are, too, not as JSON
    type_prefix: str = ""  # between name and type attribute; then value_prefix follows the type
    types: tuple[tuple[str, str], ...] = ()  # (spelling, JSON type or "json" for all but strings)
    optional_wrap: tuple[str, str] | None = None  # written around some raw values only (CDATA)
    item_tag: str = ""  # NESTED_TAGS: the tag of an array's items
    empty: str = ""  # what stands in place of start..end when there are no arguments, if different
    literals: LiteralSyntax | None = None


@dataclass(frozen=True)
class CallId:
    pos: CallIdPosition = CallIdPosition.NONE
    prefix: str = ""
    suffix: str = ""


@dataclass(frozen=True)
class Tools:
    format: ToolFormat = field(default_factory=ToolFormat)
    function: Function = field(default_factory=Function)
    arguments: Arguments = field(default_factory=Arguments)
    call_id: CallId = field(default_factory=CallId)


@dataclass(frozen=True)
class GenerationPrompts:
    """What the chat template appends to start the assistant's turn.

    `thinking` and `no_thinking` equal `default` where no keyword changes it.
    """

    default: str = ""
    thinking: str = ""
    no_thinking: str = ""


@dataclass(frozen=True)
class Headers:
    """Turns made of messages, each with a header of words (channels, recipients).

    `start` opens a further message inside the turn, `message_end` closes the one before, `end`
    closes a message's header; the words between them say what the message is (convention
    "words-in-headers"). Where only `start` and `message_end` are set, ordinary markers follow the
    header. Where `message_end` is empty, `start` opens every message and the word behind it is a
    function's name or `content`, which may be no word at all.
    """

    start: str = ""
    channel: str = ""  # marker before the channel's name, "" where recipients alone decide
    end: str = ""
    message_end: str = ""
    reasoning: str = ""  # the channel or recipient that means reasoning
    content: str = ""
    preamble: str = ""  # the channel that means a call, or content where no recipient is given
    recipient: str = ""  # before a recipient, such as " to="
    namespace: str = ""  # before a function's name in a recipient, such as "functions."
    content_type: str = ""  # between recipient or channel and the header's end, such as " json"

    @property
    def content_has_no_word(self) -> bool:
        """Whether a header that names no function opens content."""
        return bool(self.end) and not (self.content or self.reasoning)


@dataclass(frozen=True)
class Analysis:
    """The format of one chat template.

    `joints` maps a pair such as "reasoning_to_content" to the exact text between the two parts,
    markers included, as the simplest turn with that pair shows it. The parts are prompt, reasoning,
    content, call and end (of the turn, the end-of-turn text included). A call reaches from its call
    object, name or id (whichever comes first) to the end of its object, last value or id; brackets
    of an array are glue. The prompt ends where the default generation prompt ends, or behind the
    header where the turn does not continue that prompt.

    `evidence` maps the path of every field that is set to the comparison that found it.
    """

    source: str
    sha256: str
    capabilities: Capabilities = field(default_factory=Capabilities)
    reasoning: Reasoning = field(default_factory=Reasoning)
    content: Content = field(default_factory=Content)
    tools: Tools = field(default_factory=Tools)
    generation_prompts: GenerationPrompts = field(default_factory=GenerationPrompts)
    assistant_header: str = ""  # the part of a turn before anything of the format
    end_of_turn: str = ""
    # added: what ends a turn of calls, where that is unlike ("" where it is the same)
    end_of_turn_after_calls: str = ""
    preserved_tokens: tuple[str, ...] = ()
    headers: Headers | None = None
    joints: Mapping[str, str] = field(default_factory=dict)
    evidence: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # what could not be learnt, in sentences for the user
