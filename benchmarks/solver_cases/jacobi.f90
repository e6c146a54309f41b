! Jacobi's method for Laplace's equation on a square of N x N points, in rows by rank.
! jacobi N SWEEPS FILE; FILE holds the block of each row, as METIS writes it: the rows of a block are
! consecutive, and block r belongs to rank r.
program jacobi
  use mpi
  implicit none
  integer :: n, sweeps, rank, ranks, error, sweep, row, block, rows, last, before, after, i, j
  integer :: request(4)
  double precision, allocatable :: old(:, :), new(:, :), swap(:, :)
  double precision :: change, all_changes
  character(len=256) :: word, file
  call get_command_argument(1, word); read (word, *) n
  call get_command_argument(2, word); read (word, *) sweeps
  call get_command_argument(3, file)
  call mpi_init(error)
  call mpi_comm_rank(mpi_comm_world, rank, error)
  call mpi_comm_size(mpi_comm_world, ranks, error)
  rows = 0; last = -1; before = mpi_proc_null; after = mpi_proc_null
  open (10, file=file, status='old')
  do row = 1, n
    read (10, *) block
    if (block == rank) then
      if (rows > 0 .and. last /= rank) call mpi_abort(mpi_comm_world, 3, error)
      if (rows == 0 .and. last >= 0) before = last
      rows = rows + 1
    else if (last == rank) then
      after = block
    end if
    last = block
  end do
  close (10)
  allocate (old(n, 0:rows + 1), new(n, 0:rows + 1))
  old = 0; new = 0
  if (before == mpi_proc_null) old(:, 0) = 1
  new = old
  do sweep = 1, sweeps
    call mpi_isend(old(1, 1), n, mpi_double_precision, before, 0, mpi_comm_world, request(1), error)
    call mpi_irecv(old(1, 0), n, mpi_double_precision, before, 0, mpi_comm_world, request(2), error)
    call mpi_isend(old(1, rows), n, mpi_double_precision, after, 0, mpi_comm_world, request(3), error)
    call mpi_irecv(old(1, rows + 1), n, mpi_double_precision, after, 0, mpi_comm_world, request(4), error)
    call mpi_waitall(4, request, mpi_statuses_ignore, error)
    change = 0
    do j = 1, rows
      do i = 2, n - 1
        new(i, j) = (old(i - 1, j) + old(i + 1, j) + old(i, j - 1) + old(i, j + 1)) / 4
        change = max(change, abs(new(i, j) - old(i, j)))
      end do
    end do
    call mpi_allreduce(change, all_changes, 1, mpi_double_precision, mpi_max, mpi_comm_world, error)
    call move_alloc(old, swap); call move_alloc(new, old); call move_alloc(swap, new)
  end do
  if (rank == 0) print *, 'change', all_changes
  call mpi_finalize(error)
end program
