"""A vocabulary-only GGUF: one token a byte, one that ends, and special tokens on request."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any


def byte_alphabet() -> list[str]:
    """GPT-2's printable character for each byte, which llama.cpp's tokenizer reads back."""
    shown = {*range(33, 127), *range(161, 173), *range(174, 256)}
    alphabet = []
    hidden = 0
    for byte in range(256):
        alphabet.append(chr(byte) if byte in shown else chr(256 + hidden))
        hidden += byte not in shown
    return alphabet


SIZE = 32  # of every dimension of the model
END = 256  # the token that ends a text


def write(path: Path, words: Sequence[str] = (), control: Sequence[str] = ()) -> None:
    """Write the file: tokens 0 to 255 are bytes, END ends a text, then those that are given.

    A server leaves `control` tokens out of a text, `words` never. With any of them the file is a
    whole model of one layer, whose weights are random.
    """
    import gguf

    tokens = [*byte_alphabet(), "<|end of text|>", *words, *control]
    kinds = [gguf.TokenType.NORMAL] * 256 + [gguf.TokenType.CONTROL]
    kinds += [gguf.TokenType.USER_DEFINED] * len(words)
    kinds += [gguf.TokenType.CONTROL] * len(control)
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_name("bytes")
    writer.add_context_length(1024)
    writer.add_embedding_length(SIZE)
    writer.add_block_count(1)
    writer.add_feed_forward_length(SIZE)
    writer.add_head_count(1)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(SIZE)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_types([int(kind) for kind in kinds])
    writer.add_token_merges(["a b"])  # llama.cpp refuses a vocabulary without any
    writer.add_eos_token_id(END)
    writer.add_bos_token_id(END)
    if words or control:
        _add_weights(writer, len(tokens))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_weights(writer: Any, tokens: int) -> None:
    import numpy

    shapes = {"token_embd": (tokens, SIZE), "output": (tokens, SIZE), "output_norm": (SIZE,)}
    shapes |= {f"blk.0.{part}_norm": (SIZE,) for part in ("attn", "ffn")}
    matrices = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
    shapes |= {f"blk.0.{matrix}": (SIZE, SIZE) for matrix in matrices}
    random = numpy.random.default_rng(0)
    for name, shape in shapes.items():
        values = random.standard_normal(shape) * 0.3
        writer.add_tensor(f"{name}.weight", values.astype(numpy.float32))
