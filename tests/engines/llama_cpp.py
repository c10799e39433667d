"""llama.cpp's own grammar sampler, from the `xllamacpp` wheel, on a vocabulary of bytes."""

from __future__ import annotations

import codecs
import ctypes
import importlib.util
import os
import random
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from engines import byte_vocabulary

END = 256
_NEVER = -1e30
# Where any character may come, the engine takes bytes that no UTF-8 text holds, too.
_WIDE = ("\u00e9", "\uff5c", "\u2581", "\u65e5", "\U0001f600")


class _ModelParams(ctypes.Structure):
    """`llama_model_params`, as far as its layout matters; checked when the vocabulary is loaded."""

    _fields_ = [
        ("devices", ctypes.c_void_p),
        ("overrides", ctypes.c_void_p),
        ("n_gpu_layers", ctypes.c_int32),
        ("split_mode", ctypes.c_int),
        ("load_mode", ctypes.c_int),
        ("lazy_mode", ctypes.c_int),
        ("main_gpu", ctypes.c_int32),
        ("tensor_split", ctypes.c_void_p),
        ("progress", ctypes.c_void_p),
        ("progress_data", ctypes.c_void_p),
        ("key_values", ctypes.c_void_p),
        ("vocab_only", ctypes.c_bool),
        ("check_tensors", ctypes.c_bool),
        ("use_extra_buffers", ctypes.c_bool),
        ("no_host", ctypes.c_bool),
        ("no_alloc", ctypes.c_bool),
        ("load_mtp", ctypes.c_bool),
        ("padding", ctypes.c_uint8 * 66),
    ]


class _Candidate(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int32), ("logit", ctypes.c_float), ("p", ctypes.c_float)]


class _Candidates(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.POINTER(_Candidate)),
        ("size", ctypes.c_size_t),
        ("selected", ctypes.c_int64),
        ("sorted", ctypes.c_bool),
    ]


class _Row:
    """Candidates as the sampler takes them; the order stays, since it only sets logits."""

    def __init__(self, count: int) -> None:
        self.candidates = (_Candidate * count)()
        first = ctypes.cast(self.candidates, ctypes.POINTER(_Candidate))
        self._array = _Candidates(first, count, -1, False)
        self.pointer = ctypes.pointer(self._array)


_LOG = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)


class Rejected(ValueError):
    """llama.cpp does not take the grammar."""


