"""A process that runs rehearsals and answers with the names of the kernels it compiled.

    python -m evener.cli.precompile.worker

Each line of standard input names a rehearsal; each line of standard output is a JSON list. The
process ends when its input ends.
"""

from __future__ import annotations

import json
import sys

from evener.cli.precompile.compiler import Compiled, watch
from evener.cli.precompile.rehearsals import REHEARSALS


def main() -> None:
    """Answer line by line."""
    compiled = Compiled()
    watch(compiled)
    for line in sys.stdin:
        before = len(compiled.names)
        REHEARSALS[line.strip()]()
        print(json.dumps(compiled.names[before:]), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
