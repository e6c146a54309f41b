"""The partitioner for meshes: k-means, then refinement on ever finer graphs.

order along a curve -> blocks by k-means -> shrink inside blocks -> refine from coarse to fine
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.curves import hilbert_order
from evener.graphs import Graph
from evener.partitioning.fm import (
    EVEN_PRICE,
    Effort,
    Limits,
    boundary_flags,
    boundary_flags_below,
    refine_level,
)
from evener.partitioning.kmeans import along_curve, unit_box
from evener.partitioning.levels import Level, Part, Shrunk, finest, shrink
from evener.partitioning import fm_kernels as kernels
from evener.partitioning.coarsening_kernels import project
from evener.partitions import Contract


@dataclass(frozen=True)
class Preset:
    effort: Effort = field(default_factory=Effort)
    coarse_per_block: int = 80
    shrink_by: float = 8.0
    slack: float = 0.003
    cycles: int = 1
    dear: float = 0.5
    dear_power: float = 4.0


PRESETS = {
    "fast": Preset(Effort(rounds=3, finest_rounds=2, patience=1, least_gain=0.01, boldness=0.5)),
    "default": Preset(),
    "b5": Preset(Effort(boldness=.5)),
    "strong": Preset(Effort(rounds=8, finest_rounds=8, patience=8, least_gain=3e-4, boldness=1.1),
                     shrink_by=4.0, cycles=2),
}


def multilevel_blocks(graph: Graph, contract: Contract, preset: Preset, seed: int = 7,
                      threads: int = 1, tm=None) -> Part:
    import time
    tick=time.process_time
    tm = {} if tm is None else tm
    t=tick()
    points = graph.coords
    order = hilbert_order(points)
    t2=tick(); tm['order']=t2-t; t=t2
    weights = graph.weights()
    level = finest(graph, order, weights, np.empty(0, np.int32), threads)
    t2=tick(); tm['finest']=t2-t; t=t2
    along = unit_box(points[order])
    part, _ = along_curve(along, np.empty(0) if graph.is_unit else level.vwgt, contract.targets, 0.01, threads)
    t2=tick(); tm['kmeans']=t2-t; t=t2
    for cycle in range(preset.cycles):
        part = v_cycle(level, part, contract, preset, seed + cycle, threads, tm)
    out = np.empty_like(part)
    out[order] = part
    return out


def v_cycle(level, part, contract, preset, seed, threads, tm):
    import time
    tick=time.process_time
    t=tick()
    k = contract.k
    price = np.full(k, EVEN_PRICE, np.int64)
    total = level.vwgt.sum()
    heaviest = max(2 * total / level.n, total / (preset.coarse_per_block * k))
    above: list[tuple[Level, Shrunk]] = []
    p = part
    while level.n > 1.5 * preset.coarse_per_block * k:
        cap = min(heaviest, total / level.n * preset.shrink_by)
        shrunk = shrink(level, p, np.full(k, cap), threads)
        if shrunk.level.n > 0.95 * level.n:
            break
        above.append((level, shrunk))
        level, p = shrunk.level, shrunk.part
    t2=tick(); tm['shrink']=tm.get('shrink',0)+t2-t; t=t2
    weight = np.bincount(p, weights=level.vwgt, minlength=k)
    flag = boundary_flags(level, p, threads)
    depth = len(above)
    border = np.zeros(k, np.int64)
    kernels.block_borders(level.xadj, level.adjncy, level.adjwgt, p, border)
    price = np.rint(EVEN_PRICE * (1 + preset.dear * (border / border.max()) ** preset.dear_power)).astype(np.int64)
    while True:
        limits = limits_for(level, contract, preset)
        rounds = preset.effort.finest_rounds if depth == 0 else preset.effort.rounds
        refine_level(level, p, weight, limits, price, flag, rounds, preset.effort, seed * 50 + depth, threads)
        t2=tick(); tm[f'fm{min(depth,2)}']=tm.get(f'fm{min(depth,2)}',0)+t2-t; t=t2
        if depth == 0:
            return p
        depth -= 1
        coarse_flag = boundary_flags(level, p, threads)
        level, shrunk = above[depth]
        fine = np.empty(level.n, np.int32)
        project(p, shrunk.coarse_of, fine)
        flag = boundary_flags_below(level, fine, coarse_flag, shrunk.coarse_of, threads)
        p = fine
        t2=tick(); tm['proj']=tm.get('proj',0)+t2-t; t=t2


def limits_for(level, contract, preset):
    heaviest = level.vwgt.max()
    slack = np.maximum(preset.slack * contract.targets, heaviest)
    return Limits(contract.low, contract.high, contract.low - slack, contract.high + slack)
