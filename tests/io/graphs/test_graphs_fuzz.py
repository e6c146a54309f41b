"""Whatever happened to a file: a graph or an EvenerError, soon, and within 1 GB of memory."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from evener.errors import EvenerError
from evener.io import read_graph
from tests.choosing import slow_but
from tests.examples import with_examples
from tests.io.graph_samples import COORDINATES, DIRECTED, GRAPHS, WEIGHTS
from tests.io.mutations import mutated

PATH = b"3 2\n2\n1 3\n2\n"
FORMATS = ["metis", "scotch", "matrixmarket", "harwell-boeing", "npz", "ecsr", "edges", "triplets",
           "graphml"]  # fmt: skip

fuzz = with_examples(
    60,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@contextlib.contextmanager
def one_gigabyte_more():
    """Let this process have 1 GB of memory beyond what it has; MemoryError past that."""
    resource = pytest.importorskip("resource")
    statm = Path("/proc/self/statm")
    if not statm.exists():
        pytest.skip("the size of a process is read from /proc")
    old = resource.getrlimit(resource.RLIMIT_AS)
    size = int(statm.read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + 2**30, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, old)


def refused_or_sound(path, **options):
    """Read; whatever is accepted is a graph, whatever is refused is refused for cause."""
    try:
        with one_gigabyte_more():
            graph = read_graph(path, **options)
    except EvenerError as error:
        assert "needs more memory" not in error.message, error
        assert str(error).count("\n") < 3
        assert all(line.isprintable() for line in str(error).split("\n"))
        return
    assert graph.n >= 1
    if graph.adjncy.size:
        assert 0 <= graph.adjncy.min() <= graph.adjncy.max() < graph.n


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz")


@pytest.mark.parametrize("name", GRAPHS)
def test_the_samples_are_good(put, name):
    name_and_format = {"packed.graph.gz": {"format": "edges"}}
    assert read_graph(put(GRAPHS[name], name), **name_and_format.get(name, {})).m > 0


@pytest.mark.parametrize("name", slow_but(GRAPHS, 0, 5, 10, 15, 20))
@fuzz
@given(st.data())
def test_mutated_graphs(folder, name, data):
    path = folder / name
    path.write_bytes(data.draw(mutated(GRAPHS[name])))
    format_ = data.draw(st.sampled_from([None, None, *FORMATS]))
    refused_or_sound(path, format=format_)


@pytest.mark.parametrize("name", DIRECTED)
def test_the_directed_samples_are_good(put, name):
    assert read_graph(put(DIRECTED[name], name), directed=True).m > 0


@pytest.mark.parametrize("name", slow_but(DIRECTED, 0, 1, 3))
@fuzz
@given(st.data())
def test_mutated_directed_graphs(folder, name, data):
    path = folder / name
    path.write_bytes(data.draw(mutated(DIRECTED[name])))
    format_ = data.draw(st.sampled_from([None, None, *FORMATS]))
    refused_or_sound(path, format=format_, directed=True)


@pytest.mark.parametrize("name", slow_but(COORDINATES, 0, 3))
@fuzz
@given(st.data())
def test_mutated_coordinates(folder, name, data):
    path, graph = folder / name, folder / "path.graph"
    path.write_bytes(data.draw(mutated(COORDINATES[name])))
    graph.write_bytes(PATH)
    refused_or_sound(graph, coords=path)


@pytest.mark.parametrize("name", WEIGHTS)
@fuzz
@given(st.data())
def test_mutated_weights(folder, name, data):
    path, graph = folder / name, folder / "path.graph"
    path.write_bytes(data.draw(mutated(WEIGHTS[name])))
    graph.write_bytes(PATH)
    column = data.draw(st.sampled_from(["", ":0", ":work", ":-1"]))
    refused_or_sound(graph, weights=f"{path}{column}")


@fuzz
@given(st.data())
def test_garbage(folder, data):
    """Random bytes, random text, under every suffix and as every format."""
    suffix = data.draw(st.sampled_from(["", ".graph", ".grf", ".mtx", ".rua", ".npz", ".csv"]))
    path = folder / f"garbage{suffix}"
    text = st.text("0123456789 \n\t.-+eE%#,;|{}\"'x", max_size=200).map(str.encode)
    path.write_bytes(data.draw(st.one_of(st.binary(max_size=200), text)))
    refused_or_sound(path, format=data.draw(st.sampled_from([None, *FORMATS])))


HUGE = 10**18


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.graph", f"{HUGE} 1\n2\n1\n"),
        ("a.graph", f"2 {HUGE}\n2\n1\n"),
        ("a.graph", f"2 1 010 {HUGE}\n1 2\n1 1\n"),
        ("a.grf", f"0\n{HUGE} 2\n0 000\n1 1\n1 0\n"),
        ("a.grf", f"0\n2 {HUGE}\n0 000\n1 1\n1 0\n"),
        ("a.grf", f"0\n2 2\n0 000\n{HUGE} 1\n1 0\n"),
        ("a.mtx", f"%%MatrixMarket matrix coordinate pattern general\n{HUGE} {HUGE} 1\n1 2\n"),
        ("a.mtx", f"%%MatrixMarket matrix coordinate pattern general\n2 2 {HUGE}\n1 2\n"),
        ("a.mtx", f"%%MatrixMarket matrix array real general\n{10**9} {10**9}\n1\n2\n"),
        ("a.mtx", f"%%MatrixMarket matrix array real symmetric\n{10**9} {10**9}\n1\n2\n"),
        ("a.psa", f"t\n 3 1 1 1 0\nPSA 3 3 {HUGE} 0\n(4I2) (2I3)\n 1 2 3 3\n  2  3\n"),
        ("a.psa", f"t\n 3 1 1 1 0\nPSA {HUGE} {HUGE} 2 0\n(4I2) (2I3)\n 1 2 3 3\n  2  3\n"),
        ("a.psa", "t\n 3 1 1 1 0\nPSA 3 3 2 0\n(999I999) (2I3)\n 1 2 3 3\n  2  3\n"),
        ("a.triplet", f"0 {HUGE} 1\n1 1 1\n"),
    ],
)
def test_counts_that_lie_cost_nothing(put, name, content):
    """They are refused before memory is asked for."""
    with one_gigabyte_more(), pytest.raises(EvenerError) as caught:
        read_graph(put(content, name))
    assert "needs more memory" not in str(caught.value)
