"""Parts that do not hold together are refused before a kernel reads them."""

from dataclasses import replace

import numpy as np
import pytest

from evener.errors import InputError
from evener.running.apps import wcc
from evener.running.engine import run_on
from evener.running.engine.checking import check_part
from tests.running.engine.parts import parts, random_graph, whole


def with_arcs(local, **changed):
    arcs = local.out._replace(**changed)
    return replace(local, out=arcs, into=arcs)


def of_two():
    return parts(random_graph(30, 80), np.arange(30, dtype=np.int32) % 2, 2)[0]


WRONG = {
    "numbers": lambda _: replace(of_two(), numbers=np.arange(2)),
    "degrees": lambda _: replace(of_two(), degrees=np.arange(2)),
    "ghost_starts": lambda part: replace(part, ghost_starts=np.array([0, 1])),
    "rank": lambda part: replace(part, rank=1),
    "types of out": lambda part: with_arcs(part, ends=part.out.ends.astype(np.int64)),
    "offsets of out": lambda part: with_arcs(part, offsets=part.out.offsets[::-1].copy()),
    "offsets of out ": lambda part: with_arcs(part, ends=part.out.ends[:-1]),
    "ends of out": lambda part: with_arcs(part, ends=part.out.ends + np.uint32(30)),
    "weights of out": lambda part: with_arcs(part, weights=np.ones(3)),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_part_that_does_not_hold_together_is_refused(what):
    part = WRONG[what](whole(random_graph(30, 80)))
    with pytest.raises(InputError, match=f"does not hold together: .*{what.strip()}"):
        run_on(wcc.PROGRAM, part)


@pytest.mark.parametrize("directed", [False, True])
def test_what_distribute_makes_holds_together(directed):
    for n in (0, 1, 40):
        graph = random_graph(n, 90, 3, directed)
        for part in parts(graph, np.arange(n, dtype=np.int32) % 3, 3):
            check_part(part)
