// Groups of ranks: parts, copies, another order, two groups that talk to each other, neighbours on
// a grid. Messages of one communicator never reach another.
#include <stdlib.h>

#include "buffer.h"

// A ring and a sum among the ranks of a communicator; `number` makes its messages its own.
static void exercise(struct check* check, MPI_Comm comm, unsigned number) {
  struct check part = among(check, comm);
  const size_t size = check->largest < 30000 ? check->largest : 30000;
  struct buffer out = buffer_make(&part, size), in = buffer_make(&part, size);
  buffer_fill(&out, 0, size, pattern(part.rank, next(&part), number));
  MUST(&part, MPI_Sendrecv(out.bytes, (int)size, MPI_BYTE, next(&part), 1, in.bytes, (int)size,
                           MPI_BYTE, before(&part), 1, comm, MPI_STATUS_IGNORE));
  buffer_expect(&part, &in, 0, size, pattern(before(&part), part.rank, number));
  const int64_t own = part.rank + number;
  int64_t sum = 0;
  MUST(&part, MPI_Allreduce(&own, &sum, 1, MPI_INT64_T, MPI_SUM, comm));
  const int64_t expected =
      (int64_t)part.ranks * (part.ranks - 1) / 2 + (int64_t)part.ranks * number;
  if (sum != expected) fail(&part, "the sum is %ld, expected %ld", (long)sum, (long)expected);
  buffer_free(&part, &out);
  buffer_free(&part, &in);
}

static MPI_Comm split(struct check* check, int colour, int key) {
  MPI_Comm part;
  MUST(check, MPI_Comm_split(check->comm, colour, key, &part));
  return part;
}

static void parts(struct check* check) {
  for (int count = 1; count <= check->ranks && count <= 4; ++count) {
    step(check, "split into %d", count);
    MPI_Comm part = split(check, check->rank % count, check->rank);
    exercise(check, part, (unsigned)count);
    MUST(check, MPI_Comm_free(&part));
  }
  step(check, "split in reverse order");
  MPI_Comm reversed = split(check, 0, -check->rank);
  const struct check other = among(check, reversed);
  if (other.rank != check->ranks - 1 - check->rank) {
    fail(check, "rank %d has become %d, expected %d", check->rank, other.rank,
         check->ranks - 1 - check->rank);
  }
  exercise(check, reversed, 9);
  MUST(check, MPI_Comm_free(&reversed));

  step(check, "split that leaves a rank out");
  MPI_Comm most = split(check, check->rank == check->ranks - 1 ? MPI_UNDEFINED : 0, 0);
  if ((most == MPI_COMM_NULL) != (check->rank == check->ranks - 1)) {
    fail(check, "a rank is in, or is out, that should not be");
  } else if (most != MPI_COMM_NULL) {
    exercise(check, most, 10);
    MUST(check, MPI_Comm_free(&most));
  }
}

