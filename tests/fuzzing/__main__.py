"""The command: so many minutes of changed files, or one case again."""

import argparse
import itertools
import os
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzzing import samples, supervising, worker


def main():
    """Return 0 where nothing was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzzing", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, help="default: of the clock")
    parser.add_argument("--case", type=int, metavar="N", help="this one only, in this process")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="case to begin with")
    parser.add_argument("--count", type=int, metavar="N", help="cases at most")
    args = parser.parse_args()
    seed = int(time.time()) if args.seed is None else args.seed
    with tempfile.TemporaryDirectory(prefix="evener-fuzz-") as folder:
        source = Path(folder)
        samples.make(source)
        if args.case is not None:
            return _one(source, seed, args.case)
        return _many(source, seed, args)


def _many(source, seed, args):
    numbers = itertools.count(args.first)
    if args.count is not None:
        numbers = itertools.islice(numbers, args.count)
    print(f"seed {seed}, {args.minutes:g} minutes", flush=True)

    def found(number, text):
        print(f"\n--seed {seed} --case {number}: {text}", flush=True)

    tally = supervising.watch(source, seed, numbers, 60 * args.minutes, found)
    print(f"{tally.done:,} inputs, {len(tally.findings)} findings, seed {seed}")
    if tally.findings:
        print(f"one again: python -m tests.fuzzing --seed {seed} --case {tally.findings[0][0]}")
    return bool(tally.findings)


def _one(source, seed, number):
    files, folder = worker.prepared(source)
    kind, name, content, _ = worker.case(files, seed, number)
    kept = Path(tempfile.gettempdir()) / f"case-{seed}-{number}-{name}"
    kept.write_bytes(content)
    print(f"{kind} {name}, {len(content):,} bytes, kept as {kept}")
    wrong = worker.once(files, folder, str(seed), number)
    print(wrong or "fine")
    os.chdir("/")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
