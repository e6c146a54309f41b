/* Gives each rank of a PETSc program in C the cells of its block.

   mpicc petsc_mesh.c -o petsc_mesh $(pkg-config --cflags --libs petsc)
   mpirun -n 3 ./petsc_mesh mesh.msh mesh.is */

#include <petscdmplex.h>

int main(int argc, char **argv)
{
  DM               mesh, divided;
  IS               sizes = NULL, cells = NULL;
  PetscPartitioner partitioner;
  PetscMPIInt      rank, ranks;
  PetscInt         start, end, planned[2] = {0, 0}, n = 0; /* planned: ranks and cells */
  const PetscInt  *counts = NULL, *numbers = NULL;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(DMPlexCreateFromFile(PETSC_COMM_WORLD, argv[1], "mesh", PETSC_TRUE, &mesh));
  PetscCall(DMPlexGetHeightStratum(mesh, 0, &start, &end));
  if (rank == 0) { /* which holds all cells, and reads the plan */
    PetscViewer file;
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_SELF, argv[2], FILE_MODE_READ, &file));
    PetscCall(ISCreate(PETSC_COMM_SELF, &sizes));
    PetscCall(ISLoad(sizes, file));
    PetscCall(ISCreate(PETSC_COMM_SELF, &cells));
    PetscCall(ISLoad(cells, file));
    PetscCall(PetscViewerDestroy(&file));
    PetscCall(ISGetSize(sizes, &planned[0]));
    PetscCall(ISGetSize(cells, &planned[1]));
    PetscCall(ISGetIndices(sizes, &counts));
    PetscCall(ISGetIndices(cells, &numbers));
    n = end - start;
  }
  PetscCallMPI(MPI_Bcast(planned, 2, MPIU_INT, 0, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Bcast(&n, 1, MPIU_INT, 0, PETSC_COMM_WORLD));
  PetscCheck(planned[0] == ranks && planned[1] == n, PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG,
             "the plan divides %d cells over %d ranks; there are %d cells and %d ranks",
             (int)planned[1], (int)planned[0], (int)n, ranks);

  PetscCall(DMPlexGetPartitioner(mesh, &partitioner));
  PetscCall(PetscPartitionerSetType(partitioner, PETSCPARTITIONERSHELL));
  PetscCall(PetscPartitionerShellSetPartition(partitioner, ranks, counts, numbers));
  PetscCall(DMPlexDistribute(mesh, 0, NULL, &divided));
  PetscCall(DMPlexGetHeightStratum(divided, 0, &start, &end));
  PetscCall(PetscSynchronizedPrintf(PETSC_COMM_WORLD, "rank %d: %d cells\n", rank, (int)(end - start)));
  PetscCall(PetscSynchronizedFlush(PETSC_COMM_WORLD, PETSC_STDOUT));

  if (sizes) PetscCall(ISRestoreIndices(sizes, &counts));
  if (cells) PetscCall(ISRestoreIndices(cells, &numbers));
  PetscCall(ISDestroy(&sizes));
  PetscCall(ISDestroy(&cells));
  PetscCall(DMDestroy(&divided));
  PetscCall(DMDestroy(&mesh));
  return PetscFinalize();
}