// The same tag and the same ranks, received in the other order than sent.
static void copies(struct check* check) {
  step(check, "messages of two copies of a communicator");
  enum { kCopies = 3, kBytes = 5000 };
  MPI_Comm copy[kCopies];
  MPI_Request requests[kCopies];
  struct buffer out[kCopies];
  for (int i = 0; i < kCopies; ++i) {
    MUST(check, MPI_Comm_dup(check->comm, &copy[i]));
    out[i] = buffer_make(check, kBytes);
    buffer_fill(&out[i], 0, kBytes, pattern(check->rank, next(check), (unsigned)i));
    MUST(check, MPI_Isend(out[i].bytes, kBytes, MPI_BYTE, next(check), 1, copy[i], &requests[i]));
  }
  for (int i = kCopies - 1; i >= 0; --i) {
    struct buffer in = buffer_make(check, kBytes);
    MUST(check, MPI_Recv(in.bytes, kBytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, copy[i],
                         MPI_STATUS_IGNORE));
    buffer_expect(check, &in, 0, kBytes, pattern(before(check), check->rank, (unsigned)i));
    buffer_free(check, &in);
  }
  MUST(check, MPI_Waitall(kCopies, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < kCopies; ++i) {
    buffer_free(check, &out[i]);
    MUST(check, MPI_Comm_free(&copy[i]));
  }
}

static void groups(struct check* check) {
  step(check, "communicator of a group");
  MPI_Group all, odd;
  MPI_Comm comm;
  const int count = check->ranks / 2;
  int* ranks = calloc((size_t)count + 1, sizeof *ranks);
  for (int i = 0; i < count; ++i) ranks[i] = 2 * (count - 1 - i) + 1;  // the last first
  MUST(check, MPI_Comm_group(check->comm, &all));
  MUST(check, MPI_Group_incl(all, count, ranks, &odd));
  MUST(check, MPI_Comm_create(check->comm, odd, &comm));
  if (comm != MPI_COMM_NULL) {
    exercise(check, comm, 20);
    MUST(check, MPI_Comm_free(&comm));
  } else if (check->rank % 2 == 1) {
    fail(check, "this rank is in the group and was left out");
  }
  MUST(check, MPI_Group_free(&odd));
  MUST(check, MPI_Group_free(&all));
  free(ranks);
}

// Ranks are those of the other group.
static void two_groups(struct check* check) {
  step(check, "two groups that talk to each other");
  const int side = check->rank % 2;
  MPI_Comm own = split(check, side, check->rank), both;
  MUST(check, MPI_Intercomm_create(own, 0, check->comm, 1 - side, 5, &both));
  int others;
  MUST(check, MPI_Comm_remote_size(both, &others));
  const struct check part = among(check, own);
  int64_t mine = check->rank, sum = -1;
  MUST(check, MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, both));
  int64_t expected = 0;
  for (int rank = 1 - side; rank < check->ranks; rank += 2) expected += rank;
  if (sum != expected) {
    fail(check, "the other group's sum is %ld, expected %ld", (long)sum, (long)expected);
  }
  if (part.rank < others) {
    struct buffer out = buffer_make(check, 9000), in = buffer_make(check, 9000);
    buffer_fill(&out, 0, 9000, pattern(side, 1 - side, (unsigned)part.rank));
    MUST(check, MPI_Sendrecv(out.bytes, 9000, MPI_BYTE, part.rank, 2, in.bytes, 9000, MPI_BYTE,
                             part.rank, 2, both, MPI_STATUS_IGNORE));
    buffer_expect(check, &in, 0, 9000, pattern(1 - side, side, (unsigned)part.rank));
    buffer_free(check, &out);
    buffer_free(check, &in);
  }
  MUST(check, MPI_Comm_free(&both));
  MUST(check, MPI_Comm_free(&own));
}

static void grid(struct check* check) {
  step(check, "neighbours on a grid");
  enum { kBytes = 3000, kNeighbours = 4 };
  int sizes[2] = {0, 0};
  const int around[2] = {1, 1};
  MPI_Comm comm;
  MUST(check, MPI_Dims_create(check->ranks, 2, sizes));
  MUST(check, MPI_Cart_create(check->comm, 2, sizes, around, 1, &comm));
  struct check part = among(check, comm);
  int neighbours[kNeighbours];
  for (int dimension = 0; dimension < 2; ++dimension) {
    MUST(&part, MPI_Cart_shift(comm, dimension, 1, &neighbours[2 * dimension],
                               &neighbours[2 * dimension + 1]));
  }
  struct buffer out = buffer_make(&part, kBytes), in = buffer_make(&part, kNeighbours * kBytes);
  buffer_fill(&out, 0, kBytes, pattern(part.rank, 0, 30));
  MUST(&part,
       MPI_Neighbor_allgather(out.bytes, kBytes, MPI_BYTE, in.bytes, kBytes, MPI_BYTE, comm));
  for (int i = 0; i < kNeighbours; ++i) {
    buffer_expect(&part, &in, (size_t)i * kBytes, kBytes, pattern(neighbours[i], 0, 30));
  }
  buffer_free(&part, &out);
  buffer_free(&part, &in);
  MUST(check, MPI_Comm_free(&comm));
}

void check_communicators(struct check* check) {
  parts(check);
  copies(check);
  groups(check);
  if (check->ranks > 1) two_groups(check);
  grid(check);
}
