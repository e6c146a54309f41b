"""The manifest of a plan file: all data of a plan except its large arrays, as JSON.

`manifest` creates it; `plan_of` reads it and checks every number. Plan files of earlier versions
lack some entries; those get the default of that version.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import as_integers, as_numbers
from evener.errors import InputError
from evener.io.json_text import finite_or_none
from evener.io.machines.platform_dicts import platform_from_dict, platform_to_dict
from evener.plans.partition import Contract, Further, MappingScore, Partition
from evener.plans.partition import Mapping as BlockMapping
from evener.plans.plan import (
    FURTHER_SECONDS,
    ROLES,
    Certificate,
    Evaluation,
    Exchange,
    Plan,
    Prediction,
    Rival,
    Stage,
)
from evener.plans.workload import WEIGHTS, workload_from_dict

FORMAT, FORMAT_VERSION = "evener-plan", 1
EDGE_FORMAT = "evener-edge-plan"  # of plans of divided edges
STREAM_FORMAT = "evener-stream-plan"  # of plans of stream graphs
_BLOCK_FIELDS = (
    "weights", "vertices", "bytes", "boundary", "components", "neighbours", "volumes", "holds",
)  # fmt: skip


def manifest(plan: Plan) -> dict[str, Any]:
    """Return all data of a plan except its large arrays, for JSON; without dates and folders."""
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
            **{name: getattr(prediction, name).tolist() for name in FURTHER_SECONDS},
            "hop_bytes": prediction.hop_bytes.tolist(),
        },
        "metrics": {
            "edge_cut": judged.edge_cut,
            "total_volume": judged.total_volume,
            "max_volume": judged.max_volume,
            "boundary": judged.boundary,
            "imbalance": finite_or_none(judged.imbalance),
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
    """Return the certificate with arrays as lists; a cap of None means no cap."""
    blocks = {name: getattr(certificate, name).tolist() for name in _BLOCK_FIELDS}
    terms = contract_to_dict(certificate.contract)
    for i, one in enumerate(terms.get("further", [])):
        one["weights"] = certificate.further[:, i].tolist()
    return {"all_hold": certificate.all_hold, **terms, **blocks}


def contract_to_dict(contract: Contract) -> dict[str, Any]:
    """Return the contract with arrays as lists; a cap or makespan of None means no limit."""
    further = [
        {"by": one.by, "target": one.targets.tolist(), "low": one.low.tolist(),
         "high": one.high.tolist()}
        for one in contract.further
    ]  # fmt: skip
    return {
        "target": contract.targets.tolist(),
        "low": contract.low.tolist(),
        "high": contract.high.tolist(),
        "cap": [finite_or_none(cap) for cap in contract.caps.tolist()],
        "may_be_unused": contract.may_be_unused,
        "makespan": finite_or_none(contract.makespan),
        **({"further": further} if further else {}),
    }


def mapping_to_dict(mapping: BlockMapping) -> dict[str, Any]:
    """Return the device of each of the partitioner's blocks, and the scores before and after."""
    scores = {name: asdict(getattr(mapping, name)) for name in ("before", "after")}
    return {"device": mapping.device.tolist(), **scores}


_NUMBER = (int, float)
_GRAPH_FIELDS: dict[str, type | tuple[type, ...]] = {
    "vertices": int, "edges": int, "weight": _NUMBER, "unit_weights": bool,
    "bytes_per_vertex": _NUMBER, "bytes_per_edge": _NUMBER,
}  # fmt: skip


def plan_of(arrays: dict[str, npt.NDArray[Any]], data: dict[str, Any]) -> Plan:
    """Return the plan for a file's arrays, by name, and its manifest.

    Raises InputError if they are inconsistent, and other exceptions for values of a wrong type.
    """
    platform = platform_from_dict(data["platform"])
    k = platform.k
    partition = Partition(arrays["part"], k)
    if partition.n != data["graph"]["vertices"]:
        raise InputError("part and manifest disagree on the number of vertices")
    certificate = _certificate_of(data["certificate"], k)
    imbalance = data["metrics"]["imbalance"]
    evaluation = Evaluation(
        certificate,
        _prediction_of(
            data["prediction"],
            k,
            len(platform.levels),
            platform.relative_ideal(float(certificate.weights.sum())),
        ),
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
        inputs=texts(_mapping(data, "inputs"), "inputs"),
        versions=texts(_mapping(data, "versions"), "versions"),
        notes=tuple(str(note) for note in _list(data["notes"])),
        mapping=_mapping_of(data.get("mapping"), k),
        stages=tuple(_stage_of(one) for one in _list(data.get("stages", []))),
        rival=_rival_of(data.get("rival")),
    )


def _options_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the plan's options; for versions without workloads, add the workload they used."""
    options = _mapping(data, "options")
    if "bytes_per_value" in options:
        table = {"name": WEIGHTS.name, "bytes_per_value": options.pop("bytes_per_value")}
        options["workload"] = asdict(workload_from_dict(table))
    if not isinstance(options.get("reading", {}), dict):
        raise InputError("has reading options that are not a table")
    if "workload" in options:
        try:
            workload_from_dict(options["workload"])
        except (InputError, LookupError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"has an invalid workload: {error}") from error
    return options


