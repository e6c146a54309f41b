"""Files of edge plans: what is read is what was written; damaged ones are refused."""

import json

import numpy as np
import pytest

from evener.errors import InputError
from evener.graphs.edge_list import EdgeList
from evener.graphs.generating.grid import grid
from evener.io.archives import write_arrays
from evener.io.plans.edge_plan import read_edge_plan, write_edge_plan
from evener.planning.split import split


@pytest.fixture(scope="module")
def plan():
    return split(EdgeList.of_graph(grid((12, 12))), [1, 2], inputs={"a": "b"}, notes=("x",))


def test_what_is_read_is_what_was_written(plan, tmp_path):
    path = tmp_path / "e.plan"
    write_edge_plan(path, plan)
    found = read_edge_plan(path)
    assert np.array_equal(np.load(path)["part"], plan.partition.part)
    assert np.array_equal(found.partition.part, plan.partition.part)
    assert found.metrics.loads.tolist() == plan.metrics.loads.tolist()
    assert found.metrics.vertices.tolist() == plan.metrics.vertices.tolist()
    for name in ("of", "options", "graph", "inputs", "versions", "notes"):
        assert getattr(found, name) == getattr(plan, name)
    assert found.contract.high.tolist() == plan.contract.high.tolist()
    write_edge_plan(tmp_path / "again.plan", found)
    assert (tmp_path / "again.plan").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays, text: arrays.pop("part"),
        lambda arrays, text: arrays["part"].fill(7),
        lambda arrays, text: text.update(format="evener-plan"),
        lambda arrays, text: text.update(format_version=9),
        lambda arrays, text: text.update(of="faces"),
        lambda arrays, text: text.update(copies=-1),
        lambda arrays, text: text.update(replication=float("nan")),
        lambda arrays, text: text.update(loads=[1.0]),
        lambda arrays, text: text.update(options=[]),
        lambda arrays, text: text.pop("contract"),
        lambda arrays, text: text.update(platform=3),
        lambda arrays, text: text["inputs"].update(g=[1]),
        lambda arrays, text: text["versions"].update(numpy=None),
        lambda arrays, text: text["graph"].update(touched="5"),
        lambda arrays, text: text["graph"].update(edges=1),
        lambda arrays, text: text["options"].update(memory=10**400),
        lambda arrays, text: text["options"].update(epsilon=True),
        lambda arrays, text: text["options"].update(stream=1),
        lambda arrays, text: text["options"].update(reading=[]),
    ],
)
def test_damaged_files_are_refused(plan, tmp_path, change):
    path = tmp_path / "e.plan"
    write_edge_plan(path, plan)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    text = json.loads(str(arrays.pop("manifest")))
    change(arrays, text)
    with path.open("wb") as file:
        write_arrays(file, arrays | {"manifest": np.array(json.dumps(text))}, 1)
    with pytest.raises(InputError):
        read_edge_plan(path)


def test_other_files_are_refused(tmp_path):
    (tmp_path / "x").write_text("no plan")
    with pytest.raises(InputError):
        read_edge_plan(tmp_path / "x")
