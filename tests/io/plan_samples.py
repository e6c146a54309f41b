"""A plan, and plan files gone wrong: repacked, so that their checksums are right."""

import io
import json
import zipfile

import numpy as np

import evener as ev
from evener.platforms.examples import topo1
from tests.assertions import grid


def small_plan():
    """A plan for six devices, two of them filled to their memory."""
    platform = topo1(6, 2, 4, units=200)
    options = ev.PlanOptions(tool="rcb")
    return ev.plan(
        grid(12, 12), platform, options, inputs={"g.graph": "ab" * 32}, notes=("A remark.",)
    )


def repacked(file, target, changes, *, compression=zipfile.ZIP_DEFLATED):
    """Copy a plan, its checksums right, with some members' bytes changed by functions."""
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(target, "w", compression) as new:
        for name in old.namelist():
            new.writestr(name, changes.get(name, lambda content: content)(old.read(name)))


def npy(array):
    """What puts an array in a member's place."""
    content = io.BytesIO()
    np.lib.format.write_array(content, np.asarray(array), allow_pickle=True)
    return lambda _: content.getvalue()


def with_manifest(file, target, change):
    """Copy a plan, its manifest changed by a function of what it holds."""

    def edit(content):
        data = json.loads(str(np.lib.format.read_array(io.BytesIO(content))))
        change(data)
        return npy(np.array(json.dumps(data)))(b"")

    repacked(file, target, {"manifest.npy": edit})
