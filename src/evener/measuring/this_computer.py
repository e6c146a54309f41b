"""Describes this computer: by hwloc where it is installed, else by /sys; GPUs by nvidia-smi.

What this process may use is described: its CPU affinity, the limits of its control group,
CUDA_VISIBLE_DEVICES.
"""

from __future__ import annotations

import os
import platform
import shutil
import socket
import subprocess
from collections.abc import Sequence
from dataclasses import replace

from evener.errors import EvenerError, ToolError
from evener.io.machines.hwloc import computer_of_hwloc
from evener.io.machines.nvidia_smi import ListedGpus, gpus_of_nvidia_smi
from evener.measuring.devices import (
    CGROUP_FOLDER,
    allowed_cpus,
    cores,
    usable_memory,
    usable_quota,
    visible,
)
from evener.measuring.sysfs import clock_of, computer_of_sysfs, cpus_near, lanes_here, model_here
from evener.platforms.computer import Computer, ComputerCore, ComputerGpu, restricted, with_gpus

SECONDS = 20.0  # that lstopo or nvidia-smi may take before it is given up
LSTOPO = ("lstopo", "--of", "xml")
LSTOPO_TEXT = "lstopo-no-graphics"  # as Debian and Fedora call the one without windows
NVIDIA_SMI = ("nvidia-smi", "-q", "-x")


def this_computer() -> Computer:
    """Return this computer, as this process may use it.

    A program that is there and fails is said in the computer's notes; what it would have told is
    taken from elsewhere, or left out.
    """
    found = _cores_here()
    quota = usable_quota(CGROUP_FOLDER, len(found.cores))
    allowed = allowed_cpus()
    everything = {cpu for core in found.cores for cpu in core.cpus}
    found = restricted(found, everything if allowed is None else everything & allowed, quota)
    gpus, notes, read_from = _gpus_here()
    found = replace(
        found,
        host=socket.gethostname(),
        model=found.model or model_here(),
        architecture=platform.machine(),
        cores=tuple(_completed(core) for core in found.cores),
        usable=usable_memory(CGROUP_FOLDER),
        near={gpu.bus: cpus_near(gpu.bus) or found.near.get(gpu.bus, frozenset()) for gpu in gpus},
        read_from=(*found.read_from, *read_from),
        notes=(*found.notes, *notes),
    )
    return with_gpus(found, gpus)


def _completed(core: ComputerCore) -> ComputerCore:
    """Return the core with its clock and vector width, where Linux says them."""
    return replace(core, clock=core.clock or clock_of(core.cpu), lanes=core.lanes or lanes_here())


def _cores_here() -> Computer:
    """Return this computer's cores, memory and caches: by hwloc, else by /sys, else by psutil."""
    program = shutil.which(LSTOPO_TEXT) or shutil.which(LSTOPO[0])
    notes: tuple[str, ...] = ()
    if program is not None:
        try:
            return computer_of_hwloc(output_of([program, *LSTOPO[1:]]), LSTOPO[0])
        except EvenerError as error:
            notes = (f"lstopo failed, /sys is read in its place: {error.message}",)
    found = computer_of_sysfs()
    if not found.cores:
        counted = tuple(ComputerCore((core.cpu,), core.socket) for core in cores())
        found = Computer(cores=counted, read_from=(("cores and memory", "psutil"),))
    return replace(found, notes=(*found.notes, *notes))


def _gpus_here() -> tuple[Sequence[ComputerGpu], tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Return the GPUs that may be used, in CUDA's order, sentences on others, and the source."""
    program = shutil.which(NVIDIA_SMI[0])
    if program is None:
        return (), (), ()
    try:
        listed = gpus_of_nvidia_smi(output_of([program, *NVIDIA_SMI[1:]]), NVIDIA_SMI[0])
    except EvenerError as error:
        return (), (f"GPUs are left out: {error.message}",), ()
    left = visible(listed.gpus, os.environ.get("CUDA_VISIBLE_DEVICES"))
    hidden = len(listed.gpus) - len(left)
    notes = (f"CUDA_VISIBLE_DEVICES leaves out {hidden} of the GPUs",) if hidden else ()
    return left, (*listed.notes, *notes), ((("GPUs", source_of(listed)),) if left else ())


def source_of(listed: ListedGpus) -> str:
    """Return what a list of GPUs was read from, for the head of a machine file."""
    return f"nvidia-smi, driver {listed.driver}" if listed.driver else "nvidia-smi"


def output_of(command: Sequence[str], seconds: float = SECONDS) -> bytes:
    """Return what a program prints.

    Raises ToolError where it cannot be run, ends with an error or takes longer than `seconds`.
    """
    name = os.path.basename(command[0])  # noqa: PTH119 - a name alone
    try:
        done = subprocess.run(command, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"{name} gave no answer in {seconds:g} s") from error
    except OSError as error:
        raise ToolError(f"{name} cannot be run: {error.strerror or error}") from error
    if done.returncode:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip().split("\n")[0]
        raise ToolError(f"{name} ended with {done.returncode}: {said[:160]}")
    return done.stdout
