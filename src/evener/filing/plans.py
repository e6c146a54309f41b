"""Plan files: one portable file that NumPy alone can open.

A plan is an `.npz` archive: `part` (n,) int32, the exchange's three arrays, and `manifest`, JSON
text with everything else. Members carry a fixed date, so that the same plan is the same bytes.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.errors import EvenerError, InputError
from evener.filing.platforms import platform_from_dict, platform_to_dict
from evener.partitions import Contract, Partition
from evener.plans import Certificate, Evaluation, Exchange, Plan, Prediction
from evener.writing import atomic_write

FORMAT, FORMAT_VERSION = "evener-plan", 1
FIXED_DATE = (1980, 1, 1, 0, 0, 0)
MAX_MEMBER_BYTES = 1 << 34
_BLOCK_FIELDS = (
    "weights", "vertices", "bytes", "boundary", "components", "neighbours", "volumes", "holds",
)  # fmt: skip


def write_plan(path: str | Path, plan: Plan) -> None:
    """Write the plan, whole or not at all; equal plans give equal bytes."""
    exchange = plan.evaluation.exchange
    arrays: dict[str, npt.NDArray[Any]] = {
        "part": plan.partition.part,
        "sender": exchange.sender.astype(np.int64),
        "receiver": exchange.receiver.astype(np.int64),
        "values": exchange.values.astype(np.int64),
        "manifest": np.array(json.dumps(manifest(plan), indent=1, allow_nan=False)),
    }
    with atomic_write(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy", FIXED_DATE)
            member.compress_type = zipfile.ZIP_DEFLATED
            content = io.BytesIO()
            np.lib.format.write_array(content, np.ascontiguousarray(array), allow_pickle=False)
            archive.writestr(member, content.getvalue(), compresslevel=6)


def read_plan(path: str | Path) -> Plan:
    """Read a plan file. Raises InputError where it is none, damaged or does not fit together."""
    try:
        return _plan_of(*_members(Path(path)))
    except EvenerError as error:
        if error.file is None:
            error.file = str(path)
        raise
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=path) from error
    except (KeyError, TypeError, ValueError, zipfile.BadZipFile, EOFError, NotImplementedError,
            RuntimeError, AttributeError, IndexError, OverflowError, MemoryError,
            zlib.error) as error:  # fmt: skip
        raise InputError(
            f"is not a plan file, or a damaged one ({type(error).__name__}: {error})",
            file=path,
            hint="Make it again with `evener plan`.",
        ) from error


def manifest(plan: Plan) -> dict[str, Any]:
    """Everything about a plan but its big arrays, as JSON takes it; no date, no folder."""
    judged, prediction = plan.evaluation, plan.prediction
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "verdict": plan.verdict(),
        "platform": platform_to_dict(plan.platform),
        "sizes": {
            "sizes": plan.sizes.tolist(),
            "saturated": plan.saturated.tolist(),
        },
        "certificate": certificate_to_dict(plan.certificate),
        "prediction": {
            "makespan": prediction.makespan,
            "bound": prediction.bound,
            "bottleneck": plan.platform.names[prediction.bottleneck],
            "compute": prediction.compute.tolist(),
            "communicate": prediction.communicate.tolist(),
            "hop_bytes": prediction.hop_bytes.tolist(),
        },
        "metrics": {
            "edge_cut": judged.edge_cut,
            "total_volume": judged.total_volume,
            "max_volume": judged.max_volume,
            "boundary": judged.boundary,
            "imbalance": _finite(judged.imbalance),
        },
        "options": dict(plan.options),
        "graph": dict(plan.graph),
        "inputs": dict(plan.inputs),
        "versions": dict(plan.versions),
        "notes": list(plan.notes),
    }


def certificate_to_dict(certificate: Certificate) -> dict[str, Any]:
    """Return the certificate's arrays as lists; a cap of None is none."""
    contract = certificate.contract
    blocks = {name: getattr(certificate, name).tolist() for name in _BLOCK_FIELDS}
    limits = {name: getattr(contract, name).tolist() for name in ("low", "high")}
    caps = [_finite(cap) for cap in contract.caps.tolist()]
    return {"all_hold": certificate.all_hold, "target": contract.targets.tolist(),
            **limits, "cap": caps, **blocks}  # fmt: skip


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _members(path: Path) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            # A header can promise any size; what it can deliver is a thousand times its bytes.
            if member.file_size > min(MAX_MEMBER_BYTES, 1100 * member.compress_size + 4096):
                raise InputError(f"member {member.filename} claims {member.file_size:,} bytes")
        arrays = {}
        for name in ("part", "sender", "receiver", "values", "manifest"):
            with archive.open(f"{name}.npy") as file:
                arrays[name] = np.load(io.BytesIO(file.read()), allow_pickle=False)
    data = json.loads(str(arrays.pop("manifest")))
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError("is not a plan file")
    if data["format_version"] > FORMAT_VERSION:
        raise InputError(
            f"has plan format {data['format_version']}, newer than this evener reads "
            f"({FORMAT_VERSION})",
            hint="Update evener.",
        )
    return arrays, data


