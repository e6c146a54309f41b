"""What a plan file says in JSON: everything about a plan but its big arrays."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from evener.filing.platform_dicts import platform_to_dict
from evener.partitions import Contract, Mapping
from evener.plans import FURTHER_SECONDS, Certificate, Plan

FORMAT, FORMAT_VERSION = "evener-plan", 1
_BLOCK_FIELDS = (
    "weights", "vertices", "bytes", "boundary", "components", "neighbours", "volumes", "holds",
)  # fmt: skip


def manifest_text(plan: Plan) -> str:
    """Return the manifest as JSON text; equal plans give equal texts."""
    return json.dumps(manifest(plan), indent=1, allow_nan=False, default=_plain)


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
            **{name: getattr(prediction, name).tolist() for name in FURTHER_SECONDS},
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
    blocks = {name: getattr(certificate, name).tolist() for name in _BLOCK_FIELDS}
    terms = contract_to_dict(certificate.contract)
    for i, one in enumerate(terms.get("further", [])):
        one["weights"] = certificate.further[:, i].tolist()
    return {"all_hold": certificate.all_hold, **terms, **blocks}


def contract_to_dict(contract: Contract) -> dict[str, Any]:
    """Return the contract's arrays as lists; a cap, or a makespan, of None is none."""
    further = [
        {"by": one.by, "target": one.targets.tolist(), "low": one.low.tolist(),
         "high": one.high.tolist()}
        for one in contract.further
    ]  # fmt: skip
    return {
        "target": contract.targets.tolist(),
        "low": contract.low.tolist(),
        "high": contract.high.tolist(),
        "cap": [_finite(cap) for cap in contract.caps.tolist()],
        "may_be_unused": contract.may_be_unused,
        "makespan": _finite(contract.makespan),
        **({"further": further} if further else {}),
    }


def mapping_to_dict(mapping: Mapping) -> dict[str, Any]:
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
