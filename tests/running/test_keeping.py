"""What a run that is kept does: it names itself, and checks what it continues."""

import numpy as np
import pytest

from evener.errors import InputError, UsageError
from evener.running.apps import bfs
from evener.running.apps.spmv import SPMV
from evener.running.checkpoints import Checkpoint, Checkpoints, identify, keeping, start_of
from evener.running.engine.states import RunState
from tests.running.edge_cases import star


def test_a_run_names_itself_and_is_compared(tmp_path):
    asked, state = Checkpoints(tmp_path, 1), RunState(2, np.zeros(4))
    identify(bfs.PROGRAM, star(3), asked, None, {})
    assert asked.identity["n"] == 4
    identify(bfs.PROGRAM, star(3), None, Checkpoint(tmp_path, state, asked.identity), {})
    with pytest.raises(InputError, match="the graph's arcs"):
        identify(bfs.PROGRAM, star(3).with_(), None, Checkpoint(tmp_path, state, {
            **asked.identity, "graph": "another"}), {})  # fmt: skip
    with pytest.raises(UsageError, match="spmv has no checkpoints"):
        identify(SPMV, star(3), asked, None, {})
    identify(SPMV, star(3), None, None, {})  # which is not kept


def test_keeping_writes_and_stops_nothing():
    seen = []
    keep = keeping(lambda step, take: seen.append((step, take())))
    assert keep(3, lambda: "state", None) > 0
    assert seen == [(3, "state")]
    assert start_of(None, None) is None
