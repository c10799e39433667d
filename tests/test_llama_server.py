"""llama.cpp's server writes calls under every format's grammars, which the parsers read.

The server is that of the `xllamacpp` wheel. Its model has random weights; its vocabulary is bytes,
every format's markers, and the tags in them as special tokens, which a server leaves out of a text
unless a request asks for them.
"""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from engines import HAVE_LLAMA_CPP, INSTALL, byte_vocabulary
from parsers import SOURCES, deltas_of, parser_of

from autoparser_gen import pipeline
from autoparser_gen.analysis.model import Analysis, ToolMode
from autoparser_gen.emit import gbnf
from autoparser_gen.grammar.lower import lower
from autoparser_gen.request import Options

pytestmark = pytest.mark.skipif(not HAVE_LLAMA_CPP, reason=INSTALL)


CITIES, DAYS = ["Oslo", "Rome"], range(1, 10)
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "enum": CITIES},
                    "days": {"type": "integer", "minimum": DAYS[0], "maximum": DAYS[-1]},
                },
                "required": ["city", "days"],
                "additionalProperties": False,
            },
        },
    }
]
TOKENS = 900  # at most, in one output
LIKELY = 6.0  # added to a token's logit; the others' are between -5 and 5
# Tags that llama.cpp takes for ends of a text, by their names.
ENDS = {"<|end|>", "<|calls|>"}


class Server:
    """llama.cpp's server, and the tokens that its vocabulary has besides bytes."""

    def __init__(self, folder: Path) -> None:
        import xllamacpp

        texts = {text for stem in SOURCES for text in parser_of(stem).PRESERVED_TOKENS}
        tags = {text for text in texts if re.fullmatch(r"<[^<>\s]+>|\[[A-Z_]+\]", text)} - ENDS
        words = sorted(text for text in texts - tags if len(text) > 2)
        self.tokens = [*words, *sorted(tags)]
        byte_vocabulary.write(folder / "model.gguf", words, sorted(tags))
        params = xllamacpp.CommonParams()
        params.model.path = str(folder / "model.gguf")
        params.n_ctx = 1024
        params.warmup = False
        params.cpuparams.n_threads = 1
        self._server = xllamacpp.Server(params)

    def complete(self, likely: Sequence[str], **body: Any) -> list[str]:
        """The pieces of an output, in which some tokens are likely."""
        tokens = [self.tokens.index(text) for text in likely if text in self.tokens]
        # A quote is likely too, so that strings end that may be anything, such as ids.
        bias = [[token, LIKELY] for token in (*(byte_vocabulary.END + 1 + t for t in tokens), 34)]
        body |= {"logit_bias": bias, "stream": True, "n_predict": TOKENS, "seed": 1}
        request = urllib.request.Request(
            f"{self._server.listening_address}/completion",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            events = [json.loads(line[6:]) for line in answer if line.startswith(b"data: ")]
        return [event["content"] for event in events]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Server:
    return Server(tmp_path_factory.mktemp("model"))


def _analysis(stem: str) -> Analysis:
    found = pipeline.find_format(SOURCES[stem], Options()).analysis
    if found.tools.format.mode is ToolMode.NONE:
        pytest.skip("the format has no calls")
    return found


def _check(stem: str, pieces: list[str], prompt: str) -> None:
    """One call came, as the tool's schema wants it, whole and in the server's own pieces."""
    module = parser_of(stem)
    text = "".join(pieces)
    message = module.parse(text, tools=TOOLS, prompt=prompt)
    assert not message.incomplete, text[:400]
    assert len(message.tool_calls) == 1, text[:400]
    [call] = message.tool_calls
    assert call.name == "weather", text
    arguments = json.loads(call.arguments)
    assert arguments.keys() == {"city", "days"}, text
    assert arguments["city"] in CITIES, text
    assert arguments["days"] in DAYS, text
    parser = module.Parser(tools=TOOLS, prompt=prompt)
    assert module.merge(deltas_of(parser, pieces)) == message


@pytest.mark.parametrize("stem", SOURCES)
def test_a_required_call(server: Server, stem: str) -> None:
    analysis, module = _analysis(stem), parser_of(stem)
    prompt = analysis.generation_prompts.default
    grammar = lower(analysis, tools=TOOLS, tool_choice="required", parallel=False)
    pieces = server.complete(
        [*(trigger["value"] for trigger in module.TRIGGERS), analysis.reasoning.end.strip()],
        prompt=prompt or "\n",
        grammar=gbnf.emit(analysis, grammar, []),
        preserved_tokens=module.PRESERVED_TOKENS,
    )
    _check(stem, pieces, prompt)


@pytest.mark.parametrize("stem", SOURCES)
def test_a_lazy_grammar(server: Server, stem: str) -> None:
    """The grammar holds from the trigger on; before that the model writes what it likes."""
    found = pipeline.find_format(SOURCES[stem], Options())
    analysis, module = found.analysis, parser_of(stem)
    prompt = analysis.generation_prompts.no_thinking
    turn = found.prober.turn(None, None, [("weather", {"city": "Oslo"})])
    if not module.TRIGGERS or turn is None:
        pytest.skip("the format has no trigger")
    before, found_it, _ = (turn.after(prompt) or "").partition(module.TRIGGERS[0]["value"])
    before = before if found_it else ""
    grammar = lower(analysis, tools=TOOLS, tool_choice="required", parallel=False, lazy=True)
    pieces = server.complete(
        [trigger["value"] for trigger in module.TRIGGERS],
        prompt=prompt + before or "\n",
        grammar=gbnf.emit(analysis, grammar, []),
        grammar_lazy=True,
        grammar_triggers=[{**trigger, "type": 1} for trigger in module.TRIGGERS],
        preserved_tokens=module.PRESERVED_TOKENS,
    )
    _check(stem, [before, *pieces], prompt)


def test_what_the_documentation_warns_of(server: Server) -> None:
    """See docs/llamacpp.md."""
    analysis, module = _analysis("qwen3"), parser_of("qwen3")
    grammar = lower(analysis, tools=TOOLS, tool_choice="required", parallel=False, lazy=True)
    body: dict[str, Any] = {"prompt": "\n", "grammar": gbnf.emit(analysis, grammar, [])}
    text = "".join(server.complete(["<tool_call>"], **body))
    assert "{" in text
    assert "<tool_call>" not in text
    body |= {"grammar_lazy": True}
    for number, preserved in (("word", module.PRESERVED_TOKENS), (1, [])):
        triggers = [{**trigger, "type": number} for trigger in module.TRIGGERS]
        with pytest.raises(urllib.error.HTTPError, match="400"):
            server.complete([], grammar_triggers=triggers, preserved_tokens=preserved, **body)
