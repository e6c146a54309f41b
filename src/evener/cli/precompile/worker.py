"""A process that rehearses: names of pieces on standard input, kernels compiled on standard output.

    python -m evener.cli.precompile.worker

One line a piece; it ends where its input does.
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
