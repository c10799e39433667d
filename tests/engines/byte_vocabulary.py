"""A vocabulary-only GGUF: one token a byte, one that ends, and special tokens on request."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def byte_alphabet() -> list[str]:
    """GPT-2's printable character for each byte, which llama.cpp's tokenizer reads back."""
    shown = {*range(33, 127), *range(161, 173), *range(174, 256)}
    alphabet = []
    hidden = 0
    for byte in range(256):
        alphabet.append(chr(byte) if byte in shown else chr(256 + hidden))
        hidden += byte not in shown
    return alphabet


def write(path: Path, specials: Sequence[str] = ()) -> None:
    """Write the file: tokens 0 to 255 are bytes, 256 ends a text, then the special tokens."""
    import gguf

    tokens = [*byte_alphabet(), "<|end of text|>", *specials]
    kinds = [gguf.TokenType.NORMAL] * 256 + [gguf.TokenType.CONTROL]
    kinds += [gguf.TokenType.USER_DEFINED] * len(specials)
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_name("bytes")
    writer.add_context_length(1024)
    writer.add_embedding_length(32)
    writer.add_block_count(1)
    writer.add_feed_forward_length(32)
    writer.add_head_count(1)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(32)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_types([int(kind) for kind in kinds])
    writer.add_token_merges(["a b"])  # llama.cpp refuses a vocabulary without any
    writer.add_eos_token_id(256)
    writer.add_bos_token_id(256)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
