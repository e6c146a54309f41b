"""Names in CSV: no spreadsheet computes them, and they are read back as they were."""

import csv
import io

import numpy as np
import pytest

from evener.graphs.graph import Graph
from evener.io.plans.partitions import read_part, write_part
from evener.io.plans.parts import as_text, quoted

NAMES = [
    "=1+1",
    "+x",
    "-x",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "=a,b",
    '="x"',
    "\u202ex",
    "\x1b[2J",
]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_computed(name):
    ((field,),) = csv.reader(io.StringIO(quoted(name), newline=""))
    assert field[0] not in "=+-@\t\r\n"
    assert "\u202e" not in field
    assert "\x1b" not in field


@pytest.mark.parametrize("name", ["-5", "+1.5e3", "gpu0", "a=b", "", "é", "-1"])
def test_numbers_and_plain_names_are_left_alone(name):
    assert as_text(name) == quoted(name) == name


def test_labels_come_back(tmp_path):
    labels = [*NAMES, "plain", "-7"]
    n = len(labels)
    xadj = np.concatenate([[0, 1], np.arange(3, 2 * n - 1, 2), [2 * n - 2]])
    adjncy = np.concatenate([[1], *[[v - 1, v + 1] for v in range(1, n - 1)], [n - 2]])
    graph = Graph(xadj, adjncy, labels=np.array(labels))
    part = np.arange(n) % 3
    write_part(tmp_path / "p.csv", part, "csv", graph=graph, devices=["=a", "@b", "c"])
    text = (tmp_path / "p.csv").read_text()
    assert ",'=a\n" in text
    assert ",'@b\n" in text
    assert (read_part(tmp_path / "p.csv", n, labels=graph.labels) == part).all()
