"""The ranks that an MPI launcher such as mpiexec or srun has started."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from evener.errors import ToolError

if TYPE_CHECKING:
    from evener.running.mpi_comm import MpiComm

# Variables in which launchers store the number of ranks: MPICH and Intel MPI, Open MPI,
# MVAPICH2, PALS, Slurm's srun with any MPI.
SIZES = (
    "PMI_SIZE",
    "OMPI_COMM_WORLD_SIZE",
    "MV2_COMM_WORLD_SIZE",
    "PALS_NRANKS",
    "SLURM_STEP_NUM_TASKS",
)


def n_ranks() -> int:
    """Return how many processes a launcher such as mpiexec has started; 1 without one."""
    for key in SIZES:
        if os.environ.get(key, "").isdigit():
            return int(os.environ[key])
    return 1


def world() -> MpiComm:
    """Return the communicator of all ranks.

    Raises ToolError if mpi4py is missing, or if its MPI is not the launcher's: then each process
    would take itself for the only one.
    """
    from evener.running.mpi_comm import MpiComm

    comm = MpiComm()
    if comm.size != n_ranks():
        raise ToolError(
            f"mpi4py finds {comm.size} ranks, but the launcher started {n_ranks()}",
            hint="mpiexec and mpi4py must belong to the same MPI. Under Slurm, try srun "
            "--mpi=pmi2 or --mpi=pmix.",
        )
    return comm