class _Library:
    """The functions of the shared library, with their types."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))
        self.log: list[str] = []
        self._callback = _LOG(
            lambda level, text, data: self.log.append(text.decode("utf8", "replace"))
        )
        pointer, number, text = ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p
        texts = ctypes.POINTER(text)
        bind = self._bind
        self.default_params = bind("llama_model_default_params", _ModelParams)
        self.load = bind("llama_model_load_from_file", pointer, text, _ModelParams)
        self.get_vocab = bind("llama_model_get_vocab", pointer, pointer)
        self.count = bind("llama_vocab_n_tokens", number, pointer)
        self.grammar = bind("llama_sampler_init_grammar", pointer, pointer, text, text)
        self.lazy_grammar = bind(
            "llama_sampler_init_grammar_lazy_patterns",
            *(pointer, pointer, text, text, texts, ctypes.c_size_t),
            *(ctypes.POINTER(number), ctypes.c_size_t),
        )
        self.apply = bind("llama_sampler_apply", None, pointer, ctypes.POINTER(_Candidates))
        self.accept = bind("llama_sampler_accept", None, pointer, number)
        self.reset = bind("llama_sampler_reset", None, pointer)
        self.free = bind("llama_sampler_free", None, pointer)
        bind("llama_log_set", None, _LOG, pointer)(self._callback, None)
        bind("llama_backend_init", None)()
        self.vocabulary, self.tokens = self._load_vocabulary()

    def _bind(self, name: str, result: object, *arguments: object) -> Callable[..., object]:
        function = getattr(self._library, name)
        function.restype, function.argtypes = result, arguments
        return function  # type: ignore[no-any-return]

    def _load_vocabulary(self) -> tuple[object, int]:
        params = self.default_params()
        assert isinstance(params, _ModelParams)
        layout = (params.vocab_only, params.check_tensors, params.use_extra_buffers)
        assert layout == (False, False, True), "the layout of llama_model_params has changed"
        params.vocab_only = True
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bytes.gguf"
            byte_vocabulary.write(path)
            model = self.load(os.fsencode(path), params)
        if not model:
            raise RuntimeError("".join(self.log[-5:]))
        vocabulary = self.get_vocab(model)
        count = self.count(vocabulary)
        assert isinstance(count, int)
        return vocabulary, count


@cache
def _library() -> _Library:
    spec = importlib.util.find_spec("xllamacpp")
    assert spec is not None
    assert spec.submodule_search_locations
    return _Library(Path(spec.submodule_search_locations[0]) / "xllamacpp.abi3.so")


class Grammar:
    """A grammar that has been loaded; `lazy` gives the patterns that switch it on."""

    def __init__(self, text: str, *, lazy: Sequence[str] | None = None) -> None:
        """Raises Rejected where llama.cpp does not take the grammar."""
        self._library = _library()
        self._library.log.clear()
        source, root = text.encode(), b"root"
        if lazy is None:
            self._sampler = self._library.grammar(self._library.vocabulary, source, root)
        else:
            patterns = (ctypes.c_char_p * len(lazy))(*[pattern.encode() for pattern in lazy])
            self._sampler = self._library.lazy_grammar(
                *(self._library.vocabulary, source, root, patterns, len(lazy), None, 0)
            )
        if not self._sampler:
            raise Rejected("".join(self._library.log).strip() or "no message")
        self._one = _Row(1)
        self._all = _Row(self._library.tokens)

    def close(self) -> None:
        """Free the engine's memory."""
        self._library.free(self._sampler)

    def verdict(self, data: bytes) -> str:
        """accept, incomplete, or reject at a byte."""
        self._library.reset(self._sampler)
        for at, byte in enumerate(data):
            if not self._allows(byte):
                return f"reject {at}"
            self._library.accept(self._sampler, byte)
        return "accept" if self._allows(END) else "incomplete"

    def accepts(self, text: str) -> bool:
        """Whether the grammar lets a model write exactly this."""
        return self.verdict(text.encode()) == "accept"

    def sample(self, rng: random.Random, hints: Sequence[str], *, limit: int = 300) -> str | None:
        """A random text of the grammar; None where it has not ended at four times the limit.

        Half of the time it goes on with a part of one of the `hints`, as far as the grammar lets
        it, since no random characters make a marker. From `limit` on it ends as soon as it may.
        """
        self._library.reset(self._sampler)
        out = bytearray()
        while len(out) < 4 * limit:
            if self._allows(END) and (len(out) >= limit or rng.random() < 0.3):
                return out.decode()
            hint = rng.choice(hints) if rng.random() < 0.5 or len(out) >= limit else ""
            start = rng.randrange(len(hint) or 1)
            stop = len(hint) if rng.random() < 0.5 else rng.randint(start, len(hint))
            if not self._write(hint[start:stop], rng, out):
                self._any_character(rng, out)
        return None

    def _any_character(self, rng: random.Random, out: bytearray) -> None:
        """Go on with one that may come next, where one may."""
        self._any_byte(rng, out)
        self._rest_of_character(rng, out)

    def _rest_of_character(self, rng: random.Random, out: bytearray) -> None:
        while _unfinished(out):
            self._any_byte(rng, out)

    def _any_byte(self, rng: random.Random, out: bytearray) -> None:
        """Go on with a byte that may come next; outside of ASCII with one of _WIDE's, if it may."""
        following = sorted(token for token in self._allowed() if token < END)
        byte = rng.choice(following) if following else 0
        if byte >= 0x80:
            begun = _unfinished(out)
            wide = [b for b in following if _begins_wide(begun + bytes([b]))]
            byte = rng.choice(wide or following)
        if following:
            self._accept(byte, out)

    def _write(self, text: str, rng: random.Random, out: bytearray) -> bool:
        """Go on with a text as far as it is allowed; whether any of it was."""
        before = len(out)
        for byte in text.encode():
            if not self._allows(byte):
                break
            self._accept(byte, out)
        self._rest_of_character(rng, out)
        return len(out) > before

    def _accept(self, byte: int, out: bytearray) -> None:
        self._library.accept(self._sampler, byte)
        out.append(byte)

    def _allows(self, token: int) -> bool:
        # A token that was refused must never be accepted: that ends the process.
        only = self._one.candidates[0]
        only.id, only.logit = token, 0.0
        self._library.apply(self._sampler, self._one.pointer)
        return bool(only.logit > _NEVER)

    def _allowed(self) -> set[int]:
        for token, candidate in enumerate(self._all.candidates):
            candidate.id, candidate.logit = token, 0.0
        self._library.apply(self._sampler, self._all.pointer)
        return {candidate.id for candidate in self._all.candidates if candidate.logit > _NEVER}


def _unfinished(text: bytearray) -> bytes:
    """The bytes at the end of a text of a character that is not whole."""
    decoder = codecs.getincrementaldecoder("utf-8")("ignore")
    decoder.decode(bytes(text[-3:]))
    return decoder.getstate()[0]


def _begins_wide(data: bytes) -> bool:
    return any(character.encode().startswith(data) for character in _WIDE)
