"""Reads many outputs with a generated module, in one process and with Ray Data, and compares both.

    pip install 'autoparser-gen[scale]' && python benchmarks/scale_ray.py --outputs 100000

The outputs are turns of the chat template that grow to lengths of 100 to 4000 characters.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import texts

GENERATED = Path(__file__).parents[1] / "generated"
STEM = "qwen3"
SCENARIOS = ("reasoning", "content", "string", "calls")
SIZES = (100, 300, 1000, 4000)  # characters, about
FILES = 20  # the outputs are spread over; Ray reads files in parallel


def outputs(count: int) -> Iterator[dict[str, Any]]:
    """Outputs with an id each: every scenario in every size, over and over."""
    made = texts.load(STEM)
    kinds = [made.text(scenario, size) for scenario in SCENARIOS for size in SIZES]
    for i in range(count):
        yield {"id": i, "text": kinds[i % len(kinds)].replace("17", str(i))}


def write(folder: Path, count: int) -> list[Path]:
    """JSON Lines in FILES files."""
    folder.mkdir()
    paths = [folder / f"outputs-{i:03}.jsonl" for i in range(FILES)]
    files = [path.open("w", encoding="utf-8") for path in paths]
    for output in outputs(count):
        files[output["id"] * FILES // count].write(json.dumps(output) + "\n")
    for file in files:
        file.close()
    return paths


def in_one_process(paths: Sequence[Path], parsed: Path) -> dict[int, Any]:
    """The messages that the module prints when it is run, by the outputs' ids."""
    found: dict[int, Any] = {}
    module = GENERATED / STEM / f"{STEM}_parser.py"
    given = b"".join(path.read_bytes() for path in paths)
    with parsed.open("wb") as out:
        subprocess.run([sys.executable, str(module)], input=given, stdout=out, check=True)
    for i, line in enumerate(parsed.read_text("utf-8").splitlines()):
        found[i] = json.loads(line)["message"]
    return found


def read_batch(batch: Mapping[str, Any]) -> dict[str, list[Any]]:
    """What a worker does with a batch of outputs. It imports the module where it runs."""
    import qwen3_parser  # type: ignore[import-not-found]  # in the folder that Ray is given

    messages = [qwen3_parser.parse(text) for text in batch["text"]]
    return {
        "id": list(batch["id"]),
        "message": [json.dumps(message.to_openai()) for message in messages],
        "finish_reason": [message.finish_reason() for message in messages],
    }


def with_ray(folder: Path, parsed: Path) -> dict[int, Any]:
    """The same with Ray Data: files in, files out."""
    import ray

    ray.data.read_json(str(folder)).map_batches(read_batch, batch_size=1024).write_json(str(parsed))
    found: dict[int, Any] = {}
    for path in parsed.glob("*.json"):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            found[row["id"]] = json.loads(row["message"])
    return found


def main() -> None:
    """Run both and print how many outputs and characters a second each has read."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--outputs", type=int, default=100_000)
    count = parser.parse_args().outputs
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        paths = write(folder / "outputs", count)
        characters = sum(path.stat().st_size for path in paths)
        print(f"{count} outputs, {characters / 1e6:.0f} MB of JSON Lines in {FILES} files")

        began = time.perf_counter()
        expected = in_one_process(paths, folder / "parsed.jsonl")
        report("python qwen3_parser.py", count, characters, time.perf_counter() - began)
        spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        report("its processor time", count, characters, spent)

        ray.init(runtime_env={"working_dir": str(GENERATED / STEM)}, log_to_driver=False)
        began = time.perf_counter()
        found = with_ray(folder / "outputs", folder / "parsed")
        took = time.perf_counter() - began
        report(f"Ray Data {ray.__version__}, {os.cpu_count()} cores", count, characters, took)
        ray.shutdown()
    assert found == expected, "Ray has read something else"
    print("the same messages")


def report(what: str, count: int, characters: int, seconds: float) -> None:
    """A line for people."""
    rate, speed = count / seconds, characters / seconds / 1e6
    print(f"{what}: {seconds:.1f} s, {rate:.0f} outputs/s, {speed:.1f} MB/s", flush=True)


if __name__ == "__main__":
    main()
