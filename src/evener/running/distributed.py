"""Folders of a distributed graph: a file for each device, and index.json, which describes them.

A folder is written completely or not at all. Each device's part can be read without the others.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.errors import InputError, UsageError
from evener.files.opening import read_bytes
from evener.files.temporary import private_folder
from evener.files.writing import atomic_write, refusal, refuse_unwritable, write_text
from evener.io.archives import Arrays, damage_refused, read_arrays, write_arrays
from evener.io.json_text import loads
from evener.running.local_graphs import LocalArcs, LocalGraph, Want

INDEX_FILE, FORMAT, FORMAT_VERSION = "index.json", "evener distributed graph", 1
_HEAD = ("rank", "k", "n_global", "n_interior", "n_owned", "symmetric")
_ARCS = ("offsets", "ends", "weights")
_WHOLE = ("numbers", "ghost_starts", "degrees")
_SENDS = ("send_ranks", "send_starts", "sends")
_OF_ARCS = [f"{of}_{name}" for of in ("out", "into") for name in _ARCS]
_NAMES = ("head", "digest", *_WHOLE, *_SENDS, *_OF_ARCS)
_HINT = "Make it again with `evener distribute`."


class PartHead(NamedTuple):
    """What index.json states about a part, plus `owned`, the part's own vertices in any dtype.

    nbytes: LocalGraph.nbytes of the part.
    """

    owned: npt.NDArray[Any]
    n_interior: int
    n_ghosts: int
    n_arcs: int
    nbytes: int


class GraphHead(NamedTuple):
    """What index.json states about the whole graph.

    want: which arcs the parts contain; "out" if the graph is undirected.
    """

    n: int
    directed: bool
    want: Want


def write_distributed(
    folder: str | Path,
    parts: Sequence[LocalGraph],
    *,
    names: Sequence[str] = (),
    inputs: Mapping[str, str] | None = None,
    force: bool = False,
) -> dict[str, Any]:
    """Write the parts of all devices to a new folder; return the content of index.json.

    names: of the devices. inputs: file name -> SHA-256 of the files that the graph was made from.
    force: replace a folder that an earlier call wrote. Raises UsageError if such a folder exists
    and force is False, or if edges are divided; InputError if the folder contains other files.
    """
    if any(local.divides_edges for local in parts):
        raise UsageError("folders store parts of divided vertices, not of divided edges")
    refuse_folder(folder, force=force)
    heads = [_head_of(local) for local in parts]
    index = index_of(_graph_of(parts[0]), heads, list(names), dict(inputs or {}))
    with new_folder(Path(folder)) as new:
        for local in parts:
            write_part(new, local, index)
        write_text(new / INDEX_FILE, json.dumps(index, indent=1) + "\n")
    return index


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Yield an empty folder next to `target`; it replaces `target` if the block raises no error."""
    with private_folder(target.parent) as private:
        new = private / "new"
        new.mkdir()
        yield new
        try:
            if target.exists():
                target.rename(private / "old")  # removed with the private folder
            new.rename(target)
        except OSError as error:
            if (private / "old").exists():
                (private / "old").rename(target)
            raise refusal(error, target) from error


def write_part(folder: Path, local: LocalGraph, index: Mapping[str, Any]) -> None:
    """Write the file of one device to a folder that `index` describes."""
    with atomic_write(folder / index["devices"][local.rank]["file"]) as file:
        write_arrays(file, _arrays_of(local, index["digest"]), level=0)


def refuse_folder(folder: str | Path, *, force: bool = False) -> None:
    """Raise an error, before long work, if `write_distributed` could not write this folder."""
    target = Path(folder)
    if not target.exists():
        refuse_unwritable(target)
        return
    if not target.is_dir():
        raise InputError("is not a folder", file=target, hint="Give the name of a new folder.")
    if any(target.iterdir()):
        if not _is_ours(target):
            hint = "evener distribute replaces only folders that it has written."
            raise InputError(
                "contains files that evener distribute has not written", file=target, hint=hint
            )
        if not force:
            raise UsageError(f"{target} already exists", hint="Use --force to replace it.")


