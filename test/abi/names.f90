! SPDX-License-Identifier: BSD-3-Clause
! Copyright (C) the hwmc contributors
!
! What of MPI's Fortran is more than routines: constants whose address counts, which a program shares with the
! library, callbacks, and buffers of other types; by the module mpi. For Debian's mpif90.mpich.

program names
    use mpi
    implicit none
    integer :: rank, size, ierr, value, sums(3), request, op, blocks(1), vector, i, big(100000)
    integer(MPI_ADDRESS_KIND) :: place(1)
    integer :: status(MPI_STATUS_SIZE)
    double precision :: x
    external :: combine

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)

    sums = [rank, 2 * rank, 1]
    call MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call need(sums(1) == size * (size - 1) / 2 .and. sums(3) == size, 'MPI_IN_PLACE')

    ! A message to the next rank whose buffer is an address alone
    value = -1
    blocks = 1
    call MPI_Get_address(value, place(1), ierr)
    call MPI_Type_create_hindexed(1, blocks, place, MPI_INTEGER, vector, ierr)
    call MPI_Type_commit(vector, ierr)
    call MPI_Irecv(MPI_BOTTOM, 1, vector, modulo(rank - 1, size), 5, MPI_COMM_WORLD, request, ierr)
    call MPI_Send(rank, 1, MPI_INTEGER, modulo(rank + 1, size), 5, MPI_COMM_WORLD, ierr)
    call MPI_Wait(request, status, ierr)
    call need(value == modulo(rank - 1, size) .and. status(MPI_SOURCE) == value, 'MPI_BOTTOM')
    call MPI_Type_free(vector, ierr)
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, modulo(rank + 1, size), 6, value, 1, MPI_INTEGER, &
                      MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call need(value == modulo(rank - 1, size), 'MPI_STATUS_IGNORE')

    call MPI_Op_create(combine, .true., op, ierr)
    x = rank + 1
    call MPI_Allreduce(MPI_IN_PLACE, x, 1, MPI_DOUBLE_PRECISION, op, MPI_COMM_WORLD, ierr)
    call need(abs(x - size) < 1d-12, 'MPI_Op_create')
    call MPI_Op_free(op, ierr)

    x = merge(0.5d0, 0d0, rank == 1)
    call MPI_Bcast(x, 1, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD, ierr)
    call need(x == 0.5d0, 'MPI_Bcast')
    do i = 1, 10
        big = merge(i, 0, rank == modulo(i, size))
        call MPI_Bcast(big, 100000, MPI_INTEGER, modulo(i, size), MPI_COMM_WORLD, ierr)
        call need(all(big == i), 'MPI_Bcast of 400000 bytes')
    end do
    if (rank == 0) print '(a)', 'names: right'
    call MPI_Finalize(ierr)

contains

    subroutine need(holds, what)
        logical, intent(in) :: holds
        character(*), intent(in) :: what

        if (.not. holds) then
            print '(a, a)', 'names: wrong: ', what
            call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
        end if
    end subroutine need
end program names

subroutine combine(given, result, number, kind)
    implicit none
    integer :: number, kind
    double precision :: given(number), result(number)

    result = max(given, result)
end subroutine combine
