"""What the scripts beside this one share: result files of JSON lines, arguments, tables.

A script writes one line a measurement as soon as it is made, and knows the table of its lines:

    def main():
        answer(parser(__doc__, RESULTS).parse_args(), measured, table)

--small runs a script on little input; `make bench-all` does so for all of them.
"""

import argparse
import json
import multiprocessing
import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))  # some scripts use models of papers/
SMALL_RESULTS = Path(__file__).parent / "data" / "small"


class Arguments(argparse.ArgumentParser):
    """Arguments of a script. --small gives those of `when_small` other values, and writes to
    benchmarks/data/small unless -o says where: the script is only tried. `parser` adds --table.
    """

    def __init__(self, doc, results):
        super().__init__(description=doc.splitlines()[0])
        self._results, self._small = results, {}
        self.add_argument("-o", "--output", type=Path, default=results, help="result file")
        self.add_argument("--small", action="store_true", help="little input: does it still run?")

    def when_small(self, **values):
        """Set what arguments are with --small."""
        self._small |= values

    def parse_args(self, *given):
        args = super().parse_args(*given)
        if args.small:
            vars(args).update(self._small)
            if args.output == self._results:
                SMALL_RESULTS.mkdir(parents=True, exist_ok=True)
                args.output = SMALL_RESULTS / self._results.name
                args.output.unlink(missing_ok=True)
        return args


def parser(doc, results):
    """Return arguments that say where lines go, and whether to measure at all."""
    made = Arguments(doc, results)
    made.add_argument("--table", action="store_true", help="only print what was measured")
    return made


def answer(args, measured, table):
    """Write the lines that measured(args) yields, unless only the table is wanted; print it."""
    if not args.table:
        write(args.output, measured(args))
    print(table(read(args.output)))


def answer_more(args, measure, table):
    """Let measure(args) add its lines to the file, unless only the table is wanted; print it."""
    if not args.table:
        measure(args)
    print(table(read(args.output)))


def alone(function, *arguments):
    """Return what the function returns in a new process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def geometric_mean(values):
    """Return the geometric mean; nan of no values."""
    return float(np.exp(np.log(list(values)).mean()))


def words(text):
    """The parts of an argument such as a,b,c."""
    return text.split(",")


def read(path):
    """All lines of a result file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def known(path):
    """Those of a file that may not be there yet."""
    return read(path) if path.exists() else []


def write(path, lines):
    """Make the file anew, line by line as they are measured; return them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    return [append(path, line) for line in lines]


def append(path, line):
    """Add a line; return it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps(line) + "\n")
    return line


def markdown(rows):
    """A table of rows, the first of which is its head."""
    head, *body = rows
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
