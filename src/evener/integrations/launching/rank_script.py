"""The script that a rank runs before the program: it binds the rank, and selects its GPU.

In the program's words, it also replaces KIND by the kind of the rank's device.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from evener.integrations.launching.jobs import RANK_SCRIPT, RankJob, one_line
from evener.integrations.launching.placing import RankPlace
from evener.platforms.homes import cores_text

# Variables in which launchers pass the rank to a process: Open MPI, PMIx, MPICH and Intel MPI,
# MVAPICH2, PALS, Slurm.
OF_OPENMPI, OF_MPICH, OF_SLURM = ("OMPI_COMM_WORLD_RANK",), ("PMI_RANK",), ("SLURM_PROCID",)
OF_ANY = (
    *OF_OPENMPI, "PMIX_RANK", *OF_MPICH, "MV2_COMM_WORLD_RANK", "PALS_RANKID", *OF_SLURM
)  # fmt: skip


KIND = "{kind}"  # in a word of the program: the kind of the rank's device


def wrapped(
    job: RankJob, variables: Sequence[str], *, binds: bool
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the script's file, and the command that runs the program through it.

    If the script has nothing to do, return no file and the program itself. variables: names of
    environment variables; the first variable that is set holds the rank. binds: whether the script
    must bind ranks to their cores, because the launcher does not.
    """
    by_kind = any(KIND in word for word in job.program)
    placed = any(place.gpu is not None or (binds and place.cores) for place in job.places)
    if not placed and not by_kind:
        return {}, job.program
    text = script(job.places, variables, job.program if by_kind else (), binds=binds)
    return {RANK_SCRIPT: text}, ("sh", job.path(RANK_SCRIPT), *job.program)


def script(
    places: Sequence[RankPlace],
    variables: Sequence[str],
    program: Sequence[str] = (),
    *,
    binds: bool,
) -> str:
    """Return the text of the script, for a POSIX shell.

    program: words in which KIND is replaced; empty: the program is the script's arguments.
    """
    lines = [
        "#!/bin/sh",
        "# Runs a program as the rank of a device. Made by `evener launch`.",
        "rank=" + "".join(f"${{{name}:-" for name in variables) + "}" * len(variables),
        'case "$rank" in',
    ]
    for place in places:
        steps = "; ".join(_steps(place, program, binds=binds))
        steps = f" {steps}" if steps else ""
        lines.append(f"{place.rank}){steps} ;; # {one_line(place.device)}")
    lines += [
        f"*) echo \"rank.sh: rank '$rank', but the plan has ranks 0 to {len(places) - 1}\" >&2",
        "   exit 1 ;;",
        "esac",
        'exec "$@"',
    ]
    return "\n".join(lines) + "\n"


def _steps(place: RankPlace, program: Sequence[str], *, binds: bool) -> list[str]:
    """Return the shell commands for a rank, run before the program."""
    steps = []
    if program:
        steps.append(f"set -- {shlex.join(word.replace(KIND, place.kind) for word in program)}")
    if place.gpu is not None:
        # An index is in nvidia-smi's order, by PCI bus, not by speed.
        order = "CUDA_DEVICE_ORDER=PCI_BUS_ID " if isinstance(place.gpu, int) else ""
        steps.append(f"export {order}CUDA_VISIBLE_DEVICES={place.gpu}")
    if binds and place.cores:
        steps.append(f'set -- taskset -c {cores_text(place.cores)} "$@"')
    return steps
