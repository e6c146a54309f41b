"""PlanOptions: all options of a plan besides graph and platform; also as keywords.

ev.plan(graph, 3, epsilon=0.02, preset="strong")
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from threading import TIMEOUT_MAX
from typing import Any, TypedDict

import numpy as np

from evener.errors import UsageError, did_you_mean, one_of, shown
from evener.graphs.graph import Graph
from evener.io.machines.workloads import find_workload
from evener.partitioning.initial.trees import device_tree
from evener.partitioning.requests import OBJECTIVES, PRESETS, Request
from evener.partitioning.tools import SLICED_TOOLS, TOOLS
from evener.plans.partition import Contract
from evener.plans.workload import WEIGHTS, Workload
from evener.platforms.platform import Platform
from evener.sizing.contracts import SHARES, contract_for, seconds_differ
from evener.sizing.memory_capped import Sizes
from evener.sizing.solving import METHODS


@dataclass(frozen=True)
class PlanOptions:
    """The user's options of a plan. Raises UsageError for unknown names and bad numbers.

    tool: a partitioner's name, or "auto"; for graphs in slices also one of SLICED_TOOLS.
    preset: "fast", "default" or "strong".
    objective: "cut", "total_volume" or "max_volume", at sizes that follow the speeds; "seconds",
    for which sizes are searched as well; or "auto", see `settled`.
    seed, threads: whole numbers.
    epsilon: allowed relative deviation of a block's weight from its target, up and down; with
    objective "seconds", only memory and the user's limits apply.
    connected: whether each block should be in one piece.
    mapping: whether blocks may be assigned to other devices than the partitioner chose, if links
    differ.
    workload: what an iteration does.
    time_limit [s]: for tools that run in a child process.
    shares: for vertices with several weights, to what the targets of each weight are proportional:
    "speed", "memory" or "equal", as in "speed,memory"; "": speed for all.
    sizing: the method of `solve_sizes` by which speed curves become sizes, or "auto".
    alike: with objective "seconds", plans whose times differ by at most this fraction count as
    equally fast; of these, the one that sends and cuts least is chosen.
    """

    tool: str = "auto"
    preset: str = "default"
    objective: str = "auto"
    seed: int = 7
    epsilon: float = 0.03
    threads: int = 2
    connected: bool = False
    mapping: bool = True
    workload: Workload = WEIGHTS
    time_limit: float = 600.0
    shares: str = ""
    sizing: str = "auto"
    alike: float = 0.01

    def __post_init__(self) -> None:
        _check_choices(self)
        if not 0 <= self.epsilon < 1:
            raise UsageError(f"epsilon must lie in [0, 1), not {self.epsilon}")
        if not 0 <= self.alike < 1:
            raise UsageError(f"alike must lie in [0, 1), not {self.alike}")
        if not 0 < self.time_limit <= TIMEOUT_MAX:
            raise UsageError(
                f"the time limit must be above zero and at most {TIMEOUT_MAX:.2g}, "
                f"not {self.time_limit} s"
            )

    def sending(self, exchange: str) -> PlanOptions:
        """Return the options; if the workload leaves its exchange open, it is set to `exchange`.

        Raises UsageError if values are sent for faces and the objective is max_volume, which counts
        values sent for vertices.
        """
        workload = self.workload.settled(exchange)
        if workload.of_faces and self.objective == "max_volume":
            raise UsageError(
                "max_volume counts values that vertices send, not faces",
                hint="Choose --objective cut, which counts faces, or --exchange vertices.",
            )
        return replace(self, workload=workload)

    def settled(
        self, platform: Platform, *, weights: int = 1, uneven_slices: bool = False
    ) -> PlanOptions:
        """Return the options with the objective "auto" replaced by "seconds" or "cut".

        weights: number of weights per vertex. uneven_slices: whether the graph is read in slices
        and its degrees differ much. "seconds" if the platform states what communication costs, else
        "cut". Also "cut" if a tool or a method of sizing is named, vertices have several weights,
        slices are uneven, or there are too many devices for a table of all pairs. Graphs in slices
        are divided for least cut, too, if memory is too small. Raises UsageError for objective
        "seconds" with several weights and with uneven slices.
        """
        if self.objective == "seconds" and uneven_slices:
            raise UsageError(
                "predicted seconds cannot be minimised on graphs in slices whose degrees differ "
                "much",
                hint="Choose --objective cut, total_volume or max_volume.",
            )
        if self.objective == "seconds" and weights > 1:
            raise UsageError(
                f"seconds are predicted from one weight per vertex, not {weights}",
                hint="--constraint I selects one weight, counted from 0; or choose another "
                "--objective.",
            )
        if self.objective != "auto":
            return self
        able = weights == 1 and not uneven_slices and seconds_differ(platform)
        seconds = able and self.tool == self.sizing == "auto"
        return replace(self, objective="seconds" if seconds else "cut")

    def request(self, contract: Contract, platform: Platform | None = None) -> Request:
        """Return the request to a partitioner for blocks of this contract.

        platform: for tools that divide along its tree. As sizes are given, objective "seconds" is
        replaced by the least cut.
        """
        return Request(
            contract.targets,
            epsilon=self.epsilon,
            seed=self.seed,
            threads=self.threads,
            objective=self._objective_at_given_sizes,
            preset=self.preset,
            time_limit=self.time_limit,
            low=contract.low,
            high=contract.high,
            tree=None if platform is None else device_tree(platform),
            further=contract.further,
        )

    @property
    def _objective_at_given_sizes(self) -> str:
        """The objective for a partitioner; if faces are sent, total volume is twice the cut."""
        of_faces = self.workload.of_faces and self.objective == "total_volume"
        return "cut" if of_faces or self.objective in ("auto", "seconds") else self.objective

    def contract(self, graph: Graph, platform: Platform) -> tuple[Contract, Sizes]:
        """Return the contract of the platform's blocks of `graph`, and the sizes it is made from.

        graph: with the workload's weights. Raises the errors of `evener.sizing.contract_for`.
        """
        shares = [name.strip() for name in self.shares.split(",")] if self.shares else []
        return contract_for(graph, platform, self.epsilon, shares=shares, method=self.sizing)


def _check_choices(options: PlanOptions) -> None:
    """Raise UsageError for unknown names and wrong types; convert NumPy values to Python's."""
    one_of("partitioner", options.tool, (*TOOLS, *SLICED_TOOLS, "auto"))
    one_of("preset", options.preset, PRESETS)
    one_of("objective", options.objective, (*OBJECTIVES, "seconds", "auto"))
    one_of("method of sizing", options.sizing, (*METHODS, "auto"))
    shares: object = options.shares
    if not isinstance(shares, str):
        raise UsageError(f"shares must be text such as 'speed,memory', not {shown(shares)}")
    for name in filter(None, shares.split(",")):
        one_of("share of weights", name.strip(), SHARES)
    if not isinstance(options.workload, Workload):
        raise UsageError(
            f"workload must be a Workload, not {shown(options.workload)}",
            hint='ev.find_workload("spmv") returns one; ev.WORKLOADS contains all built-in '
            "workloads.",
        )
    for name in ("connected", "mapping"):
        if not isinstance(getattr(options, name), bool | np.bool_):
            raise UsageError(f"{name} must be True or False, not {shown(getattr(options, name))}")
        object.__setattr__(options, name, bool(getattr(options, name)))
    _check_numbers(options)


