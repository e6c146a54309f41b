"""Guesses speeds and links that a description does not state; measurements should replace them.

Speeds are rows per second of a sparse product with 7 entries per row (`spmv` of `evener measure`),
so that they are comparable with measured speeds.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from evener.platforms.computer import Computer, ComputerCore, ComputerGpu
from evener.platforms.device import Link

# A core of 2.6 GHz with 8 vector lanes did 4.0e7 rows/s in `evener machine here --measure`.
ROWS_PER_CLOCK_AND_LANE = 4.0e7 / (2.6e9 * 8)
CLOCK = 2.5e9  # Hz, if it is not known
# 64-bit lanes of the vectors of all server CPUs of the last ten years: AVX2, NEON, VSX. Slurm
# does not know the architecture of powered-down nodes.
LANES = {"x86_64": 4, "": 4, "aarch64": 2, "ppc64le": 2}
ONE_LANE = 1
# Bytes of a row of 7 entries: 8 per value and 4 per column, plus x, y and the row's offset.
ROW_BYTES = 7 * 12 + 8 + 8 + 4
GPU_BANDWIDTH = 500e9  # B/s, for a GPU that is not in the table: as of a workstation

# [s] per iteration on a GPU, at any load: one launch with synchronisation.
GPU_LAUNCH = 1e-5
# Link of two devices by their deepest common level: typical orders of magnitude of MPI
# messages over InfiniBand, between sockets, NUMA nodes or caches, and within a cache.
LINKS = {
    "cluster": Link(2e-6, 1e-10),
    "machine": Link(1e-6, 2e-10),
    "socket": Link(6e-7, 1.25e-10),
    "numa": Link(5e-7, 1e-10),
    "cache": Link(3e-7, 1e-10),
}


class GpuModel(NamedTuple):
    """Words of a GPU's name, its memory bandwidth [B/s] and its smallest memory [GiB]."""

    words: str
    bandwidth: float
    least_gib: float


# From the makers' data sheets; the slower variant if a model has several. Words that contain
# others come first.
GPU_MODELS = (
    GpuModel("gb200", 8000e9, 186), GpuModel("b200", 7700e9, 180), GpuModel("gh200", 4000e9, 96),
    GpuModel("h200", 4800e9, 141), GpuModel("h100 pcie", 2000e9, 80), GpuModel("h100", 3350e9, 80),
    GpuModel("h20", 4000e9, 96), GpuModel("a100", 1555e9, 40), GpuModel("a800", 1555e9, 40),
    GpuModel("h800", 2000e9, 80),
    GpuModel("a40", 696e9, 48), GpuModel("a30", 933e9, 24), GpuModel("a10", 600e9, 24),
    GpuModel("a16", 200e9, 16), GpuModel("a2", 200e9, 16),
    GpuModel("l40s", 864e9, 48), GpuModel("l40", 864e9, 48), GpuModel("l4", 300e9, 24),
    GpuModel("v100", 900e9, 16), GpuModel("p100", 549e9, 12), GpuModel("t4", 320e9, 16),
    GpuModel("k80", 240e9, 12), GpuModel("rtx a6000", 768e9, 48),
    GpuModel("rtx 4090", 1008e9, 24), GpuModel("rtx 3090", 936e9, 24),
)  # fmt: skip


def guessed_core_speeds(computer: Computer) -> dict[int, float]:
    """Return the speed of each core [rows/s] by its first processor: clock times lanes.

    If Linux rates the cores' capacities differently, their speeds have these ratios.
    """
    capacities = {core.capacity for core in computer.cores}
    if None in capacities or len(capacities) < 2:
        return {core.cpu: _by_clock(core, computer) for core in computer.cores}
    best = max(computer.cores, key=lambda core: core.capacity or 0.0)
    unit = _by_clock(best, computer) / (best.capacity or 1.0)
    return {core.cpu: unit * (core.capacity or 1.0) for core in computer.cores}


def _by_clock(core: ComputerCore, computer: Computer) -> float:
    lanes = core.lanes or LANES.get(computer.architecture, ONE_LANE)
    return (core.clock or clock_in(computer.model) or CLOCK) * lanes * ROWS_PER_CLOCK_AND_LANE


def clock_in(model: str) -> float | None:
    """Return the clock [Hz] in a CPU's name, as in "... CPU E5-2680 v4 @ 2.40GHz", or None."""
    found = re.search(r"@\s*(\d{1,2}\.?\d{0,3})\s*GHz", model)
    clock = float(found[1]) * 1e9 if found else 0.0
    return clock or None


def guessed_gpu_speed(gpu: ComputerGpu) -> float:
    """Return the speed of a GPU [rows/s]: its memory bandwidth divided by the bytes of a row."""
    model = gpu_model(gpu.model)
    return (GPU_BANDWIDTH if model is None else model.bandwidth) * gpu.share / ROW_BYTES


def gpu_model(name: str) -> GpuModel | None:
    """Return the data of a GPU model, given a name such as "NVIDIA A100-SXM4-40GB" or "a100"."""
    plain = " ".join(re.findall(r"[a-z0-9]+", name.lower()))
    return next((m for m in GPU_MODELS if re.search(rf"\b{m.words}\b", plain)), None)


def guessed_gpu_memory(gpu: ComputerGpu) -> float | None:
    """Return the memory of a GPU [B] by its name: the stated size, else its model's smallest."""
    stated = re.search(r"(?<!\d)(\d{1,3})\s?gb", gpu.model.lower())
    model = gpu_model(gpu.model)
    if stated and int(stated[1]):
        return int(stated[1]) * 2.0**30
    return None if model is None else model.least_gib * gpu.share * 2.0**30


def guessed_link(level: str) -> Link:
    """Return the link of a level of a described machine: cluster, machine, socket, numa, cache."""
    return LINKS[level]
