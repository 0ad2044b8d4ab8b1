// Collectives that move bytes: broadcast, gather, scatter, all-gather, all-to-all.
#include <stdlib.h>

#include "collective.h"

enum { kGap = 5 };

void job_free(struct job* job) {
  if (job->out.memory != NULL) buffer_free(job->check, &job->out);
  if (job->in.memory != NULL) buffer_free(job->check, &job->in);
  struct parts* all[] = {&job->out_parts, &job->in_parts};
  for (int i = 0; i < 2; ++i) {
    free(all[i]->counts);
    free(all[i]->places);
    free(all[i]->types);
    *all[i] = (struct parts){NULL, NULL, NULL, 0};
  }
}

static int rank_of(const struct job* job) { return job->check->rank; }

static int ranks_of(const struct job* job) { return job->check->ranks; }

static int is_root(const struct job* job) { return rank_of(job) == job->root; }

static size_t bytes_of(const struct job* job) { return (size_t)job->count; }

static size_t bytes_of_all(const struct job* job) {
  return (size_t)job->count * (size_t)ranks_of(job);
}

// What `from` has for `to`; to itself, too.
static uint64_t pattern_of(const struct job* job, int from, int to) {
  return pattern(from, to, job->number);
}

// The slot of each rank, filled with what this one has for it.
static void fill_slots(struct job* job) {
  for (int to = 0; to < ranks_of(job); ++to) {
    buffer_fill(&job->out, bytes_of(job) * (size_t)to, bytes_of(job),
                pattern_of(job, rank_of(job), to));
  }
}

static void expect_slots(struct job* job, int to) {
  for (int from = 0; from < ranks_of(job); ++from) {
    buffer_expect(job->check, &job->in, bytes_of(job) * (size_t)from, bytes_of(job),
                  pattern_of(job, from, to));
  }
}

// Broadcast, in the buffer `in`.
static void prepare_bcast(struct job* job) {
  job->in = buffer_make(job->check, bytes_of(job));
  if (is_root(job)) buffer_fill(&job->in, 0, bytes_of(job), pattern_of(job, job->root, 0));
}

static int bcast(struct job* job, MPI_Request* request) {
  return request == NULL
             ? MPI_Bcast(job->in.bytes, job->count, MPI_BYTE, job->root, job->check->comm)
             : MPI_Ibcast(job->in.bytes, job->count, MPI_BYTE, job->root, job->check->comm,
                          request);
}

static void expect_bcast(struct job* job) {
  buffer_expect(job->check, &job->in, 0, bytes_of(job), pattern_of(job, job->root, 0));
}

// Gather: everybody's bytes for the root.
static void prepare_gather(struct job* job) {
  job->out = buffer_make(job->check, bytes_of(job));
  buffer_fill(&job->out, 0, bytes_of(job), pattern_of(job, rank_of(job), job->root));
  if (is_root(job)) job->in = buffer_make(job->check, bytes_of_all(job));
}

static int gather(struct job* job, MPI_Request* request) {
  return request == NULL ? MPI_Gather(job->out.bytes, job->count, MPI_BYTE, job->in.bytes,
                                      job->count, MPI_BYTE, job->root, job->check->comm)
                         : MPI_Igather(job->out.bytes, job->count, MPI_BYTE, job->in.bytes,
                                       job->count, MPI_BYTE, job->root, job->check->comm, request);
}

static void expect_gather(struct job* job) {
  if (is_root(job)) expect_slots(job, job->root);
}

static void prepare_scatter(struct job* job) {
  job->in = buffer_make(job->check, bytes_of(job));
  if (!is_root(job)) return;
  job->out = buffer_make(job->check, bytes_of_all(job));
  fill_slots(job);
}

static int scatter(struct job* job, MPI_Request* request) {
  return request == NULL ? MPI_Scatter(job->out.bytes, job->count, MPI_BYTE, job->in.bytes,
                                       job->count, MPI_BYTE, job->root, job->check->comm)
                         : MPI_Iscatter(job->out.bytes, job->count, MPI_BYTE, job->in.bytes,
                                        job->count, MPI_BYTE, job->root, job->check->comm, request);
}

static void expect_from_root(struct job* job) {
  buffer_expect(job->check, &job->in, 0, bytes_of(job), pattern_of(job, job->root, rank_of(job)));
}

static void prepare_allgather(struct job* job) {
  job->out = buffer_make(job->check, bytes_of(job));
  buffer_fill(&job->out, 0, bytes_of(job), pattern_of(job, rank_of(job), 0));
  job->in = buffer_make(job->check, bytes_of_all(job));
}

