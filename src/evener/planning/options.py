"""PlanOptions: everything that chooses a plan, beside graph and platform."""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from threading import TIMEOUT_MAX

import numpy as np

from evener.errors import UsageError, one_of, shown
from evener.graphs.graph import Graph
from evener.partitioning.initial.trees import device_tree
from evener.partitioning.requests import OBJECTIVES, PRESETS, Request
from evener.partitioning.tools import TOOLS
from evener.plans.partition import Contract
from evener.plans.workload import WEIGHTS, Workload
from evener.platforms.platform import Platform
from evener.sizing import Sizes, contract_for
from evener.sizing.contracts import SHARES, lowers_seconds
from evener.sizing.solving import METHODS


@dataclass(frozen=True)
class PlanOptions:
    """What a person may choose.

    tool: a partitioner's name, or "auto". preset: "fast", "default" or "strong". objective: "cut",
    "total_volume" or "max_volume", at sizes that follow the speeds; "seconds", where sizes are
    found as well; or "auto", see `settled`. seed, threads. epsilon: how far a block may be off its
    target, relative, both ways; for seconds nothing binds but memory. connected: blocks in one
    piece. mapping: whether blocks may go to other devices than the partitioner meant, where links
    differ. workload: what an iteration does. shares: what each weight of vertices that have several
    follows, "speed", "memory" or "equal", such as "speed,memory"; "" for speed all through. sizing:
    how speed curves become sizes, a method of `solve_sizes`, where devices have curves, or "auto",
    which alone goes with seconds. time_limit [s]: for tools that run
    in a process of their own. alike: predicted seconds that differ by less, relative, count as
    equal: of plans alike the one that sends and cuts least is taken.

    Raises UsageError for numbers out of range and for names of which there is none, at once.
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

    def settled(self, graph: Graph, platform: Platform) -> PlanOptions:
        """Return the options with the objective that "auto" means.

        That is "seconds" where the platform says what communication costs, else "cut"; also where
        a tool or a method of sizing was named, vertices have several weights, or devices are too
        many for a table of all pairs. Raises UsageError for "seconds" with several weights.
        """
        if self.objective == "seconds" and graph.n_constraints > 1:
            raise UsageError(
                f"seconds are predicted from one weight per vertex, not {graph.n_constraints}",
                hint="--constraint I takes one of the weights; or choose another --objective.",
            )
        if self.objective != "auto":
            return self
        seconds = self.tool == self.sizing == "auto" and lowers_seconds(graph, platform)
        return replace(self, objective="seconds" if seconds else "cut")

    def request(self, contract: Contract, platform: Platform | None = None) -> Request:
        """Return what is asked of the partitioner for blocks of this contract.

        platform: whose devices the blocks are for, for tools that go along its tree. At sizes that
        are given, what is done for seconds is to lower the cut.
        """
        return Request(
            contract.targets,
            epsilon=self.epsilon,
            seed=self.seed,
            threads=self.threads,
            objective="cut" if self.objective in ("auto", "seconds") else self.objective,
            preset=self.preset,
            time_limit=self.time_limit,
            low=contract.low,
            high=contract.high,
            tree=None if platform is None else device_tree(platform),
            further=contract.further,
        )

    def contract(self, graph: Graph, platform: Platform) -> tuple[Contract, Sizes]:
        """Return the contract of the platform's blocks of `graph`, and the sizes it comes from.

        graph: as the workload weighs it.
        """
        shares = [name.strip() for name in self.shares.split(",")] if self.shares else []
        return contract_for(graph, platform, self.epsilon, shares=shares, method=self.sizing)


def _check_choices(options: PlanOptions) -> None:
    """Refuse unknown names and values of a wrong type; whole numbers of any kind become int.

    Raises UsageError that says what there is.
    """
    one_of("partitioner", options.tool, (*TOOLS, "auto"))
    one_of("preset", options.preset, PRESETS)
    one_of("objective", options.objective, (*OBJECTIVES, "seconds", "auto"))
    one_of("method of sizing", options.sizing, (*METHODS, "auto"))
    shares: object = options.shares
    if not isinstance(shares, str):
        raise UsageError(f'shares must be a text such as "speed,memory", not {shown(shares)}')
    for name in filter(None, shares.split(",")):
        one_of("share of weights", name.strip(), SHARES)
    if not isinstance(options.workload, Workload):
        raise UsageError(
            f"workload must be a Workload, not {shown(options.workload)}",
            hint='ev.find_workload("spmv") is one; ev.WORKLOADS holds those built in.',
        )
    for name in ("connected", "mapping"):
        if not isinstance(getattr(options, name), bool | np.bool_):
            raise UsageError(f"{name} must be True or False, not {shown(getattr(options, name))}")
        object.__setattr__(options, name, bool(getattr(options, name)))
    _check_numbers(options)


def _check_numbers(options: PlanOptions) -> None:
    for name, least in (("seed", 0), ("threads", 1)):
        value = getattr(options, name)
        if isinstance(value, bool) or not hasattr(value, "__index__") or value < least:
            raise UsageError(f"{name} must be a whole number from {least} on, not {shown(value)}")
        object.__setattr__(options, name, operator.index(value))
    for name in ("epsilon", "alike", "time_limit"):
        value = getattr(options, name)
        if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
            raise UsageError(f"{name} must be a number, not {shown(value)}")
        # One too large for a float is out of range, which is said of it next.
        object.__setattr__(options, name, float(value) if value < 1e18 else value)
