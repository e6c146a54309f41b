"""What nvidia-smi says: GPUs, instances of GPUs, none, and failures."""

import pytest

from evener.errors import InputError
from evener.io.machines.nvidia_smi import gpus_of_nvidia_smi
from tests.io.machines.descriptions import NVIDIA, content_of

MIB = 2.0**20


def read(name):
    return gpus_of_nvidia_smi(content_of(name), name)


def changed(name, old, new):
    content = content_of(name)
    assert old.encode() in content
    return content.replace(old.encode(), new.encode())


def test_one_gpu():
    (gpu,) = read("smi_one").gpus
    assert (gpu.index, gpu.model, gpu.memory) == (0, "NVIDIA GeForce RTX 4090", 24564 * MIB)
    assert (gpu.uuid, gpu.bus) == ("GPU-00000000-0000-0000-0000-000000000000", "0000:01:00.0")
    assert not gpu.is_instance
    assert read("smi_one").driver == "550.54.15"


def test_eight_gpus_in_the_order_of_the_bus_whatever_their_minor_numbers():
    gpus = read("smi_eight").gpus
    assert [gpu.index for gpu in gpus] == list(range(8))
    assert [gpu.bus[5:7] for gpu in gpus] == ["1b", "43", "52", "61", "9d", "c3", "d1", "df"]
    assert {gpu.memory for gpu in gpus} == {81559 * MIB}


def test_instances_stand_for_their_gpu():
    listed = read("smi_mig")
    assert [(g.index, g.is_instance, g.memory / MIB, g.share) for g in listed.gpus] == [
        (0, False, 40960, 1.0), (1, True, 20480, 0.5), (1, True, 10240, 0.25),
        (3, True, 5120, 0.125),
    ]  # fmt: skip
    assert [gpu.uuid for gpu in listed.gpus[1:]] == [
        "MIG-GPU-11111111-0000-0000-0000-000000000000/1/0",
        "MIG-GPU-11111111-0000-0000-0000-000000000000/5/0",
        "MIG-aaaaaaaa-1111-2222-3333-444444444444",
    ]
    assert listed.notes == ("GPU 2 is left out: MIG is enabled, but the GPU has no instance",)


def test_no_gpu_is_no_error():
    assert read("smi_none").gpus == ()


def test_what_a_gpu_does_not_say_is_left_out():
    listed = read("smi_lost")
    assert [(gpu.model, gpu.memory) for gpu in listed.gpus] == [("NVIDIA L4", None), ("", None)]
    assert [note[:5] for note in listed.notes] == ["GPU 0", "GPU 1"]


def test_a_driver_that_failed():
    with pytest.raises(InputError, match='it begins with "NVIDIA-SMI has failed because') as found:
        read("smi_failed")
    assert "If the driver fails, nvidia-smi prints an error instead of XML." in found.value.hint


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("24564 MiB", "0 MiB", "the memory of GPU 0 is '0 MiB'"),
        ("24564 MiB", "24564 parsecs", "not a size"),
        ("24564 MiB", f"{10**11} GiB", "not a size"),
        ("24564 MiB", "-3 MiB", "not a size"),
        ("nvidia_smi_log>", "topology>", "not <nvidia_smi_log>"),
    ],
)
def test_what_cannot_be(old, new, message):
    with pytest.raises(InputError, match=message):
        gpus_of_nvidia_smi(changed("smi_one", old, new), "x.xml")


def test_instances_that_cannot_be_chosen():
    with pytest.raises(InputError, match="without numbers or UUID, so it cannot be selected"):
        gpus_of_nvidia_smi(changed("smi_mig", "<gpu_instance_id>1<", "<gpu_instance_id>N/A<"), "x")


def test_more_gpus_than_can_be(monkeypatch):
    monkeypatch.setattr("evener.io.machines.nvidia_smi.MOST_GPUS", 7)
    with pytest.raises(InputError, match="lists 8 GPUs"):
        read("smi_eight")


def test_nothing_at_all():
    for content in (b"", b" \n"):
        with pytest.raises(InputError, match="is empty"):
            gpus_of_nvidia_smi(content, "x")


@pytest.mark.parametrize("name", NVIDIA)
def test_a_file_that_was_cut_is_refused(name):
    content = content_of(name).rstrip()
    for length in range(1, len(content), len(content) // 20):
        with pytest.raises(InputError):
            gpus_of_nvidia_smi(content[:length], name)
