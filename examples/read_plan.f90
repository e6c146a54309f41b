! Prints how many vertices each device has, from what `evener export X.plan --to binary -o X.bin`
! writes:  gfortran read_plan.f90 -o read_plan && ./read_plan X.bin
program read_plan
  use, intrinsic :: iso_fortran_env, only: int32, int64
  implicit none
  character(len=8) :: magic
  character(len=4096) :: file
  character(len=:), allocatable :: device
  integer(int32) :: version, k, length, b
  integer(int64) :: n
  integer(int32), allocatable :: part(:)
  integer :: unit, failed

  call get_command_argument(1, file)
  open (newunit=unit, file=trim(file), access='stream', form='unformatted', status='old', &
        action='read', convert='little_endian', iostat=failed)
  if (failed /= 0) error stop 'read_plan: usage: read_plan FILE, which can be read'
  read (unit, iostat=failed) magic, version, k, n
  if (failed /= 0) error stop 'read_plan: not a binary partition'
  if (magic /= 'EVNRPART' .or. version /= 1) error stop 'read_plan: not a binary partition'
  allocate (part(n), stat=failed)
  if (failed /= 0) error stop 'read_plan: too large for this memory'
  read (unit, iostat=failed) part
  if (failed /= 0) error stop 'read_plan: the file ends early'
  if (any(part < 0 .or. part >= k)) error stop 'read_plan: a block that is not one of k'
  do b = 0, k - 1
    read (unit, iostat=failed) length
    if (failed == 0) allocate (character(len=length) :: device)
    if (failed == 0) read (unit, iostat=failed) device
    if (failed /= 0) error stop 'read_plan: the file ends early'
    print '(i0, a, a)', count(part == b), char(9), device
    deallocate (device)
  end do
  read (unit, iostat=failed) magic(1:1)
  if (failed == 0) error stop 'read_plan: the file goes on after its names'
end program read_plan
