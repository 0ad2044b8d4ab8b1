// Collectives that compute: reductions and scans of integers, and of floating-point numbers that
// add up exactly.
#include <stdlib.h>
#include <string.h>

#include "collective.h"

// Small enough that the sum over all ranks is exact in every type, and no two places are alike.
static int64_t number_of(const struct job* job, int rank, int place) {
  return (int64_t)(rank + 1) * (place % 1009 + 1) + place % 17 - 8 + (int64_t)job->number % 5;
}

static int64_t sum_of(const struct job* job, int first, int last, int place) {
  int64_t sum = 0;
  for (int rank = first; rank <= last; ++rank) sum += number_of(job, rank, place);
  return sum;
}

static int64_t xor_of(const struct job* job, int place) {
  int64_t all = 0;
  for (int rank = 0; rank < job->check->ranks; ++rank) all ^= number_of(job, rank, place);
  return all;
}

static void fill_numbers(const struct job* job, struct buffer* buffer, int count) {
  int64_t* numbers = (int64_t*)buffer->bytes;
  for (int i = 0; i < count; ++i) numbers[i] = number_of(job, job->check->rank, i);
}

static void expect_number(struct job* job, int place, int64_t found, int64_t expected) {
  if (found == expected) return;
  fail(job->check, "number %d is %lld, expected %lld", place, (long long)found,
       (long long)expected);
}

static void count_compared(struct job* job, int count) {
  job->check->tally->compared += (long long)count * (long long)sizeof(int64_t);
}

static void prepare_numbers(struct job* job) {
  job->out = buffer_make(job->check, (size_t)job->count * sizeof(int64_t));
  job->in = buffer_make(job->check, (size_t)job->count * sizeof(int64_t));
  fill_numbers(job, &job->out, job->count);
}

// The sum over ranks first..last of the numbers from `place` on.
static void expect_sums(struct job* job, int first, int last, int place, int count) {
  const int64_t* found = (const int64_t*)job->in.bytes;
  for (int i = 0; i < count; ++i) {
    expect_number(job, place + i, found[i], sum_of(job, first, last, place + i));
  }
  count_compared(job, count);
}

static int reduce(struct job* job, MPI_Request* request) {
  return request == NULL ? MPI_Reduce(job->out.bytes, job->in.bytes, job->count, MPI_INT64_T,
                                      MPI_SUM, job->root, job->check->comm)
                         : MPI_Ireduce(job->out.bytes, job->in.bytes, job->count, MPI_INT64_T,
                                       MPI_SUM, job->root, job->check->comm, request);
}

static void expect_reduce(struct job* job) {
  if (job->check->rank == job->root) {
    expect_sums(job, 0, job->check->ranks - 1, 0, job->count);
  } else {
    expect_untouched(job->check, job->in.bytes, job->in.size);
  }
}

static int allreduce(struct job* job, MPI_Request* request) {
  return request == NULL ? MPI_Allreduce(job->out.bytes, job->in.bytes, job->count, MPI_INT64_T,
                                         MPI_SUM, job->check->comm)
                         : MPI_Iallreduce(job->out.bytes, job->in.bytes, job->count, MPI_INT64_T,
                                          MPI_SUM, job->check->comm, request);
}

static void expect_allreduce(struct job* job) {
  expect_sums(job, 0, job->check->ranks - 1, 0, job->count);
}

static void prepare_in_place(struct job* job) {
  job->in = buffer_make(job->check, (size_t)job->count * sizeof(int64_t));
  fill_numbers(job, &job->in, job->count);
}

static int allreduce_xor_in_place(struct job* job, MPI_Request* request) {
  return request == NULL ? MPI_Allreduce(MPI_IN_PLACE, job->in.bytes, job->count, MPI_INT64_T,
                                         MPI_BXOR, job->check->comm)
                         : MPI_Iallreduce(MPI_IN_PLACE, job->in.bytes, job->count, MPI_INT64_T,
                                          MPI_BXOR, job->check->comm, request);
}

static void expect_xor(struct job* job) {
  const int64_t* found = (const int64_t*)job->in.bytes;
  for (int i = 0; i < job->count; ++i) expect_number(job, i, found[i], xor_of(job, i));
  count_compared(job, job->count);
}

static void prepare_doubles(struct job* job) {
  prepare_numbers(job);
  double* numbers = (double*)job->out.bytes;
  for (int i = 0; i < job->count; ++i) {
    numbers[i] = (double)number_of(job, job->check->rank, i) / 8;
  }
}

static int allreduce_doubles(struct job* job, MPI_Request* request) {
  return request == NULL ? MPI_Allreduce(job->out.bytes, job->in.bytes, job->count, MPI_DOUBLE,
                                         MPI_SUM, job->check->comm)
                         : MPI_Iallreduce(job->out.bytes, job->in.bytes, job->count, MPI_DOUBLE,
                                          MPI_SUM, job->check->comm, request);
}

static void expect_doubles(struct job* job) {
  const double* found = (const double*)job->in.bytes;
  for (int i = 0; i < job->count; ++i) {
    const double expected = (double)sum_of(job, 0, job->check->ranks - 1, i) / 8;
    if (found[i] != expected)
      fail(job->check, "number %d is %g, expected %g", i, found[i], expected);
  }
  count_compared(job, job->count);
}

// The place of the largest number, and of ranks with the same one the first.
struct placed {
  double number;
  int place;
};

static double ranked(const struct job* job, int rank, int i) {
  return (double)((rank * 7 + i) % (job->check->ranks + 1));
}

