"""`evener machine here` and `slurm`: options, files, JSON, and what is refused."""

import json

import pytest

from evener.cli import main
from evener.io.machines.platform_dicts import platform_from_dict
from evener.io.machines.platforms import read_platform
from evener.measuring.links import FittedLink
from evener.measuring.machine import known_link
from evener.platforms.platform import Link
from tests.io.machines.descriptions import file_of


@pytest.fixture
def evener(capsys):
    def run(*words):
        code = main(["machine", *(str(word) for word in words)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_the_same_on_screen_in_a_file_and_as_json(evener, tmp_path):
    words = ["here", "--from", file_of("gpu_node"), "--per", "socket"]
    code, shown, said = evener(*words)
    assert (code, said) == (0, "")
    (tmp_path / "screen.toml").write_text(shown)
    code, shown, said = evener(*words, "-o", tmp_path / "m.toml", "--json")
    data = json.loads(shown)
    platform = read_platform(tmp_path / "m.toml")
    assert platform.names == ["socket0", "socket1", "cuda0", "cuda1", "cuda2", "cuda3"]
    assert platform == read_platform(tmp_path / "screen.toml")
    assert data["guessed"]["cuda0"] == ["fixed_seconds", "speed"]
    assert "fixed_seconds = 0.00001  # guessed" in (tmp_path / "m.toml").read_text()
    assert any("hwloc 2.9.0" in text for text in data["remarks"])
    del data["guessed"], data["remarks"]
    assert platform_from_dict(data) == platform


def test_two_files_describe_one_computer_in_any_order(evener):
    files = ["--from", file_of("smi_mig"), "--from", file_of("gpu_node")]
    code, shown, _ = evener("here", *files, "--per", "node")
    assert code == 0
    assert shown == evener("here", *files[2:], *files[:2], "--per", "node")[1]
    assert "# GPU 2 is left out: MIG is enabled" in shown
    assert 'gpu = "MIG-aaaaaaaa-1111-2222-3333-444444444444"' in shown


def test_this_computer(evener, tmp_path):
    code, _, said = evener("here", "--per", "node", "-o", tmp_path / "m.toml")
    assert code == 0
    assert "speeds are guesses" in said
    assert read_platform(tmp_path / "m.toml").devices[0].cores


def test_what_is_not_known_well_is_said_in_the_file(evener, monkeypatch, tmp_path):
    """A latency known to 128 %: the note stays with the file, not on the screen alone."""
    found = FittedLink(Link(1.579e-5, 1e-10), alpha_half=2.02e-5, beta_half=1e-12, samples=())

    def measured(described, progress, say):
        known_link(found, "cores 0 and 1 (level socket)", say)
        return described

    monkeypatch.setattr("evener.measuring.machine.measured_platform", measured)
    code, _, said = evener("here", "--measure", "-o", tmp_path / "m.toml")
    assert code == 0
    doubt = "alpha between cores 0 and 1 (level socket) is known only to within 128%"
    assert f"note: {doubt}" in said
    assert f"# {doubt}" in (tmp_path / "m.toml").read_text()


def test_nodes_of_slurm(evener, tmp_path):
    code, _, said = evener("slurm", "--from", file_of("slurm_down"), "-o", tmp_path / "m.toml")
    assert code == 0
    assert "note: node a2 is left out" in said
    text = (tmp_path / "m.toml").read_text()
    assert "# node a2 is left out: its state is DOWN*+DRAIN" in text
    assert 'cores = ["0", "1"]  # guessed' in text
    code, shown, _ = evener("slurm", "--from", file_of("slurm_unlike"), "--partition", "long")
    assert code == 0
    assert 'name = "cn01: guessed' in shown


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["here", "--from", "none.xml"], 3, "none.xml"),
        (["here", "--from", file_of("slurm_down")], 3, "not XML of `lstopo"),
        (["here", "--from", file_of("smi_failed")], 3, "not XML of `lstopo"),
        (["here", "--from", file_of("smi_none")], 3, "neither cores nor GPUs"),
        (["here", "--from", file_of("smi_one"), "--from", file_of("smi_mig")], 2, "second file"),
        (
            ["here", "--from", file_of("gpu_node"), "--measure"],
            2,
            "--measure does not work with --from",
        ),
        (
            ["here", "--from", file_of("big_little"), "--per", "gpu"],
            3,
            "no GPU, but --per gpu was given",
        ),
        (["here", "--per", "rack"], 2, "--per"),
        (["slurm", "--from", file_of("gpu_node")], 3, "is not output of `scontrol show node`"),
        (["slurm", "n1", "--from", file_of("slurm_down")], 2, "give either NODES"),
        (["slurm", "--from", file_of("slurm_down"), "--partition", "x"], 3, "partition 'x'"),
    ],
)
def test_what_is_refused(evener, words, code, message):
    found, shown, said = evener(*words)
    assert (found, shown) == (code, "")
    assert message in said
    assert len(said.strip().split("\n")) <= 3


def test_xml_that_is_broken_is_said_with_its_line(evener, tmp_path):
    cut = tmp_path / "cut.xml"
    for content in (
        file_of("gpu_node").read_bytes()[:3000],
        b'<?xml version="1.0"?>\n<!-- a -- b -->',
    ):
        cut.write_bytes(content)
        code, _, said = evener("here", "--from", cut)
        assert code == 3
        assert "cut.xml:" in said
        assert "not well-formed XML" in said


def test_nothing_is_written_where_something_is_refused(evener, tmp_path):
    file = tmp_path / "m.toml"
    assert evener("here", "--from", file_of("smi_none"), "-o", file)[0] == 3
    assert not file.exists()


def test_a_file_that_exists_is_kept_unless_forced(evener, tmp_path):
    file = tmp_path / "m.toml"
    file.write_text("edited by hand")
    words = ["here", "--from", file_of("gpu_node"), "-o", file]
    code, _, said = evener(*words)
    assert (code, file.read_text()) == (2, "edited by hand")
    assert "already exists" in said
    assert evener(*words, "--force")[0] == 0
    assert read_platform(file).k == 8
