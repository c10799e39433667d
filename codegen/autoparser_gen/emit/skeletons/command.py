"""What a generated module does when it is run: many outputs in, as many messages out."""

from __future__ import annotations

import json
import sys
from typing import Any

from autoparser_gen.emit.skeletons.parse import parse

# ==== Begin command block (identical in every file) ====


def _parse_line(line: str) -> dict[str, Any]:
    """The message of one output: a text in JSON, or {"text": ..., "prompt": ..., "tools": ...}."""
    try:
        given = json.loads(line)
        given = {"text": given} if isinstance(given, str) else given
        message = parse(given["text"], prompt=given.get("prompt"), tools=given.get("tools"))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {
        "message": message.to_openai(),
        "finish_reason": message.finish_reason(),
        "incomplete": message.incomplete,
    }


def _main() -> int:
    """Read JSON Lines from standard input and write as many; 1 where one of them is an error.

    A blank line is no output of a model: nothing is written for it, and it is counted apart.
    """
    failed = count = blank = 0
    try:
        for line in sys.stdin.buffer:
            if not line.strip():
                blank += 1
                continue
            count += 1
            found = _parse_line(line.decode("utf-8", "surrogateescape"))
            failed += "error" in found
            sys.stdout.write(json.dumps(found) + "\n")
            if count % 10_000 == 0:
                print(f"{count} outputs, {failed} errors", file=sys.stderr)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output went away, which is its right
        sys.stderr.close()  # or Python would complain there that it cannot write the rest
        return 0
    skipped = f", {blank} blank lines skipped" if blank else ""
    print(f"{count} outputs, {failed} errors{skipped}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(_main())

# ==== End command block ====
