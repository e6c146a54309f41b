"""What the tests of commands share."""

from typing import NamedTuple

import numpy as np
import pytest

from evener.cli import main
from evener.cli.compiling import WORDS
from evener.filing.writing_graphs import write_graph
from tests.assertions import grid


class Said(NamedTuple):
    """What a command came to: exit code, stdout and stderr."""

    code: int
    out: str
    err: str


@pytest.fixture
def evener(capsys):
    """Run `evener` in this process."""

    def run(*words):
        code = main([str(word) for word in words])
        out, err = capsys.readouterr()
        return Said(code, out, err.replace(f"{WORDS}\n", ""))  # said where the cache is cold

    return run


@pytest.fixture
def grid_file(tmp_path):
    """A 10 x 12 grid as a METIS graph, its coordinates beside it."""
    file = tmp_path / "grid.graph"
    graph = grid(10, 12)
    write_graph(file, graph.with_(coords=None))
    np.savetxt(tmp_path / "grid.graph.xyz", graph.coords, fmt="%d")
    return file


@pytest.fixture
def small_machine(tmp_path):
    """A machine of 100 units' room for any graph: too small for the grid."""
    file = tmp_path / "small.toml"
    tables = [f'[[device]]\nname = "d{i}"\nspeed = {i + 1}.0\nmemory_units = 50\n' for i in (0, 1)]
    file.write_text("\n".join(tables))
    return file
