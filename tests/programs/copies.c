/* Copies that are being made (MPI_Comm_idup) beside calls that make communicators of another one, some of them of a
 * part of its members (MPI 3.1, sections 5.12 and 6.4.2). */
#include "scenarios.h"

static void copies_beside_groups(void) {
  enum { copies = 5 };
  MPI_Comm copy[copies], other, made, inter, merged;
  MPI_Request requests[copies];
  MPI_Group all, even;
  int odd[64], odds = 0, sum = -1;
  for (int i = 1; i < ranks; i += 2) odd[odds++] = i;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Comm_group(other, &all);
  MPI_Group_excl(all, odds, odd, &even);
  for (int round = 0; round < 16; ++round) {
    for (int i = 0; i < copies; ++i) MPI_Comm_idup(MPI_COMM_WORLD, &copy[i], &requests[i]);
    if (rank % 2 == 0) {
      MPI_Comm_create_group(other, even, 0, &made);
      MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made);
      MPI_Comm_free(&made);
    }
    MPI_Comm_split(other, rank > 0, rank, &made);
    MPI_Intercomm_create(made, 0, other, rank > 0 ? 0 : 1, 99, &inter);
    MPI_Intercomm_merge(inter, rank > 0, &merged);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged);
    CHECK(sum == ranks * (ranks - 1) / 2);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&made);
    MPI_Waitall(copies, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < copies; ++i) MPI_Comm_free(&copy[i]);
  }
  MPI_Group_free(&even);
  MPI_Group_free(&all);
  MPI_Comm_free(&other);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const struct Scenario scenarios[] = {{"copies_beside_groups", copies_beside_groups}};
  const int code = run_scenarios(argc, argv, scenarios, sizeof scenarios / sizeof *scenarios);
  MPI_Finalize();
  return code;
}
