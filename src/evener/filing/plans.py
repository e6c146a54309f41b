"""Plan files: one portable file that NumPy alone can open.

A plan is an `.npz` archive: `part` (n,) int32, the exchange's three arrays, and `manifest`, JSON
text with everything else. Members carry a fixed date, so that the same plan is the same bytes.
"""

from __future__ import annotations

import io
import json
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import as_integers, as_numbers
from evener.errors import EvenerError, InputError
from evener.filing.platforms import platform_from_dict, platform_to_dict
from evener.partitions import Contract, Further, MappingScore, Partition
from evener.partitions import Mapping as BlockMapping
from evener.plans import Certificate, Evaluation, Exchange, Plan, Prediction, Rival, Stage
from evener.workloads import WEIGHTS, workload_from_dict
from evener.writing import atomic_write

FORMAT, FORMAT_VERSION = "evener-plan", 1
FIXED_DATE = (1980, 1, 1, 0, 0, 0)
# A small file must not ask for much memory: no member grows beyond this many times its packed
# bytes, unless it is small enough to do no harm. What shrinks further is stored as it is.
_GROWTH, _ALWAYS_ALLOWED = 200, 64 * 2**20
_BIG_ARRAYS = ("part", "sender", "receiver", "values")
_BLOCK_FIELDS = (
    "weights", "vertices", "bytes", "boundary", "components", "neighbours", "volumes", "holds",
)  # fmt: skip
_SECONDS = ("contention", "fixed", "overlapped", "interior", "delay")
_NUMBER = (int, float)
_GRAPH_FIELDS: dict[str, type | tuple[type, ...]] = {
    "vertices": int, "edges": int, "weight": _NUMBER, "unit_weights": bool,
    "bytes_per_vertex": _NUMBER, "bytes_per_edge": _NUMBER,
}  # fmt: skip


def write_plan(path: str | Path, plan: Plan) -> None:
    """Write the plan, whole or not at all; equal plans give equal bytes."""
    exchange = plan.evaluation.exchange
    arrays: dict[str, npt.NDArray[Any]] = {
        "part": plan.partition.part,
        "sender": exchange.sender.astype(np.int64),
        "receiver": exchange.receiver.astype(np.int64),
        "values": exchange.values.astype(np.int64),
        "manifest": np.array(json.dumps(manifest(plan), indent=1, allow_nan=False, default=_plain)),
    }
    with atomic_write(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy", FIXED_DATE)
            member.create_system = 3  # the same bytes on every system
            content = io.BytesIO()
            # Not made contiguous: that would give the manifest, which has no dimension, one.
            np.lib.format.write_array(content, array, allow_pickle=False)
            member.compress_type = _packing(content.getbuffer())
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
    except (ArithmeticError, AttributeError, EOFError, LookupError, MemoryError,
            NotImplementedError, RuntimeError, SyntaxError, TypeError, ValueError,
            Warning, tokenize.TokenError, zipfile.BadZipFile, zlib.error) as error:  # fmt: skip
        raise InputError(
            f"is not a plan file, or a damaged one ({type(error).__name__}: {error})",
            file=path,
            hint="Make it again with `evener plan`.",
        ) from error


def plan_in(path: str | Path) -> Plan | None:
    """Return the plan that a file of a partition is; None for any other file."""
    try:
        return read_plan(path) if zipfile.is_zipfile(path) else None
    except (EvenerError, OSError):
        return None


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
            **{name: getattr(prediction, name).tolist() for name in _SECONDS},
            "hop_bytes": prediction.hop_bytes.tolist(),
        },
        "metrics": {
            "edge_cut": judged.edge_cut,
            "total_volume": judged.total_volume,
            "max_volume": judged.max_volume,
            "boundary": judged.boundary,
            "imbalance": _finite(judged.imbalance),
        },
        "mapping": None if plan.mapping is None else mapping_to_dict(plan.mapping),
        "stages": [asdict(stage) for stage in plan.stages],
        "rival": None if plan.rival is None else asdict(replace(plan.rival, cpu_seconds=None)),
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
    further = [
        {"by": one.by, "target": one.targets.tolist(), "low": one.low.tolist(),
         "high": one.high.tolist(), "weights": certificate.further[:, i].tolist()}
        for i, one in enumerate(contract.further)
    ]  # fmt: skip
    return {"all_hold": certificate.all_hold, "target": contract.targets.tolist(),
            **limits, "cap": caps, **blocks,
            **({"further": further} if further else {})}  # fmt: skip


