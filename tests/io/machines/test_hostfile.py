"""Hostfiles of several launchers, and lines that are none."""

import pytest

from evener.errors import InputError
from evener.io.machines.hostfile import read_hostfile


@pytest.fixture
def read(tmp_path):
    def of(content):
        file = tmp_path / "hosts"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_hostfile(file)

    return of


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("node1\nnode2\n", {"node1": None, "node2": None}),
        ("# all\nnode1:4 # two sockets\n\n  node2:1\r\n", {"node1": 4, "node2": 1}),
        ("n1 slots=4 max_slots=8\nn2 max_slots=3\n", {"n1": 4, "n2": None}),
        ("n1 slots = 2\nn1 slots=1\n", {"n1": 3}),
        ("n1\nn2\nn1\n", {"n1": 2, "n2": None}),
        ("10.0.0.7 slots=1", {"10.0.0.7": 1}),
    ],
)
def test_hosts_and_slots(read, text, hosts):
    assert read(text) == hosts


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("n1\nn2 4\n", 2, "not a host: 'n2 4'"),
        ("n1:x\n", 1, "not a host"),
        ("n 1 slots=3\n", 1, "not a host"),
        ("-oProxy=x\n", 1, "not a host"),
        ("# none\n", None, "contains no host"),
        (b"\xff\xfe", None, "not a text in UTF-8"),
    ],
)
def test_lines_that_are_none(read, text, line, said):
    with pytest.raises(InputError, match=said) as caught:
        read(text)
    assert caught.value.line == line
