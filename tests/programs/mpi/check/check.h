// What all checks of MPI share: who takes part, the step that is being checked, and how a failure
// is told. A failure is one line on standard error, beginning with "mpi_check: FAILED: rank"; the
// check goes on, so that no other rank waits for one that gave up. A call of MPI that returns an
// error ends all ranks.
//
//   void check_ring(struct check* check) {
//     step(check, "100 bytes around the ring");
//     MUST(check, MPI_Sendrecv(out, 100, MPI_BYTE, next(check), 0, in, 100, MPI_BYTE,
//     before(check),
//                              0, check->comm, MPI_STATUS_IGNORE));
//     if (in[0] != expected) fail(check, "byte 0 is %d", in[0]);
//   }
#pragma once

#include <mpi.h>
#include <stddef.h>

struct check {
  MPI_Comm comm;  // its errors are returned
  int rank;       // in comm, as the next one
  int ranks;
  size_t largest;  // no message is longer, in bytes
  int sparse;      // few lengths and roots only
  struct tally* tally;
};

// What a rank has come to; one of them, whatever communicator a check runs on.
struct tally {
  int world_rank;
  long steps;
  long failures;
  long long compared;  // bytes
  char step[200];      // what is being checked: also what the time limit names
};

#define PRINTF_LIKE(words, first) __attribute__((format(printf, words, first)))

// Names what is checked from here on.
void step(struct check* check, const char* format, ...) PRINTF_LIKE(2, 3);

// Tells what is wrong with the present step; only the first few of a rank are printed.
void fail(struct check* check, const char* format, ...) PRINTF_LIKE(2, 3);

// Ends all ranks unless the call returned MPI_SUCCESS.
#define MUST(check, call) must((check), (call), #call)
void must(struct check* check, int returned, const char* call);

// The same check among the ranks of another communicator.
struct check among(const struct check* check, MPI_Comm comm);

// Neighbours on the ring.
int next(const struct check* check);
int before(const struct check* check);

// All ranks; of many, the first and the last.
//   for (int root = 0; root < check->ranks; root = next_root(check, root))
int next_root(const struct check* check, int root);

// Between two looks at something that another rank has to do: it may wait for this processor.
void give_way(void);

// Every message length that is tried: each power of two with its neighbours up to 64 KiB, then
// fewer.
//   for (size_t size = 0; size <= check->largest; size = next_size(check, size))
size_t next_size(const struct check* check, size_t size);

// A selection of them, for what costs more.
size_t next_rare_size(const struct check* check, size_t size);

// The groups of checks, a file each.
void check_point_to_point(struct check* check);
void check_matching(struct check* check);
void check_persistent(struct check* check);
void check_datatypes(struct check* check);
void check_collectives(struct check* check);
void check_communicators(struct check* check);
void check_one_sided(struct check* check);
void check_atomics(struct check* check);