def mapping_to_dict(mapping: BlockMapping) -> dict[str, Any]:
    """Return where the partitioner's blocks went, and the scores before and after."""
    scores = {name: asdict(getattr(mapping, name)) for name in ("before", "after")}
    return {"device": mapping.device.tolist(), **scores}


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _plain(value: Any) -> Any:
    """Turn NumPy's numbers into JSON's."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _packing(content: memoryview) -> int:
    large = len(content) > _ALWAYS_ALLOWED
    if large and len(zlib.compress(content, 6)) * _GROWTH < len(content):
        return zipfile.ZIP_STORED
    return zipfile.ZIP_DEFLATED


def _members(path: Path) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
    with zipfile.ZipFile(path) as archive:
        text = _member(archive, "manifest")
        if text.dtype.kind != "U" or text.ndim != 0:
            raise InputError("is not a plan file: its manifest is no text")
        data = json.loads(str(text))
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise InputError("is not a plan file")
        if data["format_version"] > FORMAT_VERSION:
            raise InputError(
                f"has plan format {data['format_version']}, newer than this evener reads "
                f"({FORMAT_VERSION})",
                hint="Update evener.",
            )
        return {name: _member(archive, name) for name in _BIG_ARRAYS}, data


def _member(archive: zipfile.ZipFile, name: str) -> npt.NDArray[Any]:
    """Read one array; its size is looked at before memory is reserved for it."""
    member = archive.getinfo(f"{name}.npy")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InputError(f"{name} is packed in a way that plans are not")
    if member.file_size > max(_ALWAYS_ALLOWED, _GROWTH * member.compress_size):
        raise InputError(f"{name} claims {member.file_size:,} bytes, more than it can hold")
    with archive.open(member) as file:
        # To the last byte, where the checksum is compared; asked for more, it would unpack more.
        content = io.BytesIO(file.read(member.file_size))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # NumPy only warns of headers that it has to mend
        return np.asarray(np.lib.format.read_array(content, allow_pickle=False))


def _plan_of(arrays: dict[str, npt.NDArray[Any]], data: dict[str, Any]) -> Plan:
    platform = platform_from_dict(data["platform"])
    k = platform.k
    partition = Partition(arrays["part"], k)
    if partition.n != data["graph"]["vertices"]:
        raise InputError("part and manifest disagree on the number of vertices")
    certificate = _certificate_of(data["certificate"], k)
    imbalance = data["metrics"]["imbalance"]
    evaluation = Evaluation(
        certificate,
        _prediction_of(data["prediction"], k, len(platform.levels)),
        _exchange_of(arrays, k),
        edge_cut=float(data["metrics"]["edge_cut"]),
        imbalance=np.inf if imbalance is None else float(imbalance),
    )
    return Plan(
        partition,
        platform,
        evaluation,
        sizes=_numbers(data["sizes"]["sizes"], k, whole=None),
        saturated=_numbers(data["sizes"]["saturated"], k).astype(np.bool_),
        options=_options_of(data),
        graph=_described(_mapping(data, "graph")),
        inputs=_texts(_mapping(data, "inputs"), "inputs"),
        versions=_texts(_mapping(data, "versions"), "versions"),
        notes=tuple(str(note) for note in _list(data["notes"])),
        mapping=_mapping_of(data.get("mapping"), k),
        stages=tuple(_stage_of(one) for one in _list(data.get("stages", []))),
        rival=_rival_of(data.get("rival")),
    )


def _options_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """The options; of a plan whose evener knew no workloads, with the one that it meant."""
    options = _mapping(data, "options")
    if "bytes_per_value" in options:
        table = {"name": WEIGHTS.name, "bytes_per_value": options.pop("bytes_per_value")}
        options["workload"] = asdict(workload_from_dict(table))
    return options


def _certificate_of(data: Mapping[str, Any], k: int) -> Certificate:
    caps = [np.inf if cap is None else cap for cap in data["cap"]]
    further = [_mapping({"further": one}, "further") for one in _list(data.get("further", []))]
    limits = tuple(
        Further(
            _numbers(one["target"], k),
            _numbers(one["low"], k),
            _numbers(one["high"], k),
            str(one["by"]),
        )
        for one in further
    )
    contract = Contract(
        _numbers(data["target"], k), _numbers(data["low"], k), _numbers(data["high"], k),
        np.asarray(caps, np.float64), limits,
    )  # fmt: skip
    columns = [_numbers(one["weights"], k) for one in further]
    whole = ("vertices", "boundary", "components", "neighbours", "volumes")
    return Certificate(
        contract,
        weights=_numbers(data["weights"], k),
        bytes=_numbers(data["bytes"], k),
        holds=_numbers(data["holds"], k).astype(np.bool_),
        further=np.stack(columns, axis=1) if columns else np.empty((0, 0)),
        **{name: _numbers(data[name], k, whole=True) for name in whole},
    )


def _prediction_of(data: Mapping[str, Any], k: int, levels: int) -> Prediction:
    bound = float(data["bound"])
    if not (np.isfinite(bound) and bound > 0):
        raise InputError(f"the bound must be finite and above zero, not {bound}")
    compute, communicate = _numbers(data["compute"], k), _numbers(data["communicate"], k)
    # Plans of an evener that knew of none of these have none.
    more = {name: _numbers(data.get(name, [0.0] * k), k) for name in _SECONDS}
    hop_bytes = _numbers(data["hop_bytes"], levels)
    return Prediction(compute, communicate, bound, hop_bytes, **more)


def _mapping_of(data: Mapping[str, Any] | None, k: int) -> BlockMapping | None:
    if data is None:  # not mapped, or by an evener that did not
        return None
    before, after = (
        MappingScore(*_numbers([data[name][key] for key in ("seconds", "hop_bytes")], 2).tolist())
        for name in ("before", "after")
    )
    return BlockMapping(_numbers(data["device"], k, whole=True), before, after)


def _stage_of(data: Mapping[str, Any]) -> Stage:
    """Return a stage; plans of an evener that told of none have no list of them."""
    counts = ("max_volume", "total_volume", "neighbours")
    reals = ("edge_cut", "smallest", "largest")
    whole = _numbers([data[key] for key in counts], len(counts), whole=True).tolist()
    real = _numbers([data[key] for key in reals], len(reals)).tolist()
    seconds = data.get("seconds")
    if seconds is not None:
        seconds = float(_numbers([seconds], 1)[0])
    named = dict(zip((*counts, *reals), (*whole, *real), strict=True))
    return Stage(str(data["name"]), **named, seconds=seconds)


def _rival_of(data: Mapping[str, Any] | None) -> Rival | None:
    if data is None:  # none was asked for, or by an evener that kept none
        return None
    seconds = data["seconds"]
    stages = tuple(_stage_of(one) for one in _list(data["stages"]))
    if (seconds is None) != (not stages):
        raise InputError("the manifest's rival has stages without a time, or a time without them")
    if seconds is not None:
        seconds = float(_numbers([seconds], 1)[0])
    return Rival(str(data["tool"]), stages, seconds, note=str(data["note"]))


def _exchange_of(arrays: Mapping[str, npt.NDArray[Any]], k: int) -> Exchange:
    sender, receiver = (
        Partition(arrays[name], k).part.astype(np.int64) for name in ("sender", "receiver")
    )
    values = as_integers(arrays["values"], "values")
    if not sender.size == receiver.size == values.size:
        raise InputError("sender, receiver and values differ in length")
    return Exchange(sender, receiver, values)


def _numbers(values: Any, k: int, *, whole: bool | None = False) -> npt.NDArray[Any]:
    """(k,) finite numbers from a list; whole: int64, None: whichever the list holds."""
    array = np.asarray(_list(values))
    if array.dtype.kind == "b":
        array = array.astype(np.float64)
    integral = array.dtype.kind == "i" if whole is None else whole
    name = "a list in the manifest"
    array = as_integers(array, name) if integral else as_numbers(array, name)
    if array.shape != (k,):
        raise InputError(f"{name} has shape {array.shape}, not ({k},)")
    return array


def _list(values: Any) -> list[Any]:
    if not isinstance(values, list):
        raise InputError(f"the manifest holds {type(values).__name__} where a list belongs")
    return values


def _described(graph: dict[str, Any]) -> dict[str, Any]:
    for key, kind in _GRAPH_FIELDS.items():
        if not isinstance(graph[key], kind) or not np.isfinite(float(graph[key])):
            raise InputError(f"the manifest's {key} is {graph[key]!r}")
    return graph


def _texts(table: dict[str, Any], name: str) -> dict[str, str]:
    if not all(isinstance(value, str) for value in table.values()):
        raise InputError(f"{name} in the manifest holds more than text")
    return table


def _mapping(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    if not isinstance(data[key], dict):
        raise InputError(f"{key} in the manifest is no table")
    return dict(data[key])
