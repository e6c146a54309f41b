"""What the tests of commands share."""

from typing import NamedTuple

import numpy as np
import pytest

from evener.cli import main
from evener.cli.compiling import WORDS
from evener.files.writing import write_text
from evener.io.write import write_graph
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
        said_cold = f"{WORDS.format(words[0] if words else '')}\n"  # where the cache is cold
        return Said(code, out, err.replace(said_cold, ""))

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


@pytest.fixture(scope="session")
def small_files(tmp_path_factory):
    """A graph, a plan of it, a machine and speeds of devices with odd names."""
    folder = tmp_path_factory.mktemp("made")
    graph = grid(8, 9)
    write_graph(folder / "g.graph", graph)
    write_text(folder / "m.toml", '[[device]]\nname = "a[/b] :smile:"\nspeed = 2\n'
               '[[device]]\nname = "[bold]"\nspeed = 1\n')  # fmt: skip
    write_text(folder / "f.toml", '[[filter]]\nname = "[b]"\nscalar = 5\n')
    write_text(folder / "p.toml", '[[device]]\nname = "a[/b] :smile:"\nmips = 2\n')
    write_text(folder / "v.toml", '[[device]]\nname = "[bold]"\nsamples = [[9, 1], [19, 3]]\n')
    assert main(["plan", str(folder / "g.graph"), "--k", "3", "-o", str(folder / "g.plan"),
                 "--quiet"]) == 0  # fmt: skip
    return folder


@pytest.fixture
def place(small_files, tmp_path, monkeypatch):
    """A folder with a graph, a machine with odd names and a plan; the current one."""
    for file in small_files.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    # Seconds each time, and the same each time.
    monkeypatch.setattr("evener.cli.precompile.precompile.REHEARSALS", {})
    return tmp_path
