"""The location of a device for launchers: computer, cores and GPU, and their checks."""

from __future__ import annotations

import re
from collections.abc import Iterable

from evener.errors import InputError

# Linux supports at most 8,192 processors; a range in a small file must not exhaust the memory.
MOST_CORES = 1 << 16
_NODE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_GPU = re.compile(r"(GPU|MIG)-[A-Za-z0-9]([A-Za-z0-9/-]*[A-Za-z0-9])?")
_RANGE = re.compile(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?", re.ASCII)


def cores_of_text(text: str) -> tuple[int, ...]:
    """Return the cores in a text such as "0-3,8", in ascending order.

    Raises InputError for other texts, descending ranges, repeated cores, and numbers of MOST_CORES
    or above.
    """
    cores: list[int] = []
    for word in text.split(","):
        found = _RANGE.fullmatch(word)
        last = int(found[2] or found[1]) if found else -1
        if found is None or last < int(found[1]):
            raise InputError(f'cores must be numbers and ranges such as "0-3,8", not {text[:40]!r}')
        if last >= MOST_CORES:
            raise InputError(f"core {last} does not exist: core numbers are below {MOST_CORES:,}")
        cores += range(int(found[1]), last + 1)
    return checked_cores(cores)


def checked_cores(cores: Iterable[object]) -> tuple[int, ...]:
    """Return the cores in ascending order.

    Raises InputError for anything but whole numbers from 0 to MOST_CORES - 1, and for repeated
    cores.
    """
    found: list[int] = []
    for core in cores:
        if not isinstance(core, int) or isinstance(core, bool) or not 0 <= core < MOST_CORES:
            raise InputError(
                f"a core must be a whole number from 0 to {MOST_CORES - 1:,}, not {str(core)[:40]}"
            )
        found.append(core)
    if len(set(found)) < len(found):
        twice = next(core for core in found if found.count(core) > 1)
        raise InputError(f"core {twice} appears twice")
    return tuple(sorted(found))


def cores_text(cores: Iterable[int]) -> str:
    """Return the shortest text for the cores, such as "0-3,8", which cores_of_text reads."""
    runs: list[list[int]] = []
    for core in sorted(cores):
        if runs and core == runs[-1][1] + 1:
            runs[-1][1] = core
        else:
            runs.append([core, core])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def check_node(node: str) -> None:
    """Raise InputError unless a text can name a computer: letters, digits, ".", "_", "-"."""
    if not (isinstance(node, str) and _NODE.fullmatch(node)):
        raise InputError(
            "a computer's name must consist of letters, digits, '.', '_' and '-', unlike "
            f"{str(node)[:40]!r}"
        )


def check_gpu(gpu: int | str) -> None:
    """Raise InputError unless a value is the index or the UUID of a GPU."""
    is_index = isinstance(gpu, int) and not isinstance(gpu, bool) and 0 <= gpu < MOST_CORES
    if not is_index and not (isinstance(gpu, str) and _GPU.fullmatch(gpu)):
        raise InputError(
            'a gpu must be an index, from 0, or a UUID, such as "GPU-8f6d5c2e-...", not '
            + (f"{gpu[:40]!r}" if isinstance(gpu, str) else str(gpu)[:40])
        )
