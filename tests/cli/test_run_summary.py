"""What runs say of the order of their vertices."""

import json

import pytest

from evener.cli import main
from evener.cli.run_summary import say_reorderings
from evener.graphs.generating.grid import grid
from evener.io import write_graph
from evener.running.engine.recording import Reordering


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("locality")
    write_graph(folder / "grid.graph", grid((9, 9)))
    (folder / "m.toml").write_text('[[device]]\nname = "one"\ncount = 2\nspeed = 1.0\n')
    words = ["plan", str(folder / "grid.graph"), "--machine", str(folder / "m.toml")]
    assert main([*words, "-o", str(folder / "grid.plan"), "--quiet"]) == 0
    return folder


def run(files, *words):
    return main(["run", str(files / "grid.plan"), str(files / "grid.graph"), *words])


@pytest.mark.parametrize("how", ["on", "auto"])
def test_a_good_order_is_kept_and_told(files, how, capsys):
    assert run(files, "--app", "cg", "--locality", how, "--verify", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["verified"] is True
    assert [one["device"] for one in said["reorderings"]] == ["one0", "one1"]
    assert [one["step"] for one in said["reorderings"]] == [None, None]


def test_what_does_not_go_together_is_refused(files, capsys):
    assert run(files, "--app", "cg", "--locality", "on", "--emulate") == 2
    assert "--locality does not work with --emulate" in capsys.readouterr().err
    assert run(files, "--app", "cg", "--locality", "auto", "--rebalance") == 2
    assert "does not work together with" in capsys.readouterr().err


class Said:
    """An output that keeps what is said."""

    def __init__(self):
        self.lines = []

    def say(self, text):
        self.lines.append(text)


@pytest.mark.parametrize(
    ("one", "sentence", "break_even"),
    [
        (
            Reordering(0.0),
            "keep their order; the run was too short to search for a better order",
            None,
        ),
        (Reordering(2.0), "vertices keep their order; the search", None),
        (Reordering(2.0, 0), "reordered before the run, which took 2", None),
        (Reordering(2.0, 7, 0.5, 0.1), "after superstep 7: a superstep computes 500 ms", 5.0),
        (Reordering(2.0, 7, 0.1, 0.5, is_kept=False), "was slower", None),
    ],
)
def test_sentences(one, sentence, break_even):
    class Run:
        reorderings = (one,)

    out = Said()
    numbers = say_reorderings(Run, ["gpu"], out)
    assert out.lines[0].startswith("Locality, gpu: ")
    assert sentence in out.lines[0]
    assert numbers[0]["break_even"] == break_even
