// The collectives of collective_bytes.c and collective_numbers.c, one by one and all at once, and
// an operation of our own. Barriers are in atomics.c.
#include <stdlib.h>

#include "collective.h"

static void finish(struct check* check, MPI_Request* request) {
  for (int done = 0; !done; give_way()) {
    MUST(check, MPI_Test(request, &done, MPI_STATUS_IGNORE));
  }
}

static void run(struct check* check, const struct collective* collective, int root, size_t count,
                int blocking) {
  step(check, "%s%s, root %d, %zu for each rank", blocking ? "" : "non-blocking ", collective->name,
       root, count);
  struct job job = {.check = check, .root = root, .count = (int)count, .number = (unsigned)root};
  collective->prepare(&job);
  if (blocking) {
    MUST(check, collective->start(&job, NULL));
  } else {
    MPI_Request request;
    MUST(check, collective->start(&job, &request));
    finish(check, &request);
  }
  collective->expect(&job);
  job_free(&job);
}

// All roots with one length, all lengths with one root.
static void run_all(struct check* check, const struct collective* collectives, int collective_count,
                    size_t largest, int blocking) {
  for (int i = 0; i < collective_count; ++i) {
    for (int root = 0; root < check->ranks; root = next_root(check, root)) {
      run(check, &collectives[i], root, 33, blocking);
    }
    int root = 0;
    for (size_t count = 0; count <= largest; count = next_rare_size(check, count)) {
      run(check, &collectives[i], root, count, blocking);
      root = (root + 1) % check->ranks;
    }
  }
}

// Started together, ended in whatever order.
static void all_at_once(struct check* check, const struct collective* collectives,
                        int collective_count, size_t count) {
  step(check, "%d collectives at once, %zu for each rank", collective_count, count);
  struct job* jobs = calloc((size_t)collective_count, sizeof *jobs);
  MPI_Request* requests = calloc((size_t)collective_count, sizeof(MPI_Request));
  for (int i = 0; i < collective_count; ++i) {
    jobs[i].check = check;
    jobs[i].root = i % check->ranks;
    jobs[i].count = (int)count;
    jobs[i].number = (unsigned)i;
    collectives[i].prepare(&jobs[i]);
    MUST(check, collectives[i].start(&jobs[i], &requests[i]));
  }
  MUST(check, MPI_Waitall(collective_count, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < collective_count; ++i) {
    collectives[i].expect(&jobs[i]);
    job_free(&jobs[i]);
  }
  free(requests);
  free(jobs);
}

// Composition of x -> a x + b, modulo 2^64: associative, and the order of ranks matters.
struct affine {
  uint64_t a, b;
};

static void compose(void* first, void* then, int* length, MPI_Datatype* type) {
  (void)type;
  const struct affine* f = first;
  struct affine* g = then;
  for (int i = 0; i < *length; ++i) {
    g[i] = (struct affine){f[i].a * g[i].a, g[i].a * f[i].b + g[i].b};
  }
}

static struct affine affine_of(int rank, int place) {
  return (struct affine){(uint64_t)(2 * rank + 3), (uint64_t)(rank * 1000 + place)};
}

static void own_operation(struct check* check, int count) {
  step(check, "allreduce with an operation of our own, %d for each rank", count);
  struct buffer out = buffer_make(check, (size_t)count * sizeof(struct affine));
  struct buffer in = buffer_make(check, (size_t)count * sizeof(struct affine));
  MPI_Datatype type;
  MPI_Op operation;
  MUST(check, MPI_Type_contiguous(2, MPI_UINT64_T, &type));
  MUST(check, MPI_Type_commit(&type));
  MUST(check, MPI_Op_create(compose, 0, &operation));
  for (int i = 0; i < count; ++i) ((struct affine*)out.bytes)[i] = affine_of(check->rank, i);
  MUST(check, MPI_Allreduce(out.bytes, in.bytes, count, type, operation, check->comm));
  for (int i = 0; i < count; ++i) {
    struct affine expected = affine_of(0, i);
    int one = 1;
    for (int rank = 1; rank < check->ranks; ++rank) {
      struct affine all = affine_of(rank, i);
      compose(&expected, &all, &one, NULL);
      expected = all;
    }
    const struct affine found = ((const struct affine*)in.bytes)[i];
    if (found.a == expected.a && found.b == expected.b) continue;
    fail(check, "result %d is wrong", i);
    break;
  }
  check->tally->compared += (long long)count * (long long)sizeof(struct affine);
  MUST(check, MPI_Op_free(&operation));
  MUST(check, MPI_Type_free(&type));
  buffer_free(check, &out);
  buffer_free(check, &in);
}

void check_collectives(struct check* check) {
  // What each rank has for all others together is bounded, too.
  const size_t bytes = check->largest / (size_t)check->ranks;
  for (int blocking = 1; blocking >= 0; --blocking) {
    run_all(check, kByteCollectives, kByteCollectiveCount, bytes, blocking);
    run_all(check, kNumberCollectives, kNumberCollectiveCount, bytes / sizeof(int64_t), blocking);
  }
  static const size_t counts[] = {1, 100, 9000};
  for (int i = 0; i < 3 && counts[i] * sizeof(int64_t) <= bytes; ++i) {
    all_at_once(check, kByteCollectives, kByteCollectiveCount, counts[i]);
    all_at_once(check, kNumberCollectives, kNumberCollectiveCount, counts[i]);
    own_operation(check, (int)counts[i]);
  }
}