def read_distributed(folder: str | Path, rank: int) -> LocalGraph:
    """Read the part of one device from a folder that `evener distribute` has written.

    Raises InputError if no device has this rank, and if the folder or file is damaged or the file
    belongs to another folder.
    """
    index = read_index(folder)
    devices = index["devices"]
    if not 0 <= rank < len(devices):
        raise InputError(f"has {len(devices)} devices, but no device {rank}", file=folder)
    file = Path(folder) / str(devices[rank]["file"])
    content = read_bytes(file)
    with damage_refused(file, "a part of a distributed graph", _HINT):
        arrays = read_arrays(content, _NAMES)
        if str(arrays["digest"]) != index["digest"]:
            raise InputError("belongs to another distribution than index.json", hint=_HINT)
        local = _local_of(arrays)
        _check(local, rank, len(devices))
        return local


def read_index(folder: str | Path) -> dict[str, Any]:
    """Read index.json of a distributed graph: format, n, arcs, k, want, inputs, devices."""
    file = Path(folder) / INDEX_FILE
    content = read_bytes(file)
    with damage_refused(file, "a part of a distributed graph", _HINT):
        index = loads(content, finite=True)
        if index["format"] != FORMAT:
            raise InputError("does not describe a distributed graph", hint=_HINT)
        if index["format_version"] > FORMAT_VERSION:
            raise InputError("has a newer version of this format", hint="Update evener.")
        if len(index["devices"]) != index["k"] or not isinstance(index["digest"], str):
            raise InputError("does not list its devices", hint=_HINT)
        if any(Path(device["file"]).name != device["file"] for device in index["devices"]):
            raise InputError("names files in other folders", hint=_HINT)
    return dict(index)


def _is_ours(folder: Path) -> bool:
    try:
        index = read_index(folder)
    except InputError:
        return False
    known = {INDEX_FILE, *(device["file"] for device in index["devices"])}
    return {path.name for path in folder.iterdir()} <= known


def _head_of(local: LocalGraph) -> PartHead:
    arcs = (local.out or local.into or _NO_ARCS).ends.size
    return PartHead(local.owned, local.n_interior, local.n_ghosts, arcs, local.nbytes)


def _graph_of(local: LocalGraph) -> GraphHead:
    symmetric = local.out is local.into
    want: Want = "both" if local.out is not None and local.into is not None else "out"
    if local.out is None:
        want = "into"
    return GraphHead(local.n_global, not symmetric, "out" if symmetric else want)


def index_of(
    graph: GraphHead, heads: Sequence[PartHead], names: list[str], inputs: dict[str, str]
) -> dict[str, Any]:
    """Return the content of index.json.

    Its digest covers the graph's figures, the SHA-256 of the input files, and the vertices of each
    block.
    """
    k = len(heads)
    digits = len(str(k - 1))
    index = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "n": graph.n,
        "arcs": sum(head.n_arcs for head in heads),
        "directed": graph.directed,
        "want": graph.want,
        "k": k,
        "inputs": inputs,
    }
    digest = hashlib.sha256(json.dumps(index, sort_keys=True).encode())
    for head in heads:
        digest.update(np.ascontiguousarray(head.owned, "<i8").tobytes())
    index["digest"] = digest.hexdigest()
    index["devices"] = [
        {
            "name": names[rank] if names else f"device{rank}",
            "file": f"device-{rank:0{digits}d}.npz",
            "owned": int(head.owned.size),
            "interior": head.n_interior,
            "ghosts": head.n_ghosts,
            "arcs": head.n_arcs,
            "bytes": head.nbytes,
        }
        for rank, head in enumerate(heads)
    ]
    return index


