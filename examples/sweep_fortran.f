C     The wavefront sweep of sweep.c in FORTRAN 77 by way of mpif.h: the
C     same messages, the same arithmetic, verified as there: the
C     right-hand side is made from a known solution, which sweeps there
C     and back must find again.
      program sweepf
      implicit none
      include 'mpif.h'
      integer maxn
      parameter (maxn = 64)
      double precision v(-1:maxn, -1:maxn, 0:maxn - 1)
      double precision wrong, all, known
      integer side, sweeps, s, x, y, z, ierr, i, error
      integer rank, ranks, dims(2), place(2), before(2), after(2)
      integer grid, nx, ny, fx, fy
      integer*8 digest, whole
      logical periods(2), ok
      character*64 name, text
      common /share/ side, nx, ny, fx, fy, grid, before, after
      side = 24
      sweeps = 4
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      i = 1
   10 if (i .le. iargc()) then
        call getarg(i, name)
        call getarg(i + 1, text)
        error = 1
        if (name .eq. '--size') read (text, *, iostat=error) side
        if (name .eq. '--sweeps') read (text, *, iostat=error) sweeps
        if (error .ne. 0 .or. side .lt. 2 .or. side .gt. maxn .or.
     &      sweeps .lt. 1) then
          if (rank .eq. 0) write (*, '(a)') 'sweep_fortran: reading '//
     &'the options: --size N (2 to 64) and --sweeps N are known'
          call MPI_FINALIZE(ierr)
          stop 2
        end if
        i = i + 2
        goto 10
      end if
      call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierr)
      dims(1) = 0
      dims(2) = 0
      periods(1) = .false.
      periods(2) = .false.
      call MPI_DIMS_CREATE(ranks, 2, dims, ierr)
      call MPI_CART_CREATE(MPI_COMM_WORLD, 2, dims, periods, .false.,
     &                     grid, ierr)
      call MPI_COMM_RANK(grid, rank, ierr)
      call MPI_CART_COORDS(grid, rank, 2, place, ierr)
      call MPI_CART_SHIFT(grid, 0, 1, before(1), after(1), ierr)
      call MPI_CART_SHIFT(grid, 1, 1, before(2), after(2), ierr)
      if (dims(1) .gt. side .or. dims(2) .gt. side) then
        if (rank .eq. 0) write (*, '(a)')
     &    'sweep_fortran: too many ranks: choose a larger --size'
        call MPI_FINALIZE(ierr)
        stop 2
      end if
      fx = side * place(1) / dims(1)
      fy = side * place(2) / dims(2)
      nx = side * (place(1) + 1) / dims(1) - fx
      ny = side * (place(2) + 1) / dims(2) - fy
      do z = 0, side - 1
        do y = -1, ny
          do x = -1, nx
            v(x, y, z) = 0
          end do
        end do
        do y = 0, ny - 1
          do x = 0, nx - 1
            v(x, y, z) = known(fx + x, fy + y, z, side)
          end do
        end do
      end do
      do s = 1, sweeps
        call sweep(v, maxn, .true., .false.)
        call sweep(v, maxn, .false., .false.)
        call sweep(v, maxn, .false., .true.)
        call sweep(v, maxn, .true., .true.)
      end do
      wrong = 0
      digest = rank
      do z = 0, side - 1
        do y = 0, ny - 1
          do x = 0, nx - 1
            wrong = max(wrong, abs(v(x, y, z)
     &                             - known(fx + x, fy + y, z, side)))
            digest = ieor(ishftc(digest, 7),
     &                    transfer(v(x, y, z), digest))
          end do
        end do
      end do
      call MPI_ALLREDUCE(digest, whole, 1, MPI_INTEGER8, MPI_BXOR, grid,
     &                   ierr)
      all = wrong
      call MPI_ALLREDUCE(MPI_IN_PLACE, all, 1, MPI_DOUBLE_PRECISION,
     &                   MPI_MAX, grid, ierr)
      ok = all .lt. 1d-9
      if (rank .eq. 0) then
        if (ok) then
          write (*, 20) side, sweeps, whole, 'verified'
        else
          write (*, 20) side, sweeps, whole, 'WRONG'
        end if
      end if
   20 format ('sweep_fortran: size ', i0, ' sweeps ', i0, ' digest ',
     &        z16.16, ' ', a)
      call MPI_COMM_FREE(grid, ierr)
      call MPI_FINALIZE(ierr)
      if (.not. ok) stop 1
      end