def _plan_of(arrays: dict[str, npt.NDArray[Any]], data: dict[str, Any]) -> Plan:
    platform = platform_from_dict(data["platform"])
    k = platform.k
    partition = Partition(arrays["part"], k)
    if partition.n != data["graph"]["vertices"]:
        raise InputError("part and manifest disagree on the number of vertices")
    prediction = data["prediction"]
    evaluation = Evaluation(
        _certificate_of(data["certificate"], k),
        Prediction(
            _floats(prediction["compute"], k),
            _floats(prediction["communicate"], k),
            float(prediction["bound"]),
            np.asarray(prediction["hop_bytes"], np.float64),
        ),
        Exchange(
            _block_ids(arrays, "sender", k),
            _block_ids(arrays, "receiver", k),
            arrays["values"].astype(np.int64),
        ),
        edge_cut=float(data["metrics"]["edge_cut"]),
        imbalance=np.inf
        if data["metrics"]["imbalance"] is None
        else float(data["metrics"]["imbalance"]),
    )  # fmt: skip
    sizes = np.asarray(data["sizes"]["sizes"])
    saturated = np.asarray(data["sizes"]["saturated"], np.bool_)
    if sizes.shape != (k,) or saturated.shape != (k,):
        raise InputError("sizes do not match the platform")
    return Plan(
        partition,
        platform,
        evaluation,
        sizes=sizes,
        saturated=saturated,
        options=dict(data["options"]),
        graph=dict(data["graph"]),
        inputs=dict(data["inputs"]),
        versions=dict(data["versions"]),
        notes=tuple(str(note) for note in data["notes"]),
    )


def _certificate_of(data: dict[str, Any], k: int) -> Certificate:
    caps = [np.inf if cap is None else cap for cap in data["cap"]]
    contract = Contract(
        _floats(data["target"], k), _floats(data["low"], k), _floats(data["high"], k),
        np.asarray(caps, np.float64),
    )  # fmt: skip
    columns = {name: _floats(data[name], k) for name in _BLOCK_FIELDS}
    whole = ("vertices", "boundary", "components", "neighbours", "volumes")
    return Certificate(
        contract,
        weights=columns["weights"],
        bytes=columns["bytes"],
        holds=columns["holds"].astype(np.bool_),
        **{name: columns[name].astype(np.int64) for name in whole},
    )


def _floats(values: Any, k: int) -> npt.NDArray[np.float64]:
    array = np.asarray(values, np.float64)
    if array.shape != (k,):
        raise InputError(f"a list in the manifest has shape {array.shape}, not ({k},)")
    return array


def _block_ids(arrays: dict[str, npt.NDArray[Any]], name: str, k: int) -> npt.NDArray[np.int64]:
    return Partition(arrays[name], k).part.astype(np.int64)
