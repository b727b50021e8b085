! The heat equation on a ring of cells, in Fortran with mpi_f08: explicit steps, halo exchange by non-blocking messages,
! a global check every so often by MPI_Allreduce with MPI_IN_PLACE.
!
! Verified by a theorem: the explicit scheme multiplies a sine wave by 1 - 4 a sin^2(k h / 2) in each step, so that the
! result is known in closed form, and heat is neither made nor lost.
program heat_fortran
  use, intrinsic :: iso_fortran_env, only: real64, int64
  use mpi_f08
  implicit none
  real(real64), parameter :: a = 0.25_real64
  integer, parameter :: wave = 3
  integer :: rank, ranks, cells, steps, own, first, i, step, left, right, error
  real(real64), allocatable :: now(:), after(:)
  real(real64) :: pi, growth, angle, sums(2), greatest
  type(MPI_Request) :: requests(4)
  logical :: verified

  cells = 4096
  steps = 200
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  pi = acos(-1.0_real64)
  first = int(int(cells, int64) * rank / ranks)
  own = int(int(cells, int64) * (rank + 1) / ranks) - first
  left = modulo(rank - 1, ranks)
  right = modulo(rank + 1, ranks)
  allocate (now(0:own + 1), after(0:own + 1))
  do i = 1, own
    angle = 2 * pi * wave * (first + i - 1) / cells
    now(i) = 1 + sin(angle)
  end do

  do step = 1, steps
    call MPI_Irecv(now(0), 1, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, requests(1), error)
    call MPI_Irecv(now(own + 1), 1, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, requests(2), error)
    call MPI_Isend(now(own), 1, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, requests(3), error)
    call MPI_Isend(now(1), 1, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, requests(4), error)
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, error)
    do i = 1, own
      after(i) = now(i) + a * (now(i - 1) - 2 * now(i) + now(i + 1))
    end do
    now(1:own) = after(1:own)
  end do

  growth = (1 - 4 * a * sin(pi * wave / cells)**2)**steps
  greatest = 0
  do i = 1, own
    angle = 2 * pi * wave * (first + i - 1) / cells
    greatest = max(greatest, abs(now(i) - 1 - growth * sin(angle)))
  end do
  sums = [sum(now(1:own)), greatest]
  call MPI_Allreduce(MPI_IN_PLACE, sums(1), 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Allreduce(MPI_IN_PLACE, sums(2), 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, error)
  verified = abs(sums(1) - cells) < 1e-9_real64 * cells .and. sums(2) < 1e-11_real64
  if (rank == 0) then
    print '(a, i0, a, i0, a, es24.16, a, a)', 'heat_fortran: cells ', cells, ' steps ', steps, ' sum ', sums(1), ' ', &
      trim(merge('verified', 'WRONG   ', verified))
  end if
  call MPI_Finalize(error)
  if (.not. verified) stop 1
end program heat_fortran