def contract_of(data: Mapping[str, Any], k: int) -> Contract:
    """Convert the result of contract_to_dict back. Raises InputError for anything else."""
    caps = [np.inf if cap is None else cap for cap in _list(data["cap"])]
    limits = tuple(
        Further(
            _numbers(one["target"], k),
            _numbers(one["low"], k),
            _numbers(one["high"], k),
            str(one["by"]),
        )
        for one in _further(data)
    )
    return Contract(
        _numbers(data["target"], k), _numbers(data["low"], k), _numbers(data["high"], k),
        np.asarray(caps, np.float64), limits, data.get("may_be_unused") is True,
        _time_of(data.get("makespan"), np.inf),
    )  # fmt: skip


def _further(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [_mapping({"further": one}, "further") for one in _list(data.get("further", []))]


def _certificate_of(data: Mapping[str, Any], k: int) -> Certificate:
    columns = [_numbers(one["weights"], k) for one in _further(data)]
    whole = ("vertices", "boundary", "components", "neighbours", "volumes")
    return Certificate(
        contract_of(data, k),
        weights=_numbers(data["weights"], k),
        bytes=_numbers(data["bytes"], k),
        holds=_numbers(data["holds"], k).astype(np.bool_),
        further=np.stack(columns, axis=1) if columns else np.empty((0, 0)),
        **{name: _numbers(data[name], k, whole=True) for name in whole},
    )


def _prediction_of(data: Mapping[str, Any], k: int, levels: int, ideal: float | None) -> Prediction:
    bound = float(data["bound"])
    if not (np.isfinite(bound) and bound > 0):
        raise InputError(f"the bound must be finite and above zero, not {bound}")
    compute, communicate = _numbers(data["compute"], k), _numbers(data["communicate"], k)
    # Files of earlier versions lack these entries.
    more = {name: _numbers(data.get(name, [0.0] * k), k) for name in FURTHER_SECONDS}
    hop_bytes = _numbers(data["hop_bytes"], levels)
    return Prediction(compute, communicate, bound, hop_bytes, ideal=ideal, **more)


def _time_of(value: Any, default: float) -> float:
    return default if value is None else float(_numbers([value], 1)[0])


def _mapping_of(data: Mapping[str, Any] | None, k: int) -> BlockMapping | None:
    if data is None:  # blocks were not mapped, or the file is of a version without mapping
        return None
    before, after = (
        MappingScore(*_numbers([data[name][key] for key in ("seconds", "hop_bytes")], 2).tolist())
        for name in ("before", "after")
    )
    return BlockMapping(_numbers(data["device"], k, whole=True), before, after)


def _stage_of(data: Mapping[str, Any]) -> Stage:
    """Return the metrics after one stage of planning."""
    counts = ("max_volume", "total_volume", "neighbours")
    reals = ("edge_cut", "smallest", "largest")
    whole = _numbers([data[key] for key in counts], len(counts), whole=True).tolist()
    real = _numbers([data[key] for key in reals], len(reals)).tolist()
    role = data.get("role", "")
    if role not in ROLES:
        raise InputError(f"a stage of the manifest has no role {role!r}")
    seconds = data.get("seconds")
    if seconds is not None:
        seconds = float(_numbers([seconds], 1)[0])
    named = dict(zip((*counts, *reals), (*whole, *real), strict=True))
    return Stage(str(data["name"]), **named, seconds=seconds, role=role)


def _rival_of(data: Mapping[str, Any] | None) -> Rival | None:
    if data is None:  # no rival was asked for, or the file is of a version without rivals
        return None
    seconds = data["seconds"]
    stages = tuple(_stage_of(one) for one in _list(data["stages"]))
    if (seconds is None) != (not stages):
        raise InputError("the manifest's rival has stages without a time, or a time without stages")
    if seconds is not None:
        seconds = float(_numbers([seconds], 1)[0])
    return Rival(str(data["tool"]), stages, seconds, note=str(data["note"]))


def _exchange_of(arrays: Mapping[str, npt.NDArray[Any]], k: int) -> Exchange:
    sender, receiver = (
        Partition(arrays[name], k).part.astype(np.int64) for name in ("sender", "receiver")
    )
    values = as_integers(arrays["values"], "values")
    if values.size and values.min() < 0:
        raise InputError("a block sends a negative number of values to another")
    if not sender.size == receiver.size == values.size:
        raise InputError("sender, receiver and values differ in length")
    return Exchange(sender, receiver, values)


def _numbers(values: Any, k: int, *, whole: bool | None = False) -> npt.NDArray[Any]:
    """Return a list as (k,) finite numbers: int64 if `whole`, the list's own type if it is None."""
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
        raise InputError(f"the manifest holds {type(values).__name__} instead of a list")
    return values


def _described(graph: dict[str, Any]) -> dict[str, Any]:
    for key, kind in _GRAPH_FIELDS.items():
        if not isinstance(graph[key], kind) or not np.isfinite(float(graph[key])):
            raise InputError(f"the manifest's {key} is {graph[key]!r}")
    first = graph.get("first_label", 0)
    if first is not None and type(first) is not int:
        raise InputError(f"the manifest's first_label is {first!r}")
    return graph


def texts(table: dict[str, Any], name: str) -> dict[str, str]:
    """Return a table of texts. Raises InputError if it contains anything else."""
    if not all(isinstance(value, str) for value in table.values()):
        raise InputError(f"{name} in the manifest contains something other than text")
    return table


def _mapping(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    if not isinstance(data[key], dict):
        raise InputError(f"{key} in the manifest is not a table")
    return dict(data[key])
