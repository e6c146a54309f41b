"""Promise: the terms of a plan (workload, contract, reading options), also stored in exports.

`evener evaluate` uses them to judge an exported partition without repeating the plan's options.

Files are compared by SHA-256 with the files that a plan was made from.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from evener.errors import EvenerError, InputError
from evener.io.archives import read_arrays
from evener.io.json_text import loads
from evener.io.machines.platform_dicts import platform_to_dict
from evener.io.plans.manifest import contract_of, contract_to_dict
from evener.io.plans.partitions import is_of_pyfr
from evener.io.plans.plan import plan_in
from evener.io.sources import open_source, without_packing
from evener.plans.partition import Contract
from evener.plans.plan import Plan
from evener.plans.workload import Workload, workload_from_dict
from evener.platforms.platform import Platform

KEY = "promise"  # key in a JSON export, and name of the member in an .npz export


@dataclass(frozen=True, eq=False)
class Promise:
    """The terms of a plan: the work of an iteration, the contract, how the graph was read.

    digest: SHA-256 of the machine; platform: the machine itself, if the terms come from a plan;
    inputs: file name -> SHA-256; verdict: the plan's own verdict, in words.
    """

    workload: Workload
    contract: Contract
    digest: str
    platform: Platform | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    verdict: str = ""


def promise_of(plan: Plan) -> Promise:
    """Return the terms of a plan. Raises InputError for an invalid workload."""
    kept = plan.options.get("reading")
    return Promise(
        plan.workload, plan.certificate.contract, platform_digest(plan.platform), plan.platform,
        dict(kept) if isinstance(kept, dict) else {}, plan.inputs, plan.options, plan.verdict(),
    )  # fmt: skip


def platform_digest(platform: Platform) -> str:
    """Return the SHA-256 of all data of a machine."""
    text = json.dumps(platform_to_dict(platform), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def promise_to_dict(promise: Promise) -> dict[str, Any]:
    """Return the terms as a dict for JSON."""
    chosen = ("objective", "epsilon", "shares")
    return {
        "verdict": promise.verdict,
        "workload": asdict(promise.workload),
        "contract": contract_to_dict(promise.contract),
        "platform_sha256": promise.digest,
        "reading": dict(promise.reading),
        "inputs": dict(promise.inputs),
        "options": {key: promise.options[key] for key in chosen if key in promise.options},
    }


def promise_from_dict(data: Any, k: int) -> Promise:
    """Convert the result of promise_to_dict back. Raises InputError for anything else.

    k: number of devices.
    """
    try:
        return Promise(
            workload_from_dict(data["workload"]),
            contract_of(data["contract"], k),
            str(data["platform_sha256"]),
            reading=_table(data, "reading"),
            inputs={str(name): str(sha) for name, sha in _table(data, "inputs").items()},
            options=_table(data, "options"),
            verdict=str(data["verdict"]),
        )
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(
            f"contains an invalid contract or invalid options of a plan ({error!r:.60})"
        ) from error


def promise_in(path: str | Path, k: int | None) -> Promise | None:
    """Return the terms in a partition file: a plan, or an export to JSON or .npz; else None.

    k: number of devices; None if only the terms of plans are wanted. Raises InputError for invalid
    terms.
    """
    if is_of_pyfr(path):
        return None
    plan = plan_in(path)
    if plan is not None:
        return promise_of(plan)
    if k is None:
        return None
    source = open_source(path)
    if source.folder:
        return None
    if source.data.startswith(b"PK"):
        text = _member(source.data)
    elif source.head.lstrip().startswith(b"{"):
        text = source.data
    else:
        return None
    try:
        data = loads(text) if text else {}
    except ValueError:  # reading the blocks will report the error
        return None
    terms = data.get(KEY) if text is source.data and isinstance(data, dict) else data
    try:
        return promise_from_dict(terms, k) if terms else None
    except EvenerError as error:
        error.file = error.file or str(path)
        raise


def _member(data: bytes) -> bytes:
    """Return the terms' JSON text in an .npz archive; empty if there is none."""
    try:
        found = read_arrays(data, {KEY})
    except InputError:  # reading the blocks will report the error
        return b""
    array = found.get(KEY)
    return (
        b"" if array is None or array.dtype.kind != "U" else str(array).encode("utf-8", "replace")
    )


def _table(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    if not isinstance(data[key], dict):
        raise InputError(f"{key} in the terms of a plan is not a table")
    return dict(data[key])


_POLYMESH = {"points", "faces", "owner", "neighbour"}


def same_inputs(recorded: Mapping[str, str], found: Mapping[str, str]) -> bool:
    """Return whether `found` are the files that a plan records; True if it records none.

    Both map names to SHA-256; the first entry of `found` is the file named by the user. At least
    one file must be the same, under any name, and no file recorded in both may differ: otherwise a
    change in only the coordinates, or in one file of a mesh, would not be detected. A mesh folder's
    own digest is ignored if the digests of its mesh files are known: other files in the folder may
    have been edited.
    """
    if not recorded:
        return True
    names = list(found)
    if {without_packing(name).name for name in names[1:]} >= _POLYMESH:
        names = names[1:]
    if any(recorded.get(name, found[name]) != found[name] for name in names):
        return False
    return bool(set(found.values()) & set(recorded.values()))
