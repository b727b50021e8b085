! Conjugate gradients in Fortran by way of mpi_f08: the same matrix, the same messages and the same results as cg.c.
! Verified as there, by two bounds that are theorems.
module cube
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  implicit none
  integer, parameter :: side_default = 24, iterations_default = 60
  integer :: side = side_default, iterations = iterations_default
  integer :: rank, ranks, first_plane, planes, plane, rows
  integer, allocatable :: first(:), column(:)
  real(real64), allocatable :: entry(:)

contains

  integer function share_begin(whole, parts, of)
    integer, intent(in) :: whole, parts, of
    share_begin = int(int(whole, int64) * parts / of)
  end function

  ! A well-mixed number between 0.5 and 1.5 for each index (splitmix64), the same as that of cg.c.
  real(real64) function known(row)
    integer, intent(in) :: row
    integer(int64) :: z
    integer(int64), parameter :: golden = int(z'1e3779b97f4a7c15', int64) + ishft(1_int64, 63)
    integer(int64), parameter :: one = int(z'3f58476d1ce4e5b9', int64) + ishft(1_int64, 63)
    integer(int64), parameter :: two = int(z'14d049bb133111eb', int64) + ishft(1_int64, 63)
    z = (int(first_plane, int64) * plane + row + 1) * golden
    z = ieor(z, ishft(z, -30)) * one
    z = ieor(z, ishft(z, -27)) * two
    z = ieor(z, ishft(z, -31))
    known = 0.5_real64 + real(ishft(z, -11), real64) * 2.0_real64**(-53)
  end function

  subroutine make_matrix
    integer :: row, x, y, z, dx, dy, dz, used
    first_plane = share_begin(side, rank, ranks)
    planes = share_begin(side, rank + 1, ranks) - first_plane
    plane = side * side
    rows = planes * plane
    allocate (first(0:rows), column(rows * 27), entry(rows * 27))
    used = 0
    first(0) = 0
    do row = 0, rows - 1
      z = row / plane
      y = mod(row, plane) / side
      x = mod(row, side)
      do dz = -1, 1
        do dy = -1, 1
          do dx = -1, 1
            if (first_plane + z + dz < 0 .or. first_plane + z + dz >= side) cycle
            if (y + dy < 0 .or. y + dy >= side .or. x + dx < 0 .or. x + dx >= side) cycle
            used = used + 1
            column(used) = (z + dz + 1) * plane + (y + dy) * side + x + dx
            entry(used) = merge(26.0_real64, -1.0_real64, dx == 0 .and. dy == 0 .and. dz == 0)
          end do
        end do
      end do
      first(row + 1) = used
    end do
  end subroutine

  subroutine exchange_halos(v)
    real(real64), intent(inout), asynchronous :: v(0:)
    type(MPI_Request) :: requests(4)
    integer :: below, above
    below = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    above = merge(rank + 1, MPI_PROC_NULL, rank + 1 < ranks)
    call MPI_Irecv(v(0:plane - 1), plane, MPI_DOUBLE_PRECISION, below, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Irecv(v((planes + 1) * plane:(planes + 2) * plane - 1), plane, MPI_DOUBLE_PRECISION, above, 2, &
                   MPI_COMM_WORLD, requests(2))
    call MPI_Isend(v(planes * plane:(planes + 1) * plane - 1), plane, MPI_DOUBLE_PRECISION, above, 1, MPI_COMM_WORLD, &
                   requests(3))
    call MPI_Isend(v(plane:2 * plane - 1), plane, MPI_DOUBLE_PRECISION, below, 2, MPI_COMM_WORLD, requests(4))
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
  end subroutine

  subroutine multiply(v, out)
    real(real64), intent(inout), asynchronous :: v(0:)
    real(real64), intent(out) :: out(0:)
    real(real64) :: sum
    integer :: row, i
    call exchange_halos(v)
    do row = 0, rows - 1
      sum = 0
      do i = first(row) + 1, first(row + 1)
        sum = sum + entry(i) * v(column(i))
      end do
      out(row) = sum
    end do
  end subroutine

  real(real64) function total(own)
    real(real64), intent(in) :: own
    call MPI_Allreduce(own, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  end function

  real(real64) function dot(a, b)
    real(real64), intent(in) :: a(0:), b(0:)
    real(real64) :: own
    integer :: i
    own = 0
    do i = 0, rows - 1
      own = own + a(i) * b(i)
    end do
    dot = total(own)
  end function

  ! Solves A x = b from x = 0; the number of steps done.
  integer function solve(b, x, p)
    real(real64), intent(in) :: b(0:)
    real(real64), intent(inout), asynchronous :: x(0:), p(0:)
    real(real64) :: r(0:rows - 1), ap(0:rows - 1), rr, next, enough, alpha
    r = b(0:rows - 1)
    p(plane:plane + rows - 1) = r
    rr = dot(r, r)
    enough = rr * 1e-26_real64
    solve = 0
    do while (solve < iterations .and. rr > enough)
      call multiply(p, ap)
      alpha = rr / dot(p(plane:), ap)
      x(plane:plane + rows - 1) = x(plane:plane + rows - 1) + alpha * p(plane:plane + rows - 1)
      r = r - alpha * ap
      next = dot(r, r)
      p(plane:plane + rows - 1) = r + next / rr * p(plane:plane + rows - 1)
      rr = next
      solve = solve + 1
    end do
  end function

  ! One number for the bits of the solution, whoever has which part of it.
  integer(int64) function digest_of_all(v)
    real(real64), intent(in) :: v(0:)
    integer(int64) :: own
    integer :: i
    own = rank
    do i = 0, rows - 1
      own = ieor(ishftc(own, 7), transfer(v(i), own))
    end do
    call MPI_Allreduce(own, digest_of_all, 1, MPI_INTEGER8, MPI_BXOR, MPI_COMM_WORLD)
  end function

  ! --size N and --iterations N.
  subroutine read_options
    character(len=64) :: name, text
    integer :: i, error
    i = 1
    do while (i <= command_argument_count())
      call get_command_argument(i, name)
      call get_command_argument(i + 1, text)
      error = 1
      if (name == '--size') read (text, *, iostat=error) side
      if (name == '--iterations') read (text, *, iostat=error) iterations
      if (error /= 0 .or. side < 2 .or. side > 200 .or. iterations < 1) then
        if (rank == 0) write (*, '(a)') 'cg_fortran: reading the options: --size N (2 to 200) and --iterations N are known'
        call MPI_Finalize()
        stop 2
      end if
      i = i + 2
    end do
  end subroutine

end module

program cg
  use cube
  implicit none
  real(real64), allocatable, asynchronous :: x(:), p(:)
  real(real64), allocatable :: b(:), work(:)
  real(real64) :: begin, seconds, b_norm, residual, error, checksum, smallest, condition, factor, own
  integer(int64) :: digest
  integer :: i, steps
  logical :: verified
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call read_options
  if (ranks > side) then
    if (rank == 0) write (*, '(a)') 'cg_fortran: each rank needs a plane: choose a larger --size'
    call MPI_Finalize()
    stop 2
  end if
  call make_matrix
  allocate (x(0:rows + 2 * plane - 1), p(0:rows + 2 * plane - 1), b(0:rows - 1), work(0:rows - 1))
  x = 0
  p = 0
  do i = 0, rows - 1
    p(plane + i) = known(i)
  end do
  call multiply(p, b)
  begin = MPI_Wtime()
  steps = solve(b, x, p)
  seconds = MPI_Wtime() - begin
  call multiply(x, work)
  work = b - work
  b_norm = sqrt(dot(b, b))
  residual = sqrt(dot(work, work))
  do i = 0, rows - 1
    work(i) = x(plane + i) - known(i)
  end do
  error = sqrt(dot(work, work))
  own = 0
  do i = 0, rows - 1
    own = own + x(plane + i)
  end do
  checksum = total(own)
  digest = digest_of_all(x(plane:))
  smallest = 27 - (1 + 2 * cos(acos(-1.0_real64) / (side + 1)))**3
  condition = 36 / smallest
  factor = (sqrt(condition) - 1) / (sqrt(condition) + 1)
  verified = residual / b_norm <= 2 * sqrt(condition) * factor**steps + 1e-11_real64 .and. &
             error <= residual / smallest + 1e-11_real64 * b_norm / smallest .and. seconds >= 0
  if (rank == 0) write (*, '(a,i0,a,i0,a,es23.16,a,es23.16,a,z16.16,1x,a)') 'cg_fortran: size ', side, ' iterations ', &
    steps, ' residual ', residual / b_norm, ' checksum ', checksum, ' digest ', digest, &
    trim(merge('verified', 'WRONG   ', verified))
  call MPI_Finalize()
  if (.not. verified) stop 1
end program
