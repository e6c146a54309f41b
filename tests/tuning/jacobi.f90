! Sweeps of Jacobi along a line of cells, each rank its share; rank 1 sleeps in each sweep.
! jacobi CELLS SWEEPS
program jacobi
  use mpi
  implicit none
  interface
    integer(c_int) function usleep(us) bind(c)
      use iso_c_binding, only: c_int
      integer(c_int), value :: us
    end function
  end interface
  integer :: cells, sweeps, rank, ranks, error, sweep, i, request(4), other
  double precision, allocatable :: old(:), new(:)
  double precision :: change, all_changes
  character(len=32) :: word
  call get_command_argument(1, word); read (word, *) cells
  call get_command_argument(2, word); read (word, *) sweeps
  call mpi_init(error)
  call mpi_comm_rank(mpi_comm_world, rank, error)
  call mpi_comm_size(mpi_comm_world, ranks, error)
  allocate (old(0:cells + 1), new(0:cells + 1))
  old = rank; new = rank
  do sweep = 1, sweeps
    i = 0
    if (rank > 0) then
      call mpi_isend(old(1), 1, mpi_double_precision, rank - 1, 0, mpi_comm_world, request(i + 1), error)
      call mpi_irecv(old(0), 1, mpi_double_precision, rank - 1, 0, mpi_comm_world, request(i + 2), error)
      i = i + 2
    end if
    if (rank < ranks - 1) then
      call mpi_isend(old(cells), 1, mpi_double_precision, rank + 1, 0, mpi_comm_world, request(i + 1), error)
      call mpi_irecv(old(cells + 1), 1, mpi_double_precision, rank + 1, 0, mpi_comm_world, request(i + 2), error)
      i = i + 2
    end if
    call mpi_waitall(i, request, mpi_statuses_ignore, error)
    new(1:cells) = (old(0:cells - 1) + old(2:cells + 1)) / 2
    other = usleep(merge(60000, 20000, rank == 1))
    change = sum(abs(new(1:cells) - old(1:cells)))
    call mpi_allreduce(change, all_changes, 1, mpi_double_precision, mpi_sum, mpi_comm_world, error)
    old = new
  end do
  call mpi_finalize(error)
end program
