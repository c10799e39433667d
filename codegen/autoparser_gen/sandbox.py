"""Runs a stranger's chat template in a process of its own, with limits on time, memory and output.

Jinja's sandbox keeps a chat template away from files, the network and Python's insides. It does not
keep it from looping for ever, from doubling a string until memory is full, or from recursing until
the interpreter dies. All of that happens to the child here, and ends with a sentence in the parent.
"""

from __future__ import annotations

import contextlib
import functools
import json
import multiprocessing
import os
import signal
import sys
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from autoparser_gen.environment import CompiledChatTemplate, TooLong
from autoparser_gen.errors import LimitError
from autoparser_gen.limits import MIB, Limits


class Refusal(Exception):
    """The chat template raised an exception: its type and its message."""


class RenderProcess:
    """A child process that compiles one chat template and renders it on demand.

    Raises Refusal where the chat template cannot be compiled.
    """

    def __init__(self, name: str, text: str, limits: Limits) -> None:
        self._name, self._limits = name, limits
        self._seconds, self._characters = limits.seconds, limits.output * MIB
        # What is already loaded need not be imported again; elsewhere forking is not safe.
        context = (
            multiprocessing.get_context("fork")
            if sys.platform == "linux"
            else multiprocessing.get_context("spawn")
        )
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, text, limits), daemon=True)
        self._process.start()
        theirs.close()
        self._finalizer = weakref.finalize(self, _kill, self._process.pid, os.getpid())
        self._receive()

    def render(self, variables: str) -> str:
        """The chat template's text for these variables, a JSON object.

        Raises Refusal with what the chat template raised, and LimitError where a limit is reached;
        the process has ended then, and stays so.
        """
        with contextlib.suppress(OSError):  # it is gone, which receiving tells
            self._connection.send_bytes(variables.encode())
        text = self._receive()
        self._characters -= len(text)
        if self._characters < 0:
            raise self._limit("output")
        return text

    def _receive(self) -> str:
        started = time.monotonic()
        try:
            if not self._connection.poll(max(self._seconds, 0)):
                raise self._limit("seconds")
            answer = _Answer(**json.loads(self._connection.recv_bytes()))
        except (EOFError, OSError):
            raise self._died() from None
        finally:
            self._seconds -= time.monotonic() - started
        if answer.limit:
            raise self._limit(answer.limit)
        if answer.refusal:
            raise Refusal(answer.refusal)
        return answer.text

    def close(self) -> None:
        """End the process. Without this it ends when nothing refers to it any more."""
        if self._finalizer.alive:
            self._finalizer()
            self._process.join()
            self._connection.close()

    def _limit(self, name: str) -> LimitError:
        self.close()
        limits = self._limits
        said = {
            "seconds": f"rendering took more than {limits.seconds:g} seconds; is there an endless loop?",
            "memory": f"rendering took more than {limits.memory} MiB of memory.",
            "output": f"the renderings are longer than {limits.output} MiB of text.",
        }
        return LimitError(
            f"{self._name}: {said[name]} If that is how this chat template must be, raise"
            f" --max-{name}."
        )

    def _died(self) -> LimitError:
        self._process.join(1)
        status = self._process.exitcode
        self.close()
        return LimitError(
            f"{self._name}: the chat template ended the process that rendered it (status {status});"
            " perhaps by recursing too deeply. It cannot be used."
        )


def _kill(process: int | None, parent: int) -> None:
    # The garbage collector may call this anywhere, and in every process that was forked later.
    if process is not None and os.getpid() == parent:
        with contextlib.suppress(ProcessLookupError):  # it has ended by itself
            os.kill(process, signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)


@dataclass(frozen=True)
class _Answer:
    """What the child says: a text, or why there is none."""

    text: str = ""
    refusal: str = ""  # the type and message of an exception
    limit: str = ""  # the name of the limit that was reached

    def encode(self) -> bytes:
        return json.dumps(vars(self)).encode()


def _serve(connection: Connection, text: str, limits: Limits) -> None:
    """The child: compile, say so, then answer each set of variables with a text."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when this ends
    _limit_memory(limits.memory)
    compiled: list[CompiledChatTemplate] = []

    def compile_it() -> str:
        # Compiling evaluates what is constant, so this too can take any time and memory.
        compiled.append(CompiledChatTemplate(text))
        return ""

    connection.send_bytes(_attempt(compile_it).encode())
    while compiled:
        try:
            variables = connection.recv_bytes()
        except EOFError:
            return
        answer = _attempt(functools.partial(compiled[0].render, variables, limits.output * MIB))
        connection.send_bytes(answer.encode())


def _attempt(work: Callable[[], str]) -> _Answer:
    try:
        return _Answer(text=work())
    except MemoryError:
        return _Answer(limit="memory")
    except TooLong:
        return _Answer(limit="output")
    except Exception as error:  # a stranger's chat template may raise anything
        return _Answer(refusal=f"{type(error).__name__}: {error}")


def _limit_memory(mib: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limit: there only time and output are limited
        return
    statm = Path("/proc/self/statm")
    has = int(statm.read_text().split()[0]) * resource.getpagesize() if statm.exists() else 0
    resource.setrlimit(resource.RLIMIT_AS, (has + mib * MIB,) * 2)