static int allgather(struct job* job, MPI_Request* request) {
  return request == NULL ? MPI_Allgather(job->out.bytes, job->count, MPI_BYTE, job->in.bytes,
                                         job->count, MPI_BYTE, job->check->comm)
                         : MPI_Iallgather(job->out.bytes, job->count, MPI_BYTE, job->in.bytes,
                                          job->count, MPI_BYTE, job->check->comm, request);
}

static void expect_allgather(struct job* job) { expect_slots(job, 0); }

static void prepare_allgather_in_place(struct job* job) {
  job->in = buffer_make(job->check, bytes_of_all(job));
  buffer_fill(&job->in, bytes_of(job) * (size_t)rank_of(job), bytes_of(job),
              pattern_of(job, rank_of(job), 0));
}

static int allgather_in_place(struct job* job, MPI_Request* request) {
  return request == NULL ? MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, job->in.bytes,
                                         job->count, MPI_BYTE, job->check->comm)
                         : MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, job->in.bytes,
                                          job->count, MPI_BYTE, job->check->comm, request);
}

static void prepare_alltoall(struct job* job) {
  job->out = buffer_make(job->check, bytes_of_all(job));
  job->in = buffer_make(job->check, bytes_of_all(job));
  fill_slots(job);
}

static int alltoall(struct job* job, MPI_Request* request) {
  return request == NULL ? MPI_Alltoall(job->out.bytes, job->count, MPI_BYTE, job->in.bytes,
                                        job->count, MPI_BYTE, job->check->comm)
                         : MPI_Ialltoall(job->out.bytes, job->count, MPI_BYTE, job->in.bytes,
                                         job->count, MPI_BYTE, job->check->comm, request);
}

static void expect_alltoall(struct job* job) { expect_slots(job, rank_of(job)); }

// The functions with a count for each rank. Some get nothing.
static int count_for(const struct job* job, int from, int to) {
  const int third = (from + 2 * to) % 3;
  return third == 0 ? job->count : third == 1 ? job->count / 2 + 1 : 0;
}

// Slots for what this rank has for each other one, or each other one for it.
static struct parts parts_of(const struct job* job, int sending, int other_of_all) {
  const int ranks = ranks_of(job);
  struct parts parts = {calloc((size_t)ranks, sizeof(int)), calloc((size_t)ranks, sizeof(int)),
                        calloc((size_t)ranks, sizeof(MPI_Datatype)), 0};
  for (int peer = 0; peer < ranks; ++peer) {
    const int self = other_of_all < 0 ? rank_of(job) : other_of_all;
    parts.counts[peer] = sending ? count_for(job, self, peer) : count_for(job, peer, self);
    parts.places[peer] = (int)parts.size + kGap;
    parts.types[peer] = MPI_BYTE;
    parts.size += (size_t)parts.counts[peer] + kGap;
  }
  return parts;
}

static void fill_parts(struct job* job) {
  job->out = buffer_make(job->check, job->out_parts.size);
  for (int to = 0; to < ranks_of(job); ++to) {
    buffer_fill(&job->out, (size_t)job->out_parts.places[to], (size_t)job->out_parts.counts[to],
                pattern_of(job, rank_of(job), to));
  }
}

static void expect_parts(struct job* job, int to) {
  for (int from = 0; from < ranks_of(job); ++from) {
    const size_t place = (size_t)job->in_parts.places[from];
    buffer_expect(job->check, &job->in, place, (size_t)job->in_parts.counts[from],
                  pattern_of(job, from, to));
    expect_untouched(job->check, job->in.bytes + place - kGap, kGap);
  }
}

static void prepare_gatherv(struct job* job) {
  const int mine = count_for(job, rank_of(job), job->root);
  job->out = buffer_make(job->check, (size_t)mine);
  buffer_fill(&job->out, 0, (size_t)mine, pattern_of(job, rank_of(job), job->root));
  job->in_parts = parts_of(job, 0, job->root);
  if (is_root(job)) job->in = buffer_make(job->check, job->in_parts.size);
}

static int gatherv(struct job* job, MPI_Request* request) {
  const int mine = count_for(job, rank_of(job), job->root);
  return request == NULL
             ? MPI_Gatherv(job->out.bytes, mine, MPI_BYTE, job->in.bytes, job->in_parts.counts,
                           job->in_parts.places, MPI_BYTE, job->root, job->check->comm)
             : MPI_Igatherv(job->out.bytes, mine, MPI_BYTE, job->in.bytes, job->in_parts.counts,
                            job->in_parts.places, MPI_BYTE, job->root, job->check->comm, request);
}

