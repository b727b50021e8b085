! Writes files as Fortran programs do, and prints what it finds.
program writer
  use mpi
  implicit none
  integer :: rank, code, i, unit
  logical :: there
  real :: numbers(100)
  character(len=80) :: line

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  if (rank == 0) then
    open(newunit=unit, file='formatted.txt', status='replace')
    do i = 1, 50
      write(unit, '(i5,f10.3)') i, sqrt(real(i))
    end do
    close(unit)
    open(newunit=unit, file='before.log', status='old', position='append')
    write(unit, '(a)') 'one more line'
    rewind(unit)
    read(unit, '(a)') line
    print '(a)', trim(line)
    close(unit)
    numbers = [(real(i), i = 1, 100)]
    open(newunit=unit, file='direct.dat', access='direct', form='unformatted', recl=400)
    do i = 1, 5
      write(unit, rec=i) numbers * i
    end do
    read(unit, rec=3) numbers
    print '(f8.1)', numbers(100)
    close(unit)
    open(newunit=unit, file='new.dat', status='new', form='unformatted', access='stream')
    write(unit) numbers
    close(unit)
    open(newunit=unit, file='new.dat', status='new', iostat=code)
    print '(a,l2)', 'refused', code /= 0
    inquire(file='new.dat', exist=there, size=i)
    print '(a,l2,i6)', 'there', there, i
    open(newunit=unit, status='scratch')
    write(unit, *) 'scratch'
    close(unit)
    open(newunit=unit, file='checkpoint', status='old')
    close(unit, status='delete')
    inquire(file='checkpoint', exist=there)
    print '(a,l2)', 'deleted', .not. there
  end if
  call MPI_Finalize(code)
end program writer