static void prepare_largest(struct job* job) {
  job->out = buffer_make(job->check, (size_t)job->count * sizeof(struct placed));
  job->in = buffer_make(job->check, (size_t)job->count * sizeof(struct placed));
  memset(job->out.bytes, 0, job->out.size);
  struct placed* own = (struct placed*)job->out.bytes;
  for (int i = 0; i < job->count; ++i) {
    own[i] = (struct placed){ranked(job, job->check->rank, i), job->check->rank};
  }
}

static int largest(struct job* job, MPI_Request* request) {
  return request == NULL ? MPI_Allreduce(job->out.bytes, job->in.bytes, job->count, MPI_DOUBLE_INT,
                                         MPI_MAXLOC, job->check->comm)
                         : MPI_Iallreduce(job->out.bytes, job->in.bytes, job->count, MPI_DOUBLE_INT,
                                          MPI_MAXLOC, job->check->comm, request);
}

static void expect_largest(struct job* job) {
  const struct placed* found = (const struct placed*)job->in.bytes;
  for (int i = 0; i < job->count; ++i) {
    int best = 0;
    for (int rank = 1; rank < job->check->ranks; ++rank) {
      if (ranked(job, rank, i) > ranked(job, best, i)) best = rank;
    }
    if (found[i].place == best && found[i].number == ranked(job, best, i)) continue;
    fail(job->check, "the largest number %d is %g of rank %d, expected %g of rank %d", i,
         found[i].number, found[i].place, ranked(job, best, i), best);
  }
  count_compared(job, job->count);
}

// Each rank gets `count` of the sums.
static void prepare_reduce_scatter(struct job* job) {
  const int all = job->count * job->check->ranks;
  job->out = buffer_make(job->check, (size_t)all * sizeof(int64_t));
  job->in = buffer_make(job->check, (size_t)job->count * sizeof(int64_t));
  fill_numbers(job, &job->out, all);
}

static int reduce_scatter_block(struct job* job, MPI_Request* request) {
  return request == NULL
             ? MPI_Reduce_scatter_block(job->out.bytes, job->in.bytes, job->count, MPI_INT64_T,
                                        MPI_SUM, job->check->comm)
             : MPI_Ireduce_scatter_block(job->out.bytes, job->in.bytes, job->count, MPI_INT64_T,
                                         MPI_SUM, job->check->comm, request);
}

static void expect_reduce_scatter_block(struct job* job) {
  expect_sums(job, 0, job->check->ranks - 1, job->count * job->check->rank, job->count);
}

// The same with a share of its own for each rank: none for every third.
static int share_of(const struct job* job, int rank) { return rank % 3 == 2 ? 0 : job->count; }

static void prepare_shares(struct job* job) {
  const int ranks = job->check->ranks;
  int all = 0;
  job->in_parts.counts = calloc((size_t)ranks, sizeof(int));
  for (int rank = 0; rank < ranks; ++rank) all += job->in_parts.counts[rank] = share_of(job, rank);
  job->out = buffer_make(job->check, (size_t)all * sizeof(int64_t));
  job->in = buffer_make(job->check, (size_t)share_of(job, job->check->rank) * sizeof(int64_t));
  fill_numbers(job, &job->out, all);
}

static int reduce_scatter(struct job* job, MPI_Request* request) {
  const int* counts = job->in_parts.counts;
  return request == NULL ? MPI_Reduce_scatter(job->out.bytes, job->in.bytes, counts, MPI_INT64_T,
                                              MPI_SUM, job->check->comm)
                         : MPI_Ireduce_scatter(job->out.bytes, job->in.bytes, counts, MPI_INT64_T,
                                               MPI_SUM, job->check->comm, request);
}

static void expect_shares(struct job* job) {
  int place = 0;
  for (int rank = 0; rank < job->check->rank; ++rank) place += share_of(job, rank);
  expect_sums(job, 0, job->check->ranks - 1, place, share_of(job, job->check->rank));
}

static int scan(struct job* job, MPI_Request* request) {
  return request == NULL ? MPI_Scan(job->out.bytes, job->in.bytes, job->count, MPI_INT64_T, MPI_SUM,
                                    job->check->comm)
                         : MPI_Iscan(job->out.bytes, job->in.bytes, job->count, MPI_INT64_T,
                                     MPI_SUM, job->check->comm, request);
}

static void expect_scan(struct job* job) { expect_sums(job, 0, job->check->rank, 0, job->count); }

static int exscan(struct job* job, MPI_Request* request) {
  return request == NULL ? MPI_Exscan(job->out.bytes, job->in.bytes, job->count, MPI_INT64_T,
                                      MPI_SUM, job->check->comm)
                         : MPI_Iexscan(job->out.bytes, job->in.bytes, job->count, MPI_INT64_T,
                                       MPI_SUM, job->check->comm, request);
}

// The first rank's result is undefined.
static void expect_exscan(struct job* job) {
  if (job->check->rank > 0) expect_sums(job, 0, job->check->rank - 1, 0, job->count);
}

const struct collective kNumberCollectives[] = {
    {"reduce", prepare_numbers, reduce, expect_reduce},
    {"allreduce", prepare_numbers, allreduce, expect_allreduce},
    {"allreduce of doubles", prepare_doubles, allreduce_doubles, expect_doubles},
    {"allreduce with xor, in place", prepare_in_place, allreduce_xor_in_place, expect_xor},
    {"allreduce, largest and its place", prepare_largest, largest, expect_largest},
    {"reduce_scatter_block", prepare_reduce_scatter, reduce_scatter_block,
     expect_reduce_scatter_block},
    {"reduce_scatter", prepare_shares, reduce_scatter, expect_shares},
    {"scan", prepare_numbers, scan, expect_scan},
    {"exscan", prepare_numbers, exscan, expect_exscan},
};
const int kNumberCollectiveCount = sizeof kNumberCollectives / sizeof *kNumberCollectives;