_NO_ARCS = LocalArcs(np.zeros(1, np.uint32), np.empty(0, np.uint32), None)


def _arrays_of(local: LocalGraph, digest: str) -> Arrays:
    """Return the arrays of a device's file."""
    symmetric = local.out is local.into
    head = [*(getattr(local, name) for name in _HEAD[:-1]), symmetric]
    sent = list(local.sends.values())
    arrays: Arrays = {
        "head": np.array(head, np.int64),
        "digest": np.array(digest),
        **{name: getattr(local, name) for name in _WHOLE},
        "send_ranks": np.array(list(local.sends), np.int64),
        "send_starts": np.cumsum([0, *(numbers.size for numbers in sent)]),
        "sends": np.concatenate([np.empty(0, np.uint32), *sent]),
    }
    for of, arcs in (("out", local.out), ("into", None if symmetric else local.into)):
        if arcs is not None:
            held = zip(_ARCS, arcs, strict=True)
            arrays |= {f"{of}_{name}": array for name, array in held if array is not None}
    return arrays


def _local_of(arrays: Arrays) -> LocalGraph:
    """Return the part that the arrays of a file describe, without checking them."""
    head: dict[str, Any] = dict(zip(_HEAD, arrays["head"].tolist(), strict=True))
    symmetric = head.pop("symmetric")
    arcs = {
        of: LocalArcs(arrays[f"{of}_offsets"], arrays[f"{of}_ends"], arrays.get(f"{of}_weights"))
        for of in ("out", "into")
        if f"{of}_offsets" in arrays
    }
    if symmetric:
        arcs["into"] = arcs["out"]
    starts = pairwise(arrays["send_starts"].tolist())
    sends = {
        q: arrays["sends"][a:b]
        for q, (a, b) in zip(arrays["send_ranks"].tolist(), starts, strict=True)
    }
    whole: dict[str, Any] = {name: arrays[name] for name in _WHOLE}
    return LocalGraph(**head, **whole, out=arcs.get("out"), into=arcs.get("into"), sends=sends)


def _check(local: LocalGraph, rank: int, k: int) -> None:
    """Raise InputError if numbers are out of range, or if the lengths of arrays do not match."""
    m, n_local = local.n_owned, local.n_local
    right = [
        (local.rank, local.k) == (rank, k),
        local.numbers.ndim == 1 and local.numbers.dtype == np.int64,
        _within(local.numbers, local.n_global),
        0 <= local.n_interior <= m <= n_local,
        _rises(local.ghost_starts, k + 1, n_local - m),
        local.degrees.shape == (n_local,) and local.degrees.dtype in (np.int32, np.int64),
        all(_fits(arcs, m, n_local) for arcs in (local.out, local.into) if arcs is not None),
        all(q != rank and 0 <= q < k for q in local.sends),
        all(own.dtype == np.uint32 and _within(own, m) for own in local.sends.values()),
    ]
    if not all(right):
        raise InputError("is damaged: its arrays do not fit together", hint=_HINT)


def _fits(arcs: LocalArcs, m: int, n_local: int) -> bool:
    offsets, ends, weights = arcs
    return (
        offsets.dtype in (np.uint32, np.uint64)
        and _rises(offsets, m + 1, ends.size)
        and ends.dtype == np.uint32
        and ends.ndim == 1
        and _within(ends, n_local)
        and (weights is None or weights.shape == ends.shape)
    )


def _within(numbers: npt.NDArray[Any], end: int) -> bool:
    return numbers.size == 0 or bool(numbers.min() >= 0 and numbers.max() < end)


def _rises(starts: npt.NDArray[Any], size: int, last: int) -> bool:
    """Whether `starts` has `size` integers that never decrease, from 0 to `last`."""
    return (
        starts.shape == (size,)
        and starts.dtype.kind in "iu"
        and starts[0] == 0
        and starts[-1] == last
        and bool((starts[1:] >= starts[:-1]).all())
    )
