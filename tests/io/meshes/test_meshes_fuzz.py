"""Mesh files with bytes changed: read or refused, never a traceback, whatever they claim.

A kernel given an unchecked index shows under NUMBA_DISABLE_JIT=1 and NUMBA_BOUNDSCHECK=1.
"""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import EvenerError
from evener.io import read
from tests.choosing import slow_but
from tests.examples import with_examples
from tests.io import mesh_samples as samples

TOKENS = [b"", b"-1", b"0", b"1", b"3", b"9", b"1.5", b"1e9", b"999999999", b"4294967296",
          b"-999999999", b"1" * 19, b"9" * 20, b"nan", b"inf", b"x", b"(", b")", b"{", b"}",
          b"\n", b" " * 99, b"\0", b"\xff"]  # fmt: skip
WORD = re.compile(rb"[-+.\w]+")

# What is done to a file: (which, where in it as a fraction, how much, with what).
CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["word", "word", "word", "cut", "end", "copy", "byte"]),
        st.floats(0, 1, exclude_max=True),
        st.integers(1, 60),
        st.sampled_from(TOKENS),
    ),
    min_size=1,
    max_size=4,
)


def changed(content, changes):
    data = bytearray(content)
    for what, fraction, size, token in changes:
        at = int(fraction * len(data))
        if what == "word":
            words = list(WORD.finditer(data))
            if words:
                word = words[int(fraction * len(words))]
                data[word.start() : word.end()] = token
        elif what == "cut":
            del data[at : at + size]
        elif what == "end":
            del data[at:]
        elif what == "copy":
            data[at:at] = data[at : at + size]
        else:
            data[at : at + 1] = token[:1]
    return bytes(data)


def assert_read_or_refused(path, by, **options):
    try:
        reading = read(path, by=by, **options)
    except EvenerError as error:
        assert error.exit_code == 3
        assert str(error).count("\n") <= 2
        assert len(str(error)) < 600
        return
    mesh = reading.mesh
    assert reading.graph.n == (mesh.n_cells if by == "cells" else mesh.n_points)
    assert np.isfinite(mesh.points).all()
    assert mesh.boundary_faces().offsets[0] == 0


@pytest.mark.parametrize("name", slow_but(samples.TEXTS, 0, 3, 6))
@with_examples(60)
@given(changes=CHANGES, by=st.sampled_from(["cells", "points"]))
def test_text(tmp_path_factory, name, changes, by):
    text, form, *_ = samples.TEXTS[name]
    path = tmp_path_factory.getbasetemp() / f"fuzz-{name}"
    path.write_bytes(changed(text.encode(), changes))
    assert_read_or_refused(path, by, format=form)


@with_examples(120)
@given(
    st.sampled_from(sorted(samples.FOAM)),
    CHANGES,
    st.sampled_from(["cells", "points"]),
    st.booleans(),
)
def test_openfoam(tmp_path_factory, name, changes, by, binary):
    folder = tmp_path_factory.getbasetemp() / "fuzz" / "polyMesh"
    folder.mkdir(parents=True, exist_ok=True)
    text = {file: text.encode() for file, text in samples.FOAM.items()}
    for file, content in (samples.foam_in_binary() if binary else text).items():
        (folder / file).write_bytes(changed(content, changes) if file == name else content)
    assert_read_or_refused(folder, by)


@with_examples(60)
@given(st.booleans(), CHANGES)
def test_fesom(tmp_path_factory, of_points, changes):
    folder = tmp_path_factory.getbasetemp() / "fuzz-fesom"
    folder.mkdir(exist_ok=True)
    halves = {"nod2d.out": samples.FESOM_POINTS, "elem2d.out": samples.FESOM_CELLS}
    for file, text in halves.items():
        mine = (file == "nod2d.out") == of_points
        content = text.encode()
        (folder / file).write_bytes(changed(content, changes) if mine else content)
    assert_read_or_refused(folder / "nod2d.out", "cells", format="fesom")


# Each starts a process: few, and the formats whose content varies most.
MESHIO = samples.by_meshio()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.vtk", "a.vtu", "gmsh41.msh", "b.meshb", "c.b8.ugrid"])
@with_examples(4)
@given(changes=CHANGES)
def test_meshio(tmp_path_factory, name, changes):
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(changed(MESHIO[name][0], changes))
    assert_read_or_refused(path, "cells")
