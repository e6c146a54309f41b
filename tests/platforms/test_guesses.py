"""Guesses: their ratios, which are what a plan depends on, and what they are made of."""

import pytest

from evener.platforms.computer import Computer, ComputerCore, ComputerGpu
from evener.platforms.described import (
    CLOCK,
    GPU_BANDWIDTH,
    GPU_MODELS,
    LEVELS,
    LINKS,
    ROW_BYTES,
    clock_in,
    gpu_model,
    guessed_core_speeds,
    guessed_gpu_memory,
    guessed_gpu_speed,
)

GIB = 2.0**30


def speeds(*cores, **more):
    return list(guessed_core_speeds(Computer("a", cores=cores, **more)).values())


def test_a_core_as_it_was_measured():
    assert speeds(ComputerCore((0,), clock=2.6e9, lanes=8)) == pytest.approx([4.0e7])


def test_clock_times_lanes():
    slow, fast, wide = speeds(
        ComputerCore((0,), clock=1e9, lanes=2),
        ComputerCore((1,), clock=3e9, lanes=2),
        ComputerCore((2,), clock=1e9, lanes=8),
    )
    assert (fast / slow, wide / slow) == pytest.approx((3, 4))


def test_what_is_not_known_is_the_usual():
    core = ComputerCore((0,))
    assert speeds(core, architecture="x86_64") == pytest.approx([4 * CLOCK * 4e7 / 2.6e9 / 8])
    assert speeds(core, architecture="x86_64") == speeds(core)
    assert speeds(core)[0] == 4 * speeds(core, architecture="riscv64")[0]
    assert speeds(core, model="E5 @ 5.0GHz")[0] == pytest.approx(2 * speeds(core)[0])


def test_capacities_of_linux_where_they_differ():
    little, big = speeds(
        ComputerCore((0,), clock=2e9, lanes=2, capacity=256.0),
        ComputerCore((1,), clock=3e9, lanes=2, capacity=1024.0),
    )
    assert big / little == pytest.approx(4)
    alike = speeds(
        ComputerCore((0,), clock=2e9, capacity=1024.0),
        ComputerCore((1,), clock=3e9, capacity=1024.0),
    )
    assert alike[1] / alike[0] == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("model", "clock"),
    [("Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz", 2.4e9), ("AMD EPYC 7763", None),
     ("x @ 0.0GHz", None), ("@ 3GHz", 3e9), ("", None)],
)  # fmt: skip
def test_clocks_in_names(model, clock):
    assert clock_in(model) == clock


@pytest.mark.parametrize(
    ("name", "words"),
    [("NVIDIA A100-SXM4-40GB", "a100"), ("a100", "a100"), ("a100_1g.5gb", None),
     ("NVIDIA H100 PCIe", "h100 pcie"), ("NVIDIA H100 80GB HBM3", "h100"), ("h200", "h200"),
     ("NVIDIA GH200 480GB", "gh200"), ("NVIDIA L40S", "l40s"), ("Tesla V100-SXM2-16GB", "v100"),
     ("NVIDIA A10", "a10"), ("tesla", None), ("", None), ("NVIDIA RTX A6000", "rtx a6000")],
)  # fmt: skip
def test_gpus_by_name(name, words):
    found = gpu_model(name)
    expected = "a100" if name == "a100_1g.5gb" else words
    assert (found and found.words) == expected


def test_a_table_entry_is_found_by_its_own_words():
    for model in GPU_MODELS:
        assert gpu_model(f"NVIDIA {model.words.upper()}-80GB") == model


def test_speed_of_a_gpu_is_by_its_bandwidth():
    assert guessed_gpu_speed(ComputerGpu(0, "Tesla V100")) == 900e9 / ROW_BYTES
    assert guessed_gpu_speed(ComputerGpu(0, "?")) == GPU_BANDWIDTH / ROW_BYTES
    assert guessed_gpu_speed(ComputerGpu(0, "a100", share=0.25)) == 1555e9 / 4 / ROW_BYTES


@pytest.mark.parametrize(
    ("model", "share", "gib"),
    [("a100", 1.0, 40), ("NVIDIA A100-SXM4-80GB", 1.0, 80), ("a100_1g.5gb", 0.125, 5),
     ("v100", 1.0, 16), ("tesla", 1.0, None)],
)  # fmt: skip
def test_memory_of_a_gpu_by_its_name(model, share, gib):
    found = guessed_gpu_memory(ComputerGpu(0, model, share=share))
    assert found == (None if gib is None else gib * GIB)


def test_links_are_slower_further_up():
    alphas = [LINKS[level].alpha for level in LEVELS]
    assert alphas == sorted(alphas, reverse=True)
    assert all(LINKS[level].beta > 0 for level in LEVELS)
