"""What the scripts beside this one share: result files of JSON lines, arguments, tables.

A script writes one line a measurement as soon as it is made, and knows the table of its lines:

    def main():
        answer(parser(__doc__, RESULTS).parse_args(), measured, table)
"""

import argparse
import json


def parser(doc, results):
    """Arguments that say where lines go, and whether to measure at all."""
    made = bare_parser(doc, results)
    made.add_argument("--table", action="store_true", help="only print what was measured")
    return made


def bare_parser(doc, results):
    """The same without --table, for scripts that print none."""
    made = argparse.ArgumentParser(description=doc.splitlines()[0])
    made.add_argument("-o", "--output", type=type(results), default=results, help="result file")
    return made


def answer(args, measured, table):
    """Write the lines that measured(args) yields, unless only the table is wanted; print it."""
    if not args.table:
        write(args.output, measured(args))
    print(table(read(args.output)))


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
    path.parent.mkdir(exist_ok=True)
    path.write_text("")
    return [append(path, line) for line in lines]


def append(path, line):
    """Add a line; return it."""
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps(line) + "\n")
    return line


def markdown(rows):
    """A table of rows, the first of which is its head."""
    head, *body = rows
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
