"""Writes the tables of the documentation from the result files beside this script.

    python benchmarks/summarise.py

A table stands between the comments `begin NAME` and `end NAME`, NAME being that of a result file.
Each script knows the table of its own lines. The pages of reproductions have theirs from
`python -m papers.tables`.
"""

import importlib
import re
from pathlib import Path

from records import read

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
# Page, file of results: the module, and its function, that makes the table.
PAGES = {
    DOCS / "results" / "README.md": {
        "evener": "partitioners.table",
        "evener_more": "partitioners.table",
        "partitioners": "partitioners.table",
        "real_inputs": "real_inputs.table",
        "constraints": "constraints.table",
        "powerlaw": "powerlaw.table",
        "enforcing": "enforcing.table",
        "partitioner_scale": "partitioner_scale.table",
        "scale": "scale.table",
        "mapping": "mapping.table",
        "seconds": "seconds.table",
        "sizing": "sizing.table",
        "tiling": "tiling.table",
        "truth": "truth.table",
        "measured": "measured.table",
        "reading": "reading.table",
        "converting": "converting.table",
        "halos": "halos.table",
        "engine": "engine.summary",
        "running": "running.table",
        "spmv": "spmv.table",
    },
    DOCS.parent / "README.md": {"solvers": "solvers.first"},
    DOCS / "results" / "solvers.md": {"solvers": "solvers.table"},
    DOCS / "results" / "gpu.md": {"gpu": "gpu.table"},
    DOCS / "results" / "few_blocks.md": {"few_blocks": "few_blocks.table"},
    DOCS / "results" / "small_meshes.md": {"small_meshes": "small_meshes.table"},
    DOCS / "results" / "splitting.md": {"splitting": "splitting.table"},
    DOCS / "results" / "streams.md": {"streams": "streams.table"},
    DOCS / "results" / "real_inputs.md": {"real_inputs": "real_inputs.by_file"},
    DOCS / "results" / "larger.md": {
        "larger": "larger.table",
        "larger_ranks": "larger_ranks.table",
        "larger_memory": "larger_memory.table",
        "seconds": "seconds.in_slices",
    },
}


def main():
    for page in PAGES:
        page.write_text(updated(page))


def updated(page):
    """The page's text with every table made anew."""
    text = page.read_text()
    for name, maker in PAGES[page].items():
        table = table_of(maker, read(HERE / "results" / f"{name}.jsonl"))
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        pattern = f"(?<={begin}\n).*(?={end})"
        text, found = re.subn(pattern, lambda _, t=table: t + "\n", text, flags=re.DOTALL)
        assert found == 1, f"{begin} is to stand there once"
    return text


def table_of(maker, lines):
    module, function = maker.split(".")
    return getattr(importlib.import_module(module), function)(lines)


if __name__ == "__main__":
    main()
