"""export: files of other programs are written together, from the plan's own mesh."""

import pytest

import evener as ev
from evener.errors import InputError, UsageError
from evener.integrations import exports
from evener.integrations.exports import EXPORTERS, Exporter, export
from evener.integrations.requests import ExportFiles, ExportRequest
from tests.io import mesh_samples as samples


@pytest.fixture
def request_of(tmp_path, monkeypatch):
    """A request of a plan of four triangles, and a format `both` of two files."""
    monkeypatch.setitem(EXPORTERS, "both", Exporter(two_files, needs="mesh"))
    path = tmp_path / "square.su2"
    path.write_text(samples.SQUARE)

    def make(**changes):
        reading = ev.read(path)
        plan = ev.plan(path, [1, 3])
        fields = {"reading": reading, "source": path, "target": tmp_path / "out"}
        return ExportRequest(plan, **(fields | changes))

    return make


def two_files(request):
    part = [b"%d\n" % block for block in request.part]
    return ExportFiles(request.path, {"a/part": part, "index": [b"%d" % request.k]}, ("Look.",))


def test_files_are_written(request_of, tmp_path):
    written = export(request_of(), "both")
    assert written.folder == tmp_path / "out"
    assert written.notes == ("Look.",)
    assert [path.read_text() for path in written.paths][1] == "2"
    assert len(written.paths[0].read_text().splitlines()) == 4
    with pytest.raises(UsageError, match="already exists, and 1 more file"):
        export(request_of(), "both")
    export(request_of(), "both", force=True)


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"target": None}, "an output is needed"), ({"reading": None}, "both needs the mesh")],
)
def test_what_is_missing_is_named(request_of, tmp_path, changes, words):
    with pytest.raises(UsageError, match=words):
        export(request_of(**changes), "both")
    assert not (tmp_path / "out").exists()


def test_a_graph_is_no_mesh(request_of, tmp_path):
    graph = tmp_path / "x.graph"
    graph.write_text("4 3\n2\n1 3\n2 4\n3\n")
    with pytest.raises(UsageError, match="needs a mesh, but the file contains a graph"):
        export(request_of(reading=ev.read(graph), source=graph), "both")


def test_an_unknown_format(request_of):
    with pytest.raises(UsageError, match="did you mean both"):
        export(request_of(), "bth")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            samples.SQUARE.replace("5 0 1 3 0\n5 1 4 3 1", "5 1 4 3 0\n5 0 1 3 1"),
            r"is not the file that the plan was made from, or was changed since \(SHA-256\)",
        ),
        (samples.SQUARE.replace("NELEM= 4", "NELEM= 3").replace("9 3 4 7 6 3\n", ""), "3 vertices"),
    ],
)
def test_another_mesh_is_refused(request_of, tmp_path, text, words):
    request = request_of()
    other = tmp_path / "square.su2"
    other.write_text(text)
    with pytest.raises(InputError, match=words):
        export(ExportRequest(request.plan, ev.read(other), other, request.target), "both")
    assert not (tmp_path / "out").exists()


def test_a_plan_without_digests_is_recounted(request_of, tmp_path):
    request = request_of()
    plan = ev.plan(request.reading.mesh.dual_graph(), [1, 3])
    assert not plan.inputs
    exports.refuse_other_input(plan, request.reading, "square.su2")
    turned = tmp_path / "turned.su2"
    cells = samples.SQUARE.splitlines()[2:6]
    turned.write_text(samples.SQUARE.replace("\n".join(cells), "\n".join(cells[::-1])))
    with pytest.raises(
        InputError, match=r"turned\.su2: does not match the plan, or the plan was changed:"
    ):
        exports.refuse_other_input(plan, ev.read(turned), "turned.su2")
