! What Fortran does otherwise than C: sentinels, callbacks by reference, attributes, and handles that are integers.
! Rank 0 prints what must be the same with and without replication.
program fortran
  use mpi
  implicit none
  integer :: rank, ranks, error, keyval, handler, handled, counted, failures, everywhere, op, request, i
  integer :: status(MPI_STATUS_SIZE), copy, pair, left, right, got, own(4), all(4)
  integer(kind=MPI_ADDRESS_KIND) :: value, extra
  logical :: found
  double precision :: x(8), y(8)

  failures = 0
  counted = 0
  handled = 0
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  left = modulo(rank - 1, ranks)
  right = modulo(rank + 1, ranks)

  do i = 1, 8
    x(i) = rank * 10 + i
  end do
  call MPI_Irecv(y, 8, MPI_DOUBLE_PRECISION, left, 3, MPI_COMM_WORLD, request, error)
  call MPI_Send(x, 8, MPI_DOUBLE_PRECISION, right, 3, MPI_COMM_WORLD, error)
  call MPI_Wait(request, status, error)
  call check(status(MPI_SOURCE) == left .and. y(8) == left * 10 + 8, 'a message')
  call MPI_Sendrecv(x, 8, MPI_DOUBLE_PRECISION, right, 4, y, 8, MPI_DOUBLE_PRECISION, left, 4, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE, error)
  call check(y(1) == left * 10 + 1, 'MPI_STATUS_IGNORE')
  own = rank
  call MPI_Allreduce(MPI_IN_PLACE, own, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call check(own(4) == ranks * (ranks - 1) / 2, 'MPI_IN_PLACE')

  call MPI_Op_create(greatest, .true., op, error)
  own = rank
  call MPI_Allreduce(own, all, 4, MPI_INTEGER, op, MPI_COMM_WORLD, error)
  call check(all(1) == ranks - 1, 'an operation')
  call MPI_Op_free(op, error)

  extra = 7
  call MPI_Comm_create_keyval(copy_attribute, delete_attribute, keyval, extra, error)
  value = 40
  call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, value, error)
  value = 0
  call MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, value, found, error)
  call check(found .and. value == 40, 'an attribute')
  call MPI_Comm_dup(MPI_COMM_WORLD, copy, error)
  call MPI_Comm_get_attr(copy, keyval, value, found, error)
  call check(found .and. value == 41 .and. counted == 1, 'a copied attribute')
  call MPI_Comm_free(copy, error)
  call check(counted == 11, 'a deleted attribute')
  call MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval, error)
  call check(counted == 21, 'another deleted attribute')
  call MPI_Comm_free_keyval(keyval, error)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, found, error)
  call check(found .and. value >= 32767, 'MPI_TAG_UB')

  call MPI_Comm_create_errhandler(note_error, handler, error)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler, error)
  call MPI_Send(own, 1, MPI_INTEGER, ranks + 5, 0, MPI_COMM_WORLD, error)
  call check(handled == 1, 'an error handler')
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, error)
  call MPI_Errhandler_free(handler, error)

  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [left], MPI_UNWEIGHTED, 1, [right], MPI_UNWEIGHTED, &
                                      MPI_INFO_NULL, .false., copy, error)
  own(1) = rank
  call MPI_Neighbor_allgather(own, 1, MPI_INTEGER, got, 1, MPI_INTEGER, copy, error)
  call check(got == left, 'MPI_UNWEIGHTED')
  call MPI_Comm_free(copy, error)

  call MPI_Type_contiguous(2, MPI_INTEGER, pair, error)
  call MPI_Type_commit(pair, error)
  own = [rank, rank + 1, 0, 0]
  call MPI_Bcast(own, 2, pair, 0, MPI_COMM_WORLD, error)
  call check(own(2) == 1, 'a datatype')
  call MPI_Type_free(pair, error)

  call MPI_Allreduce(failures, everywhere, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (rank == 0) print '(a, i0, a, i0)', 'fortran: ', ranks, ' ranks, failures ', everywhere
  call MPI_Finalize(error)
  if (everywhere > 0) stop 1

contains

  subroutine check(right_so, what)
    logical, intent(in) :: right_so
    character(len=*), intent(in) :: what
    if (right_so) return
    failures = failures + 1
    print '(a, i0, 2a)', 'rank ', rank, ': wrong: ', what
  end subroutine check

  logical function sees_world()
    integer :: size, ignored
    call MPI_Comm_size(MPI_COMM_WORLD, size, ignored)
    sees_world = size == ranks
  end function sees_world

  subroutine greatest(a, b, length, type)
    integer :: length, type
    integer :: a(length), b(length)
    b = max(a, b)
    if (.not. sees_world() .or. type == MPI_DATATYPE_NULL) failures = failures + 1
  end subroutine greatest

  subroutine copy_attribute(comm, number, state, in, out, flag, ierror)
    integer :: comm, number, ierror
    integer(kind=MPI_ADDRESS_KIND) :: state, in, out
    logical :: flag
    if (.not. sees_world() .or. state /= 7 .or. comm /= MPI_COMM_WORLD .or. number == MPI_KEYVAL_INVALID) &
      failures = failures + 1
    counted = counted + 1
    out = in + 1
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine copy_attribute

  ! What Open MPI 4.1 hands a deleting function as the communicator is whatever lies on its stack, natively too.
  subroutine delete_attribute(comm, number, in, state, ierror)
    integer :: comm, number, ierror
    integer(kind=MPI_ADDRESS_KIND) :: in, state
    if (.not. sees_world() .or. state /= 7 .or. number == MPI_KEYVAL_INVALID .or. in < 40) failures = failures + 1
    counted = counted + 10
    ierror = MPI_SUCCESS
  end subroutine delete_attribute

  subroutine note_error(comm, code)
    integer :: comm, code, class, ignored
    call MPI_Error_class(code, class, ignored)
    if (sees_world() .and. comm == MPI_COMM_WORLD .and. class == MPI_ERR_RANK) handled = handled + 1
  end subroutine note_error
end program fortran
