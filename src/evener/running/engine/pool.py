"""ThreadPool: threads that run a compiled kernel together, each optionally bound to a core."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

from evener.errors import InputError


class ThreadPool:
    """The threads of one device; they wait between runs, and end when the pool is closed.

    threads: their number; the caller's own thread is the first. cores: numbers of the cores to
    which they are bound, one each. The caller's thread is bound only while a kernel runs, or for a
    whole block `with pool.bound()`, as binding takes 0.1 ms. Raises InputError for counts below 1,
    and for cores that do not exist or do not match the threads.
    """

    def __init__(self, threads: int, cores: Sequence[int] | None = None) -> None:
        if threads < 1:
            raise InputError(f"the number of threads must be at least 1, not {threads}")
        if cores is not None and (len(cores) != threads or len(set(cores)) != threads):
            raise InputError(
                f"{threads} threads on cores {list(cores)}: each thread needs its own core"
            )
        if cores is not None and (missing := set(cores) - os.sched_getaffinity(0)):
            raise InputError(f"this process may not use core {min(missing)}")
        self.threads = threads
        self.cores = cores
        self._holds_caller = False
        # Locks, which wake a thread in less time than semaphores; all are taken at first.
        self._begin = [_taken_lock() for _ in range(1, threads)]
        self._ended = [_taken_lock() for _ in range(1, threads)]
        self._is_open = True
        self._work: Callable[[int], object] | None = None
        self._errors: list[BaseException] = []
        for thread in range(1, threads):
            threading.Thread(target=self._serve, args=(thread,), daemon=True).start()

    def run(self, kernel: Callable[..., object], *arguments: Any) -> None:
        """Call kernel(thread, threads, *arguments) on all threads; return when all have ended.

        Raises the exception of any of them.
        """
        threads = self.threads
        if threads == 1 and (self.cores is None or self._holds_caller):
            kernel(0, 1, *arguments)
            return
        self._work = lambda thread: kernel(thread, threads, *arguments)
        for begin in self._begin:
            begin.release()
        try:
            with self.bound():
                self._work(0)
        finally:
            for ended in self._ended:
                ended.acquire()
        if self._errors:
            errors, self._errors = self._errors, []
            raise errors[0]

    def prepare(self, kernel: Any, *arguments: Any) -> None:
        """Compile or load a kernel for the types of these arguments, which are those of `run`."""
        if hasattr(kernel, "compile"):  # without a JIT it is a function of Python
            given = (0, self.threads, *arguments)
            kernel.compile(tuple(kernel.typeof_pyval(argument) for argument in given))

    def close(self) -> None:
        """End the threads."""
        if self._is_open:
            self._is_open, self._work = False, None
            for begin in self._begin:
                begin.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def bound(self) -> Iterator[None]:
        """Bind the calling thread to the first core during the block.

        Only this thread may call `run`.
        """
        if self.cores is None or self._holds_caller:
            yield
            return
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {self.cores[0]})
        self._holds_caller = True
        try:
            yield
        finally:
            self._holds_caller = False
            os.sched_setaffinity(0, before)

    def _serve(self, thread: int) -> None:
        """Carry out the calls of `run` until the pool is closed."""
        if self.cores is not None:
            os.sched_setaffinity(0, {self.cores[thread]})
        while True:
            self._begin[thread - 1].acquire()
            if self._work is None:
                return
            try:
                self._work(thread)
            except BaseException as error:  # raised again by `run`
                self._errors.append(error)
            self._ended[thread - 1].release()


def _taken_lock() -> threading.Lock:
    lock = threading.Lock()
    lock.acquire()  # another thread releases it
    return lock
