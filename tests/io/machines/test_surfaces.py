"""Surface files: read back to the bit, from seconds or speeds; refused with the line."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.io.machines.speeds import read_speeds
from evener.io.machines.surfaces import holds_surfaces, read_surfaces, write_surfaces
from evener.platforms.models.fitting import SpeedSurface, fit_surface


def surfaces():
    rng = np.random.default_rng(66013)
    return {
        f"d{i}": SpeedSurface([1.0, 4.5, 64], [2.0, 30], rng.uniform(1, 9, (3, 2)), capacity)
        for i, capacity in enumerate([np.inf, 1e4 / 3])
    }


def test_read_back_to_the_bit(tmp_path):
    path, made = tmp_path / "s.toml", surfaces()
    write_surfaces(path, made)
    assert holds_surfaces(path)
    again = read_surfaces(path)
    assert list(again) == list(made)
    for name, surface in made.items():
        for key in ("heights", "widths", "speeds"):
            np.testing.assert_array_equal(getattr(again[name], key), getattr(surface, key))
        assert again[name].capacity == surface.capacity


HEAD = '[[surface]]\nname = "gpu"\nheights = [16, 64]\nwidths = [32]\n'


def test_from_seconds(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(HEAD + "seconds = [[0.5], [1]]\n")
    fitted = fit_surface([(16, 32, 0.5), (64, 32, 1.0)])
    np.testing.assert_array_equal(read_surfaces(path)["gpu"].speeds, fitted.speeds)


@pytest.mark.parametrize(
    ("text", "line", "match"),
    [("[surface]\n", 1, "list of tables"), ("x = 1\n", 1, "unknown key"),
     (HEAD, 1, "needs seconds"),
     (HEAD + "speeds = [[1], [2]]\nseconds = [[1], [1]]\n", 1, "needs seconds or speeds"),
     (HEAD + "seconds = [[1]]\n", 5, "2 rows"), (HEAD + "seconds = [[1], [2, 3]]\n", 5, "2 rows"),
     (HEAD + "seconds = [[1], [0]]\n", 5, "above zero"), (HEAD + "seconds = [1, 2]\n", 5, "rows"),
     (HEAD.replace("16", "99") + "seconds = [[1], [1]]\n", 1, "heights must be above zero"),
     ((HEAD + "seconds = [[1], [1]]\n") * 2, 6, "two surfaces")],
)  # fmt: skip
def test_mistakes_are_shown_where_they_are(tmp_path, text, line, match):
    path = tmp_path / "s.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=match) as caught:
        read_surfaces(path)
    assert caught.value.line == line
    with pytest.raises(InputError, match="no surfaces"):
        write_surfaces(path, {})


def test_surfaces_are_no_curves(tmp_path):
    write_surfaces(
        tmp_path / "s.toml", {"a": SpeedSurface(np.ones(1), np.ones(1), np.ones((1, 1)))}
    )
    with pytest.raises(InputError, match="a file of surfaces"):
        read_speeds(tmp_path / "s.toml")
