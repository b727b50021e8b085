! Prints as Fortran programs do: to the default unit, to units 6 and 0, and with and without flushing.
program printer
  use mpi
  implicit none
  integer :: code, rank, i
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  if (rank == 0) then
    do i = 1, 100
      print *, 'rank', rank, 'line', i
    end do
    flush (6)
    write (0, *) 'rank', rank, 'to standard error'
    write (6, *) 'the end'
  end if
  call MPI_Finalize(code)
end program printer