def _check_numbers(options: PlanOptions) -> None:
    """Raise UsageError for options that are not numbers; convert others to int or float."""
    for name, least in (("seed", 0), ("threads", 1)):
        value = getattr(options, name)
        if isinstance(value, bool) or not hasattr(value, "__index__") or value < least:
            raise UsageError(f"{name} must be a whole number, at least {least}, not {shown(value)}")
        object.__setattr__(options, name, operator.index(value))
    for name in ("epsilon", "alike", "time_limit"):
        value = getattr(options, name)
        if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
            raise UsageError(f"{name} must be a number, not {shown(value)}")
        # Integers too large for a float stay as they are: the range check refuses them.
        object.__setattr__(options, name, float(value) if value < 1e18 else value)


# Keywords that belong to `read`, and words of the command line with the option they stand for.
_OF_READING = ("by", "coords", "weights", "format", "constraint", "bytes_per_vertex",
               "bytes_per_edge")  # fmt: skip
_MEANT = {"method": "sizing", "map": "mapping", "partitioner": "tool", "kernel": "workload",
          "eps": "epsilon", "imbalance": "epsilon", "timeout": "time_limit"}  # fmt: skip


class PlanKeywords(TypedDict, total=False):
    """Any fields of PlanOptions; workload may also be a name, or the name of a kernel file."""

    tool: str
    preset: str
    objective: str
    seed: int
    epsilon: float
    threads: int
    connected: bool
    mapping: bool
    workload: Workload | str
    time_limit: float
    shares: str
    sizing: str
    alike: float


def options_with(options: PlanOptions | None, keywords: Mapping[str, Any]) -> PlanOptions:
    """Return the options, or the defaults, with the fields given as keywords replaced.

    Raises UsageError for an unknown keyword, and suggests a known one.
    """
    if options is not None and not isinstance(options, PlanOptions):
        raise UsageError(
            f"options must be PlanOptions, not {shown(options)}",
            hint="Or pass keywords: epsilon=0.02, preset='strong'.",
        )
    known = [field.name for field in fields(PlanOptions)]
    for name in keywords:
        if name not in known:
            raise _unknown(name, known)
    changes = dict(keywords)
    if isinstance(changes.get("workload"), str):
        changes["workload"] = find_workload(changes["workload"])
    options = options or PlanOptions()
    return replace(options, **changes) if changes else options


def _unknown(name: str, known: list[str]) -> UsageError:
    if name in _OF_READING:
        return UsageError(
            f"{name} is an option of read, not of plan",
            hint=f"Read the file first: ev.read(FILE, {name}=...), then plan the result.",
        )
    near = f"; did you mean {_MEANT[name]}?" if name in _MEANT else did_you_mean(name, known)
    return UsageError(
        f"there is no option {shown(name)}{near}", hint=f"There are: {', '.join(known)}."
    )