C     Between 0.5 and 1.5, different at every point.
      double precision function known(x, y, z, side)
      implicit none
      integer x, y, z, side
      integer*8 h
      h = (int(x, 8) * side + y) * side + z + 1
      h = mod(h * 2654435761_8, 4294967296_8)
      h = mod(ieor(h, ishft(h, -15)) * 2246822519_8, 4294967296_8)
      known = 0.5d0 + dble(ieor(h, ishft(h, -13))) / 4294967296d0
      end

C     solve: v becomes the solution of 4 v - its three neighbours behind
C     = v. Else the product, which is its opposite, and goes against the
C     sweep, because it needs values that are not overwritten yet.
      subroutine sweep(v, maxn, fwd, solve)
      implicit none
      integer maxn, side, nx, ny, fx, fy, grid, before(2), after(2)
      double precision v(-1:maxn, -1:maxn, 0:maxn - 1), behind
      logical fwd, solve, along
      integer step, k, z, j, i, x, y
      common /share/ side, nx, ny, fx, fy, grid, before, after
      along = fwd .eqv. solve
      step = 1
      if (fwd) step = -1
      do k = 0, side - 1
        z = side - 1 - k
        if (along) z = k
        if (.not. solve) then
          if (fwd) call give(v, maxn, z, after, fwd)
          if (.not. fwd) call give(v, maxn, z, before, fwd)
        end if
        if (fwd) call take(v, maxn, z, before, fwd)
        if (.not. fwd) call take(v, maxn, z, after, fwd)
        do j = 0, ny - 1
          do i = 0, nx - 1
            y = ny - 1 - j
            x = nx - 1 - i
            if (along) y = j
            if (along) x = i
            behind = v(x + step, y, z) + v(x, y + step, z)
            if (z + step .ge. 0 .and. z + step .lt. side)
     &        behind = behind + v(x, y, z + step)
            if (solve) then
              v(x, y, z) = (v(x, y, z) + behind) / 4
            else
              v(x, y, z) = 4 * v(x, y, z) - behind
            end if
          end do
        end do
        if (solve) then
          if (fwd) call give(v, maxn, z, after, fwd)
          if (.not. fwd) call give(v, maxn, z, before, fwd)
        end if
      end do
      end

      subroutine take(v, maxn, z, from, fwd)
      implicit none
      include 'mpif.h'
      integer maxn, z, from(2), side, nx, ny, fx, fy, grid
      integer before(2), after(2), x, y, at, ierr
      double precision v(-1:maxn, -1:maxn, 0:maxn - 1), edge(64)
      logical fwd
      common /share/ side, nx, ny, fx, fy, grid, before, after
      if (from(1) .ne. MPI_PROC_NULL) then
        call MPI_RECV(edge, ny, MPI_DOUBLE_PRECISION, from(1), 1, grid,
     &                MPI_STATUS_IGNORE, ierr)
        at = nx
        if (fwd) at = -1
        do y = 0, ny - 1
          v(at, y, z) = edge(y + 1)
        end do
      end if
      if (from(2) .ne. MPI_PROC_NULL) then
        call MPI_RECV(edge, nx, MPI_DOUBLE_PRECISION, from(2), 2, grid,
     &                MPI_STATUS_IGNORE, ierr)
        at = ny
        if (fwd) at = -1
        do x = 0, nx - 1
          v(x, at, z) = edge(x + 1)
        end do
      end if
      end

      subroutine give(v, maxn, z, to, fwd)
      implicit none
      include 'mpif.h'
      integer maxn, z, to(2), side, nx, ny, fx, fy, grid
      integer before(2), after(2), x, y, at, ierr
      double precision v(-1:maxn, -1:maxn, 0:maxn - 1), edge(64)
      logical fwd
      common /share/ side, nx, ny, fx, fy, grid, before, after
      if (to(1) .ne. MPI_PROC_NULL) then
        at = 0
        if (fwd) at = nx - 1
        do y = 0, ny - 1
          edge(y + 1) = v(at, y, z)
        end do
        call MPI_SEND(edge, ny, MPI_DOUBLE_PRECISION, to(1), 1, grid,
     &                ierr)
      end if
      if (to(2) .ne. MPI_PROC_NULL) then
        at = 0
        if (fwd) at = ny - 1
        do x = 0, nx - 1
          edge(x + 1) = v(x, at, z)
        end do
        call MPI_SEND(edge, nx, MPI_DOUBLE_PRECISION, to(2), 2, grid,
     &                ierr)
      end if
      end
