"""`evener models`: the table, the JSON object, pictures, what is refused."""

import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from evener.cli.commands.models import MAX_ROWS
from evener.io.machines.speeds import write_speeds
from evener.io.machines.surfaces import write_surfaces
from evener.platforms.models.examples import emulated_speeds
from evener.platforms.models.fitting import SpeedSurface, fit_device
from evener.platforms.models.samples import DeviceSpeeds, Sample
from tests.choosing import slow_but


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_speeds("s.toml", emulated_speeds("cluster2", points=15, noise=0.05))
    return tmp_path


def test_json_says_what_each_fit_does(evener, place):
    said = json.loads(evener("models", "s.toml", "--load", "2750", "--json").out)
    devices = emulated_speeds("cluster2", points=15, noise=0.05)
    assert [d["name"] for d in said["devices"]] == ["P1", "P2", "P3", "P4"]
    for shown, device in zip(said["devices"], devices, strict=True):
        models = {kind: fit_device(device, kind) for kind in ("piecewise", "shaped", "akima")}
        assert shown["samples"] == [[s.load, s.seconds] for s in device.samples]
        assert shown["dropped"] == [s.load for s in models["shaped"].dropped]
        assert shown["at_load"]["seconds"]["akima"] == models["akima"].time(2750.0)

        # The worst disagreement is what a dense grid finds, or more.
        grid = np.geomspace(1, 11_000, 5000)
        speeds = np.array([model.speed(grid) for model in models.values()])
        found = (speeds.max(axis=0) / speeds.min(axis=0)).max() - 1
        assert shown["disagreement"]["share"] == pytest.approx(found, rel=0.05)
        at = [models[shown["disagreement"][which]].speed(shown["disagreement"]["load"])
              for which in ("highest", "lowest")]  # fmt: skip
        assert at[0] / at[1] - 1 == pytest.approx(shown["disagreement"]["share"])


def test_the_table_names_devices_and_where_they_disagree(evener, place):
    said = evener("models", "s.toml", "--device", "P2", "--device", "P4")
    assert said.code == 0
    assert [line.split()[0] for line in said.out.splitlines()] == ["device", "P2", "P4"]


def test_a_long_table_counts_the_devices_that_it_leaves_out(evener, place):
    device = emulated_speeds("cluster2", points=3)[0]
    write_speeds("s.toml", [replace(device, name=f"d{i}") for i in range(100)])
    lines = evener("models", "s.toml").out.splitlines()
    assert lines[-1] == f"... and {100 - len(lines[1:-1])} more devices"
    assert len(lines) == MAX_ROWS + 2


@pytest.mark.parametrize("name", slow_but(["m.png", "m.svg"], 1))
def test_pictures_are_written_and_the_same_each_time(evener, place, name):
    shown = []
    for _ in range(2):
        said = json.loads(
            evener("models", "s.toml", "--device", "P2", "--plot", name, "--json").out
        )
        assert said["written"] == [name]
        shown.append((place / name).read_bytes())
    assert shown[0] == shown[1]
    if name.endswith("png"):
        picture = Image.open(place / name).convert("RGB")
        assert min(picture.size) > 300
        assert len(picture.getcolors(1 << 24)) > 50
    else:
        assert b"<svg" in shown[0]


def test_a_device_without_samples_is_a_gap(evener, place):
    write_speeds("s.toml", [DeviceSpeeds("lost"), DeviceSpeeds("ok", (Sample(5, 1.0),))])
    said = evener("models", "s.toml", "--plot", "m.svg")
    assert said.code == 0
    assert "lost has no samples" in said.err
    write_speeds("s.toml", [DeviceSpeeds("lost")])
    said = evener("models", "s.toml")
    assert (said.code, "no device has a sample" in said.err) == (3, True)


@pytest.mark.parametrize(
    ("words", "code", "match"),
    [("s.toml --plot m.pdf", 2, ".png or .svg"), ("s.toml --plot no/m.png", 3, "does not exist"),
     ("s.toml --device P9", 2, "no device 'P9'"), ("s.toml --load 0", 2, "above zero"),
     ("none.toml", 3, "speeds file cannot be read"), ("s.toml --plot s.toml", 2, ".png or .svg")],
)  # fmt: skip
def test_refuses(evener, place, words, code, match):
    said = evener("models", *words.split())
    assert (said.code, match in said.err) == (code, True), said.err


@pytest.mark.slow
def test_surfaces(evener, place):
    heights, widths = np.array([1.0, 4.0, 16.0]), np.array([2.0, 8.0])
    by_area = 10.0 * np.sqrt(np.outer(heights, widths))
    shaped = by_area * np.array([1.0, 0.5])
    write_surfaces(
        "two.toml",
        {
            "a$": SpeedSurface(heights, widths, by_area),
            "b": SpeedSurface(heights, widths, shaped, 60),
        },
    )
    said = evener("models", "two.toml", "--plot", "two.png", "--load", "16")
    assert (said.code, said.err) == (0, "")
    with Image.open("two.png") as image:
        assert len(np.unique(np.asarray(image.convert("L")))) > 100
    first, second = json.loads(evener("models", "two.toml", "--load", "16", "--json").out)[
        "surfaces"
    ]
    assert first["shape_matters"] < second["shape_matters"]
    assert (first["capacity"], second["capacity"]) == (None, 60)
    assert second["at_load"]["seconds"] == pytest.approx(16 / second["at_load"]["speed"])
    assert evener("models", "two.toml", "--device", "c").code == 2
    assert evener("models", "two.toml", "--device", "b", "--plot", "b.svg").code == 0


def test_a_surface_of_one_point_is_drawn(evener, place):
    write_surfaces("one.toml", {"a": SpeedSurface(np.ones(1), np.ones(1), np.ones((1, 1)))})
    assert evener("models", "one.toml", "--plot", "one.png").code == 0


def test_samples_that_were_stopped_are_said(evener, place):
    samples = (Sample(1, 1.0), Sample(2, 5.0, status="slower"))
    write_speeds("stopped.toml", (DeviceSpeeds("d", samples),))
    assert "d: 1 of 2 samples was stopped" in evener("models", "stopped.toml").err
