"""Presets for graphs of different sizes."""

from evener.partitioning.multilevel.presets import MOST_SMALL, PRESETS, preset_for


def test_larger_graphs_have_the_presets_as_they_are():
    assert all(preset_for(name, MOST_SMALL + 1) is preset for name, preset in PRESETS.items())
