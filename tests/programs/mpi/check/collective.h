// One collective operation: how its buffers are prepared, how it is called, blocking or not, and
// what must have come of it. check_collectives() runs each of a table, also several at once.
//
//   struct job job = {.check = check, .root = 0, .count = 100};
//   kByteCollectives[0].prepare(&job);
//   MUST(check, kByteCollectives[0].start(&job, NULL));      // NULL: the blocking call
//   kByteCollectives[0].expect(&job);
//   job_free(&job);
#pragma once

#include "buffer.h"

// For functions that take a count for each rank: displacements leave gaps.
struct parts {
  int* counts;
  int* places;
  MPI_Datatype* types;
  size_t size;  // of all, with gaps
};

struct job {
  struct check* check;
  int root;
  int count;        // for each rank: bytes, or numbers
  unsigned number;  // of this operation, for its patterns
  struct buffer out;
  struct buffer in;
  struct parts out_parts;
  struct parts in_parts;
};

struct collective {
  const char* name;
  void (*prepare)(struct job*);
  int (*start)(struct job*, MPI_Request*);
  void (*expect)(struct job*);
};

extern const struct collective kByteCollectives[];
extern const int kByteCollectiveCount;
extern const struct collective kNumberCollectives[];
extern const int kNumberCollectiveCount;

void job_free(struct job* job);
