"""Process files: read back as they were written, refused with the line of the mistake."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InputError
from evener.io.machines.processes import processes_to_toml, read_processes, write_processes
from evener.platforms.processes import Process
from tests.examples import with_examples

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)
options = st.dictionaries(
    texts, texts | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(-1e9, 1e9), max_size=3
)
processes = st.builds(
    Process,
    st.sampled_from(["a", "node 2", 'x"y']),
    st.integers(0, 10**6),
    bind=st.sampled_from(["", "socket0", "socket12"]),
    memory=st.none() | st.floats(1e-3, 1e15),
    options=options,
)


@with_examples(50)
@given(st.lists(processes, min_size=1, max_size=3, unique_by=lambda p: (p.host, p.rank)))
def test_read_back_as_written(tmp_path_factory, listed):
    path = tmp_path_factory.mktemp("processes") / "p.toml"
    write_processes(path, listed)
    assert list(read_processes(path)) == listed


def test_as_a_person_writes_it(tmp_path):
    path = tmp_path / "p.toml"
    path.write_text(
        '[[process]]\nhost = "a"\nbind = "cpu0-3"\n'
        '[[process]]\nhost = "b"\n'
        '[[process]]\nhost = "a"\nkind = "cuda"\nindex = 1\nbind = "cpu4"\nmemory_GiB = 0.5\n'
        "[process.options]\nblock = 128\ntransfers = false\n"
    )
    assert read_processes(path) == (
        Process("a", bind="cpu0-3"),
        Process("b"),
        Process("a", 1, "cuda", 1, "cpu4", 2.0**29, {"block": 128, "transfers": False}),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"no \[\[process\]\] table"),
        ("[[process]]\nrank = 1\n", "p.toml:1: a process has no host"),
        ('[[process]]\nhost = "a"\nbinds = "cpu0"\n', "p.toml:3: .*did you mean bind"),
        (
            '[[process]]\nhost = "a"\nbind = "cpux"\n',
            "p.toml:1: .*bind must be cores, such as cpu0-3",
        ),
        ('[[process]]\nhost = "a"\nrank = 0.5\n', "p.toml:3: rank of a process must be a whole"),
        ('[[process]]\nhost = "a"\noptions = [1]\n', "p.toml:3: options of a process must be"),
        ('[[process]]\nhost = "a"\n[process.options]\nx = inf\n', "options of a process must be"),
        ('[[process]]\nhost = "a"\nrank = 1\n[[process]]\nhost = "a"\n', "p.toml:4: two processes"),
        ('[[device]]\nname = "a"\n', "unknown key 'device'"),
    ],
)
def test_refused(tmp_path, text, message):
    path = tmp_path / "p.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_processes(path)


def test_none_to_write():
    with pytest.raises(InputError, match="no processes"):
        processes_to_toml([])
