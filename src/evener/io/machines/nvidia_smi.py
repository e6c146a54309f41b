"""Reads a computer's GPUs and their MIG instances from the output of `nvidia-smi -q -x`.

If MIG is enabled on a GPU, its instances are the devices; without instances it cannot compute.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

from evener.errors import InputError
from evener.io.machines.hwloc_values import bus_address
from evener.io.xml_tree import xml_tree
from evener.platforms.computer import ComputerGpu

ROOT = "nvidia_smi_log"
MOST_GPUS = 1024
UNITS = {"B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "KB": 1e3, "MB": 2.0**20}
_SIZE = re.compile(r"\s*(\d{1,12})\s*(\w+)\s*", re.ASCII)
_UUID = re.compile(r"(GPU|MIG)-[0-9A-Za-z][0-9A-Za-z/-]{0,120}")


class ListedGpus(NamedTuple):
    """The GPUs of a computer, the driver's version, and notes on GPUs that are left out."""

    gpus: tuple[ComputerGpu, ...]
    driver: str
    notes: tuple[str, ...]


def gpus_of_nvidia_smi(content: bytes, file: str | Path) -> ListedGpus:
    """Return the GPUs in nvidia-smi's XML, which may list none.

    Raises InputError for other content, such as a driver's error message.
    """
    if not content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"<", b"\xff\xfe", b"\xfe\xff")):
        said = content.decode("utf-8", "replace").strip().split("\n")[0][:80]
        raise InputError(
            f"is not XML of `nvidia-smi -q -x`: it begins with {said!r}" if said else "is empty",
            file=file,
            hint="If the driver fails, nvidia-smi prints an error instead of XML.",
        )
    log = xml_tree(content, ROOT, file)
    found: list[ComputerGpu] = []
    notes: list[str] = []
    for index, element in enumerate(log.findall("gpu")):
        gpu = _gpu(element, index, file)
        instances = _instances(element, gpu, file)
        if _text(element, "mig_mode/current_mig") == "Enabled":
            found += instances
            if not instances:
                notes.append(
                    f"GPU {index} is left out: MIG is enabled, but the GPU has no instance"
                )
        elif gpu.memory is None and _text(element, "fb_memory_usage/total"):
            notes.append(f"GPU {index} states no memory, so it has no memory limit")
            found.append(gpu)
        else:
            found.append(gpu)
    if len(found) > MOST_GPUS:
        raise InputError(f"lists {len(found):,} GPUs, more than {MOST_GPUS:,}", file=file)
    return ListedGpus(tuple(found), _text(log, "driver_version")[:40], tuple(notes))


def _gpu(element: ET.Element, index: int, file: str | Path) -> ComputerGpu:
    uuid = _text(element, "uuid")
    return ComputerGpu(
        index,
        _text(element, "product_name")[:80],
        uuid if _UUID.fullmatch(uuid) else "",
        _size(element, file, f"GPU {index}"),
        bus=bus_address(element.get("id", "") or _text(element, "pci/pci_bus_id")),
    )


def _instances(element: ET.Element, gpu: ComputerGpu, file: str | Path) -> list[ComputerGpu]:
    """Return the compute instances of a GPU, with their share of the memory bandwidth."""
    found = []
    for one in element.findall("mig_devices/mig_device"):
        memory = _size(one, file, f"an instance of GPU {gpu.index}")
        share = min(memory / gpu.memory, 1.0) if memory and gpu.memory else 1.0
        found.append(
            ComputerGpu(
                gpu.index, gpu.model, _instance_uuid(one, gpu, file), memory, share, gpu.bus,
                is_instance=True,
            )
        )  # fmt: skip
    return found


def _instance_uuid(one: ET.Element, gpu: ComputerGpu, file: str | Path) -> str:
    """Return the instance's name for CUDA_VISIBLE_DEVICES."""
    uuid = _text(one, "uuid")
    if _UUID.fullmatch(uuid):
        return uuid
    numbers = [_text(one, key) for key in ("gpu_instance_id", "compute_instance_id")]
    if not gpu.uuid or not all(re.fullmatch(r"\d{1,4}", number) for number in numbers):
        raise InputError(
            f"has an instance of GPU {gpu.index} without numbers or UUID, so it cannot be selected",
            file=file,
        )
    return f"MIG-{gpu.uuid}/{'/'.join(numbers)}"


def _size(element: ET.Element, file: str | Path, whose: str) -> float | None:
    """Return the stated memory [B]; None if it is not stated, as in "N/A"."""
    text = _text(element, "fb_memory_usage/total")
    found = _SIZE.fullmatch(text)
    if found is None and (not text or re.fullmatch(r"\[?N/?A\]?|\D*", text)):
        return None
    if found is None or found[2] not in UNITS or not 0 < int(found[1]) * UNITS[found[2]] < 2.0**60:
        raise InputError(
            f"the memory of {whose} is {text[:40]!r}, not a size such as '40960 MiB'", file=file
        )
    return int(found[1]) * UNITS[found[2]]


def _text(element: ET.Element, path: str) -> str:
    return (element.findtext(path) or "").strip()
