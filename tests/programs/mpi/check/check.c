#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kPrintedFailures = 5 };

void step(struct check* check, const char* format, ...) {
  va_list words;
  va_start(words, format);
  vsnprintf(check->tally->step, sizeof check->tally->step, format, words);
  va_end(words);
  ++check->tally->steps;
}

// One write, so that lines of several ranks do not mix.
static void print_failure(const struct check* check, const char* what) {
  char line[600];
  snprintf(line, sizeof line, "mpi_check: FAILED: rank %d: %s: %s\n", check->tally->world_rank,
           check->tally->step, what);
  fputs(line, stderr);
}

void fail(struct check* check, const char* format, ...) {
  if (++check->tally->failures > kPrintedFailures) return;
  char what[300];
  va_list words;
  va_start(words, format);
  vsnprintf(what, sizeof what, format, words);
  va_end(words);
  print_failure(check, what);
}

void must(struct check* check, int returned, const char* call) {
  if (returned == MPI_SUCCESS) return;
  char reason[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(returned, reason, &length) != MPI_SUCCESS) length = 0;
  reason[length] = '\0';
  char what[300];
  snprintf(what, sizeof what, "%.150s returned %d: %.120s", call, returned, reason);
  print_failure(check, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
  abort();  // MPI_Abort does not return
}

struct check among(const struct check* check, MPI_Comm comm) {
  struct check other = *check;
  other.comm = comm;
  MUST(&other, MPI_Comm_rank(comm, &other.rank));
  MUST(&other, MPI_Comm_size(comm, &other.ranks));
  return other;
}

int next(const struct check* check) { return (check->rank + 1) % check->ranks; }

int before(const struct check* check) { return (check->rank + check->ranks - 1) % check->ranks; }

int next_root(const struct check* check, int root) {
  return check->sparse && root < check->ranks - 1 ? check->ranks - 1 : root + 1;
}

void give_way(void) { usleep(20); }

// The smallest power of two that is not less than the number.
static size_t power_from(size_t number) {
  size_t power = 1;
  while (power < number) power *= 2;
  return power;
}

static size_t following(const size_t* sizes, size_t count, size_t size) {
  for (size_t i = 0; i < count; ++i) {
    if (sizes[i] > size) return sizes[i];
  }
  return (size_t)-1;  // beyond every limit
}

size_t next_size(const struct check* check, size_t size) {
  const size_t dense = 64 << 10;
  if (check->sparse) return next_rare_size(check, size);
  if (size < 5) return size + 1;
  const size_t power = power_from(size);
  if (size == power - 1) return power;
  if (size == power) return power + 1;
  // Behind a power, so that the power above it is the next one.
  return size > dense ? power * 2 : power - 1;
}

size_t next_rare_size(const struct check* check, size_t size) {
  static const size_t rare[] = {
      1, 7, 64, 1000, 8192, (32 << 10) + 1, 256 << 10, (1 << 20) + 1, 4 << 20, 16 << 20};
  static const size_t sparse[] = {1, 1000, 40001, 4 << 20};
  return check->sparse ? following(sparse, sizeof sparse / sizeof *sparse, size)
                       : following(rare, sizeof rare / sizeof *rare, size);
}
