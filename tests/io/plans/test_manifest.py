"""Manifests of plans: what does not fit is refused, what older ones lack is filled in."""

from dataclasses import asdict, replace

import pytest

from evener.errors import InputError
from evener.io.plans.plan import read_plan, write_plan
from evener.plans.plan import Stage
from evener.plans.workload import WEIGHTS
from tests.io.plan_samples import with_manifest


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("format",), "other"),
        (("format_version",), "one"),
        (("platform",), {}),
        (("platform", "devices"), []),
        (("certificate", "weights"), [1.0]),
        (("certificate", "weights"), ["a"] * 6),
        (("certificate", "vertices"), [0.5] * 6),
        (("certificate", "volumes"), [float("nan")] * 6),
        (("certificate", "cap"), [-1.0] * 6),
        (("certificate", "low"), [1e9] * 6),
        (("certificate",), []),
        (("prediction", "bound"), 0.0),
        (("prediction", "bound"), float("nan")),
        (("prediction", "compute"), [float("inf")] * 6),
        (("prediction", "hop_bytes"), [1.0] * 9),
        (("sizes", "sizes"), {}),
        (("sizes", "saturated"), [True]),
        (("metrics", "edge_cut"), "many"),
        (("options",), [["seed", 1]]),
        (("graph",), 5),
        (("graph", "vertices"), 5),
        (("graph", "edges"), {}),
        (("graph", "weight"), float("inf")),
        (("graph", "bytes_per_edge"), None),
        (("inputs",), "x"),
        (("inputs", "g.graph"), {}),
        (("versions", "numpy"), [1]),
        (("notes",), "text"),
        (("versions",), None),
    ],
)
def test_manifests_that_do_not_fit_are_refused(plan_file, tmp_path, keys, value):
    def change(data):
        for key in keys[:-1]:
            data = data[key]
        data[keys[-1]] = value

    with_manifest(plan_file, tmp_path / "x.plan", change)
    with pytest.raises(InputError):
        read_plan(tmp_path / "x.plan")


def test_a_newer_format_says_so(plan_file, tmp_path):
    with_manifest(plan_file, tmp_path / "x.plan", lambda data: data.update(format_version=2))
    with pytest.raises(InputError, match="newer than this Evener reads"):
        read_plan(tmp_path / "x.plan")


def test_stages_are_kept_and_may_be_missing(plan, tmp_path):
    stages = (Stage("start", 9.5, 4, 8, 2, 0.9, 1.1), Stage("refined", 7.0, 3, 6, 2, 1.0, 1.0))
    write_plan(tmp_path / "x.plan", replace(plan, stages=stages))
    assert read_plan(tmp_path / "x.plan").stages == stages
    with_manifest(tmp_path / "x.plan", tmp_path / "old.plan", lambda data: data.pop("stages"))
    assert read_plan(tmp_path / "old.plan").stages == ()


def test_a_plan_that_knew_no_workload_is_read(plan, tmp_path):
    kernel = asdict(replace(WEIGHTS, bytes_per_value=40.0, exchange="vertices"))
    stages = (Stage("start", 9.5, 4, 8, 2, 0.9, 1.1, seconds=2.0),)
    options = {**plan.options, "workload": kernel}
    write_plan(tmp_path / "x.plan", replace(plan, stages=stages, options=options))
    kept = read_plan(tmp_path / "x.plan")
    assert kept.workload.bytes_per_value == 40
    assert kept.stages == stages
    assert kept.prediction.interior.tolist() == plan.prediction.interior.tolist()

    def age(data):
        for name in ("contention", "fixed", "overlapped", "interior"):
            del data["prediction"][name]
        del data["options"]["workload"], data["stages"][0]["seconds"]
        data["options"]["bytes_per_value"] = 40.0

    with_manifest(tmp_path / "x.plan", tmp_path / "old.plan", age)
    old = read_plan(tmp_path / "old.plan")
    assert old.workload == kept.workload
    assert old.stages[0].seconds is None
    assert old.prediction.makespan == kept.prediction.makespan
    assert not old.prediction.interior.any()


@pytest.mark.parametrize("stages", [3, [3], [{}], [{"name": "x"}]])
def test_stages_that_are_none_are_refused(plan_file, tmp_path, stages):
    with_manifest(plan_file, tmp_path / "x.plan", lambda data: data.update(stages=stages))
    with pytest.raises(InputError, match=r"x\.plan"):
        read_plan(tmp_path / "x.plan")
