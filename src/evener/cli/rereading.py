"""Reads the input of a plan again, with the read options that the plan records."""

from __future__ import annotations

import argparse
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evener.cli.graph_options import ReadOptions, read_workload, recorded_options

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.io import Reading
    from evener.plans.plan import Plan


def add_rereading_options(parser: argparse.ArgumentParser) -> None:
    """Add --coords and --weights; the plan records all other read options."""
    parser.add_argument(
        "--coords", metavar="FILE", help="the file of coordinates, if it is in another folder now"
    )
    parser.add_argument(
        "--weights", metavar="FILE", help="the file of weights, if it is in another folder now"
    )


def read_again(path: str, plan: Plan, given: ReadOptions, out: Output, file: str) -> Reading:
    """Read `path` with the read options that `plan`, read from `file`, records.

    Options in `given` come first. Raises InputError where the plan holds unknown read options.
    """
    return read_as(path, recorded_options(recorded_reading(plan), file), given, out)


def read_as(path: str, recorded: ReadOptions, given: ReadOptions, out: Output) -> Reading:
    """Read `path` with the recorded options, and those given in their place.

    Records name files without folders: they are looked for beside `path`, then here.
    """
    beside = {
        key: _beside(path, name)
        for key in ("coords", "weights")
        if (name := getattr(recorded, key)) is not None
    }
    chosen = {key: value for key, value in asdict(given).items() if value is not None}
    return read_workload(path, replace(recorded, **{**beside, **chosen}), out)


def is_its_input(plan: Plan, inputs: dict[str, str]) -> bool:
    """Whether the plan was made from files of these digests, or records no digests.

    inputs: file name -> SHA-256. Other files must not be drawn or counted as the plan's graph.
    """
    return not plan.inputs or bool(set(inputs.values()) & set(plan.inputs.values()))


def recorded_reading(plan: Plan) -> dict[str, Any]:
    """Return the record of read options in a plan, unchecked; empty where there is none."""
    record = plan.options.get("reading")
    return dict(record) if isinstance(record, dict) else {}


def _beside(path: str, name: str) -> str:
    """Return the file of this name in the folder of `path`; the name itself if it is not there."""
    from evener.io.sources import find_file
    from evener.io.weights import split_weights

    if name.startswith("cell:"):
        return name
    beside = str(Path(path).parent / name)
    return beside if find_file(Path(split_weights(beside)[0])) is not None else name
