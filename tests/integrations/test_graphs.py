"""node_map, and the lines that DGL's pipeline reads: read back, they are the plan's blocks."""

import numpy as np
import scipy.sparse as sp

import evener as ev
from evener.cli import main
from evener.integrations.graphs import node_map


def test_blocks_of_nodes(tmp_path):
    plan = ev.plan(sp.diags_array([1.0, 1.0], offsets=[-1, 1], shape=(20, 20)), [1, 4])
    ev.write_plan(tmp_path / "a.plan", plan)
    found = node_map(tmp_path / "a.plan")
    assert found.dtype == np.int64
    assert found.tolist() == plan.partition.part.tolist()
    lines = tmp_path / "node.txt"
    command = ["export", str(tmp_path / "a.plan"), "--to", "metis", "-o", str(lines), "--quiet"]
    assert main(command) == 0
    assert [int(line) for line in lines.read_text().splitlines()] == found.tolist()