static void expect_gatherv(struct job* job) {
  if (is_root(job)) expect_parts(job, job->root);
}

static void prepare_scatterv(struct job* job) {
  job->in = buffer_make(job->check, (size_t)count_for(job, job->root, rank_of(job)));
  job->out_parts = parts_of(job, 1, job->root);
  if (is_root(job)) fill_parts(job);
}

static int scatterv(struct job* job, MPI_Request* request) {
  const int mine = count_for(job, job->root, rank_of(job));
  return request == NULL
             ? MPI_Scatterv(job->out.bytes, job->out_parts.counts, job->out_parts.places, MPI_BYTE,
                            job->in.bytes, mine, MPI_BYTE, job->root, job->check->comm)
             : MPI_Iscatterv(job->out.bytes, job->out_parts.counts, job->out_parts.places, MPI_BYTE,
                             job->in.bytes, mine, MPI_BYTE, job->root, job->check->comm, request);
}

static void expect_scatterv(struct job* job) {
  buffer_expect(job->check, &job->in, 0, job->in.size, pattern_of(job, job->root, rank_of(job)));
}

// Everybody gets what each rank has for rank 0.
static void prepare_allgatherv(struct job* job) {
  const int mine = count_for(job, rank_of(job), 0);
  job->out = buffer_make(job->check, (size_t)mine);
  buffer_fill(&job->out, 0, (size_t)mine, pattern_of(job, rank_of(job), 0));
  job->in_parts = parts_of(job, 0, 0);
  job->in = buffer_make(job->check, job->in_parts.size);
}

static int allgatherv(struct job* job, MPI_Request* request) {
  const int mine = count_for(job, rank_of(job), 0);
  return request == NULL
             ? MPI_Allgatherv(job->out.bytes, mine, MPI_BYTE, job->in.bytes, job->in_parts.counts,
                              job->in_parts.places, MPI_BYTE, job->check->comm)
             : MPI_Iallgatherv(job->out.bytes, mine, MPI_BYTE, job->in.bytes, job->in_parts.counts,
                               job->in_parts.places, MPI_BYTE, job->check->comm, request);
}

static void expect_allgatherv(struct job* job) { expect_parts(job, 0); }

static void prepare_alltoallv(struct job* job) {
  job->out_parts = parts_of(job, 1, -1);
  job->in_parts = parts_of(job, 0, -1);
  fill_parts(job);
  job->in = buffer_make(job->check, job->in_parts.size);
}

static int alltoallv(struct job* job, MPI_Request* request) {
  const struct parts *out = &job->out_parts, *in = &job->in_parts;
  return request == NULL
             ? MPI_Alltoallv(job->out.bytes, out->counts, out->places, MPI_BYTE, job->in.bytes,
                             in->counts, in->places, MPI_BYTE, job->check->comm)
             : MPI_Ialltoallv(job->out.bytes, out->counts, out->places, MPI_BYTE, job->in.bytes,
                              in->counts, in->places, MPI_BYTE, job->check->comm, request);
}

static int alltoallw(struct job* job, MPI_Request* request) {
  const struct parts *out = &job->out_parts, *in = &job->in_parts;
  return request == NULL
             ? MPI_Alltoallw(job->out.bytes, out->counts, out->places, out->types, job->in.bytes,
                             in->counts, in->places, in->types, job->check->comm)
             : MPI_Ialltoallw(job->out.bytes, out->counts, out->places, out->types, job->in.bytes,
                              in->counts, in->places, in->types, job->check->comm, request);
}

static void expect_alltoallv(struct job* job) { expect_parts(job, rank_of(job)); }

const struct collective kByteCollectives[] = {
    {"bcast", prepare_bcast, bcast, expect_bcast},
    {"gather", prepare_gather, gather, expect_gather},
    {"gatherv", prepare_gatherv, gatherv, expect_gatherv},
    {"scatter", prepare_scatter, scatter, expect_from_root},
    {"scatterv", prepare_scatterv, scatterv, expect_scatterv},
    {"allgather", prepare_allgather, allgather, expect_allgather},
    {"allgather in place", prepare_allgather_in_place, allgather_in_place, expect_allgather},
    {"allgatherv", prepare_allgatherv, allgatherv, expect_allgatherv},
    {"alltoall", prepare_alltoall, alltoall, expect_alltoall},
    {"alltoallv", prepare_alltoallv, alltoallv, expect_alltoallv},
    {"alltoallw", prepare_alltoallv, alltoallw, expect_alltoallv},
};
const int kByteCollectiveCount = sizeof kByteCollectives / sizeof *kByteCollectives;
