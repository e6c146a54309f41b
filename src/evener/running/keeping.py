"""Saving and continuing a run on each device: see checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext

from evener.errors import UsageError
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.running.checkpoints import Checkpoint, Checkpoints, CheckpointWriter, identity_of
from evener.running.comm import Comm
from evener.running.engine.program import VertexProgram
from evener.running.engine.recording import StepRecorder
from evener.running.engine.solver import Solver
from evener.running.engine.states import RunState
from evener.running.engine.supersteps import Keep, Stretch
from evener.running.local_graphs import LocalGraph


def identify(
    program: VertexProgram | Solver,
    graph: Graph | DirectedGraph,
    asked: Checkpoints | None,
    resume: Checkpoint | None,
    parameters: Mapping[str, float],
) -> None:
    """Check that the resumed checkpoint belongs to this run, and set the identity of later ones.

    asked: where the run is saved. Raises UsageError for solvers, InputError if the checkpoint
    belongs to another run.
    """
    if asked is None and resume is None:
        return
    if isinstance(program, Solver):
        raise UsageError(f"{program.name} has no checkpoints: only vertex programs have them")
    identity = identity_of(program, parameters, graph)
    if resume is not None:
        resume.check(identity)
    if asked is not None:
        asked.identity = identity


@contextmanager
def stretch_of(
    asked: Checkpoints | None, resume: Checkpoint | None, comm: Comm, local: LocalGraph
) -> Iterator[Stretch]:
    """Yield a Stretch: a device's start state, and the function that saves later states."""
    start = start_of(resume, local)
    with writing(asked, comm, local, start) as writer:
        yield Stretch(start, None if writer is None else keeping(writer))


def start_of(resume: Checkpoint | None, local: LocalGraph) -> RunState | None:
    """Return the start state of a device's own vertices, or None if the run does not resume."""
    return None if resume is None else resume.state.of(local.owned)


def writing(
    asked: Checkpoints | None, comm: Comm, local: LocalGraph, start: RunState | None
) -> AbstractContextManager[CheckpointWriter | None]:
    """Return a context manager that yields the CheckpointWriter, or None without checkpoints.

    All devices call this.
    """
    if asked is None:
        return nullcontext()
    return CheckpointWriter(comm, local, asked, 0 if start is None else start.step)


def keeping(writer: CheckpointWriter) -> Keep:
    """Return a Keep that writes checkpoints after supersteps and never stops them."""

    def keep(step: int, take: Callable[[], RunState], _: StepRecorder) -> bool:
        writer(step, take)
        return False

    return keep
