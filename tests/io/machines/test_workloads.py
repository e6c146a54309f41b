"""Kernel files, read; and what is said of those that are none."""

import pytest

from evener.errors import InputError, UsageError
from evener.io.machines.workloads import find_workload, read_workload_file
from evener.plans.workload import WORKLOADS, Workload


def written(tmp_path, text, name="stencil.toml"):
    (tmp_path / name).write_text(text)
    return str(tmp_path / name)


def test_a_file_says_what_differs_from_the_defaults(tmp_path):
    path = written(tmp_path, "bytes_per_vertex = 40\nbytes_per_edge = 12.5\noverlap = true\n")
    expected = Workload("stencil", bytes_per_vertex=40, bytes_per_edge=12.5, overlap=True)
    assert find_workload(path) == read_workload_file(path) == expected
    named = written(tmp_path, 'name = "mine"\nfixed_seconds = 5e-6\n')
    assert read_workload_file(named) == Workload("mine", fixed_seconds=5e-6)


def test_built_in_ones_by_name():
    assert find_workload("spmv") is WORKLOADS["spmv"]
    with pytest.raises(UsageError, match=r"did you mean jacobi\?"):
        find_workload("jacoby")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("flops_per_vertx = 2\n", 1, "did you mean flops_per_vertex"),
        ("overlap = true\nbytes_per_edge = -1\n", 2, "must be a number not below zero, not -1"),
        ("bytes_per_edge = nan\n", 1, "bytes_per_edge"),
        ("overlap = 1\n", 1, "must be true or false"),
        ("bytes_per_edge = 1e30\n", None, "between 0 and 1e"),
        ("x = [\n", 1, "not valid TOML"),
        ("", None, "empty"),
    ],
)
def test_mistakes(tmp_path, text, line, message):
    path = written(tmp_path, text)
    with pytest.raises(InputError, match=message) as caught:
        read_workload_file(path)
    assert str(caught.value.file) == path
    assert caught.value.line == line or line is None
