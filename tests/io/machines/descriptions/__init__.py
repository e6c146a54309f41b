"""Descriptions of unlike computers, written by hand from the formats' documentation; see README."""

from pathlib import Path

FOLDER = Path(__file__).parent
HWLOC = ("laptop_hybrid", "two_sockets_nps4", "two_sockets_v1", "one_socket_v1", "gpu_node",
         "big_little", "container", "hbm_many")  # fmt: skip
NVIDIA = ("smi_one", "smi_eight", "smi_mig", "smi_none", "smi_lost")
SLURM = ("slurm_equal", "slurm_unlike", "slurm_down", "slurm_hidden")


def file_of(name):
    """Return the path of a description."""
    return FOLDER / f"{name}{'.txt' if name in (*SLURM, 'smi_failed') else '.xml'}"


def content_of(name):
    """Return what a description says, as bytes."""
    return file_of(name).read_bytes()
