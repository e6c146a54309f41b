"""Reading again what a plan was made from, in the way it was read then."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evener.cli.graph_options import read_workload
from evener.cli.plan_options import READING_KEYS
from evener.errors import InputError

if TYPE_CHECKING:
    from evener.cli.output import Output
    from evener.io import Reading
    from evener.plans.plan import Plan


def add_rereading_options(parser: argparse.ArgumentParser) -> None:
    """Add --coords and --weights; everything else the plan knows."""
    parser.add_argument(
        "--coords", metavar="FILE", help="its coordinates, where they lie in another folder"
    )
    parser.add_argument(
        "--weights", metavar="FILE", help="its weights, where they lie in another folder"
    )


def read_again(path: str, plan: Plan, args: argparse.Namespace, out: Output) -> Reading:
    """Read `path` by the options that `plan`, read from args.plan, keeps.

    A plan keeps no folders: further files are looked for beside `path`, then here. Raises
    InputError where the plan holds options of reading that are none.
    """
    return read_as(path, kept_reading(plan), args, out, args.plan)


def read_as(
    path: str, kept: Mapping[str, Any], args: argparse.Namespace, out: Output, file: str
) -> Reading:
    """Read `path` by the options of reading that `file` keeps, and those given, which come first.

    Raises InputError where the file keeps options that are none.
    """
    chosen: dict[str, Any] = dict.fromkeys(READING_KEYS)
    chosen["by"] = "cells"
    for key, value in kept.items():
        if key not in READING_KEYS:
            raise InputError(f"holds an unknown read option: {key!r:.60}", file=file)
        if not isinstance(value, READING_KEYS[key]):
            raise InputError(f"holds {value!r:.60} for the read option {key!r}", file=file)
        chosen[key] = value
    for key in READING_KEYS:
        if getattr(args, key, None) is not None:
            chosen[key] = getattr(args, key)
        elif key in ("coords", "weights") and chosen[key] is not None:
            chosen[key] = _beside(path, chosen[key])
    return read_workload(path, argparse.Namespace(**chosen), out)


def is_its_input(plan: Plan, inputs: dict[str, str]) -> bool:
    """Whether files of these digests are what the plan was made from, or it does not say from what.

    Of anything else a picture would be of something else, and a count of another graph.
    """
    return not plan.inputs or bool(set(inputs.values()) & set(plan.inputs.values()))


def kept_reading(plan: Plan) -> dict[str, Any]:
    """Return the options of reading that a plan keeps."""
    kept = plan.options.get("reading")
    return dict(kept) if isinstance(kept, dict) else {}


def _beside(path: str, name: str) -> str:
    from evener.io.sources import find_file
    from evener.io.weights import split_weights

    if name.startswith("cell:"):
        return name
    beside = str(Path(path).parent / name)
    return beside if find_file(Path(split_weights(beside)[0])) is not None else name
