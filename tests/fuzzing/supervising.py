"""Processes that do cases, watched: ended where one takes too long, and started again."""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[2]
COMMAND = ["-m", "tests.fuzzing.worker"]
SECONDS = 5.0  # of CPU for a case
EVERY = 2000  # cases, it says how far it is
PATIENCE = 60.0  # by the clock, where the computer is busy or a case waits


@dataclass
class Tally:
    """How many cases were done, and what was found: case and text."""

    done: int = 0
    findings: list[tuple[int, str]] = field(default_factory=list)


class Watched:
    """One worker process: takes a case, answers what is wrong."""

    def __init__(self, source):
        self._source = source
        self._process = None

    def do(self, seed, number):
        """Return what is wrong with a case, or nothing; a crash and a hang are."""
        self.start()
        self._process.stdin.write(f"{seed} {number}\n")
        self._process.stdin.flush()
        answer = self._answer(SECONDS, PATIENCE)
        if answer is not None and answer.strip():
            return json.loads(answer)
        why = f"takes more than {SECONDS} s" if answer is None else "ends the process"
        return f"{why}\n{self.end()}"

    def start(self):
        """Start the process, unless it runs; returns when it is ready."""
        if self._process is not None:
            return
        self._log = tempfile.NamedTemporaryFile("w+", prefix="evener-fuzz-log-")  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, *COMMAND, str(self._source)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            bufsize=1,
            start_new_session=True,
        )
        if self._answer(1200, 2400) != "ready\n":
            raise RuntimeError(f"a worker does not start:\n{self.end()}")

    def _answer(self, seconds, patience):
        """The next line; None where the process takes so long, nothing where it has ended."""
        begun, used = time.monotonic(), self._used()
        while not select.select([self._process.stdout], [], [], 0.5)[0]:
            if self._used() - used > seconds or time.monotonic() - begun > patience:
                return None
        return self._process.stdout.readline()

    def _used(self):
        try:
            times = psutil.Process(self._process.pid).cpu_times()
        except psutil.Error:
            return 0.0
        return times.user + times.system

    def end(self):
        """End the process; return where it was, and what it said last."""
        if self._process is None:
            return ""
        process, self._process = self._process, None
        if process.poll() is None:
            os.kill(process.pid, signal.SIGUSR1)  # it says where it is
            time.sleep(0.5)
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdin.close()
        process.stdout.close()
        with self._log as log:
            log.seek(0)
            return f"exit {process.returncode}\n{log.read()[-5000:]}"


def watch(source, seed, numbers, seconds, found):
    """Do cases one after another for so long, once all is compiled; returns a Tally.

    numbers: of the cases. found: called with the number and text of each finding.
    """
    tally, worker = Tally(), Watched(source)
    try:
        worker.start()
        until = time.monotonic() + seconds
        for number in numbers:
            if time.monotonic() >= until:
                break
            wrong = worker.do(seed, number)
            tally.done += 1
            if tally.done % EVERY == 0:
                print(f"{tally.done:,} inputs, {len(tally.findings)} findings", flush=True)
            if wrong:
                tally.findings.append((number, wrong))
                found(number, wrong)
    finally:
        worker.end()
    return tally
