"""Speed files: read back to the bit, refused with the line of the mistake."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InputError
from evener.io.machines.speeds import read_speeds, speeds_to_toml, write_speeds
from evener.platforms.models.samples import KINDS, DeviceSpeeds, Sample
from tests.examples import with_examples

numbers = st.floats(1e-9, 1e12)
samples = st.builds(Sample, numbers, numbers, st.floats(0, 10), st.integers(1, 10**6),
                    st.sampled_from(["ok", "slower"]))  # fmt: skip
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
devices = st.builds(
    DeviceSpeeds,
    texts.filter(lambda name: name == name.strip()),
    st.lists(samples, max_size=4).map(tuple),
    st.one_of(st.just(math.inf), numbers),
    st.sampled_from(KINDS),
    st.dictionaries(texts, texts | st.booleans() | st.integers() | st.floats(-1, 1), max_size=2),
)  # fmt: skip


@with_examples(100)
@given(st.lists(devices, min_size=1, max_size=3, unique_by=lambda d: d.name))
def test_read_back_to_the_bit(tmp_path_factory, listed):
    path = tmp_path_factory.mktemp("speeds") / "speeds.toml"
    write_speeds(path, listed)
    assert list(read_speeds(path)) == listed


def test_as_a_person_writes_it(tmp_path):
    path = tmp_path / "speeds.toml"
    path.write_text('# mine\n[[device]]\nname = "gpu"\nsamples = [[1000, 0.5], [2e3, 1]]\n')
    assert read_speeds(path) == (DeviceSpeeds("gpu", (Sample(1000, 0.5), Sample(2000, 1.0))),)


HEAD = '[[device]]\nname = "cpu"\nsamples = [[1, 1]]\n[[device]]\nname = "gpu"\n'


@pytest.mark.parametrize(
    ("text", "line", "match"),
    [("", None, "empty"), ("x = 1\n", 1, "unknown key 'x'"), ("# none\n", None, "no .*device"),
     (HEAD, 4, "has no samples"), (HEAD + "samples = [[1, 2]\n", 6, "not valid TOML"),
     (HEAD + "samples = [[1]]\n", 6, "pairs"), (HEAD + "samples = [[0, 1]]\n", 6, "load"),
     (HEAD + "samples = [[1, nan]]\n", 6, "seconds"),
     (HEAD + "samples = [[1, -1]]\n", 6, "seconds"),
     (HEAD + "samples = [[1, 1]]\nhalf_widths = [1]\n", 7, "did you mean half_width"),
     (HEAD + "samples = [[1, 1]]\nhalf_width = [1, 2]\n", 7, "2 entries for 1 samples"),
     (HEAD + "samples = [[1, 1]]\nstatus = ['bad']\n", 7, "ok or slower"),
     (HEAD + "samples = [[1, 1]]\nmodel = 'cubic'\n", 7, "piecewise"),
     (HEAD + "samples = [[1, 1]]\ncapacity = 0\n", 7, "above zero"),
     (HEAD.replace("gpu", "cpu") + "samples = [[1, 1]]\n", 4, "two devices are named 'cpu'")],
)  # fmt: skip
def test_mistakes_are_shown_where_they_are(tmp_path, text, line, match):
    path = tmp_path / "speeds.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=match) as caught:
        read_speeds(path)
    assert caught.value.line == line
    assert caught.value.file == str(path)


def test_no_file_and_no_devices(tmp_path):
    with pytest.raises(InputError, match="the speeds file cannot be read"):
        read_speeds(tmp_path / "none.toml")
    with pytest.raises(InputError, match="no devices"):
        speeds_to_toml([])
