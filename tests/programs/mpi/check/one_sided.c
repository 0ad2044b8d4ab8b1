// One-sided access around the ring: put, get and accumulate into each kind of window, opened in
// each way; then all ranks to all others at once.
#include <string.h>

#include "window.h"

// One access to the next rank's window, and that of the rank before to this one's.
struct job {
  struct window* window;
  struct check* check;
  int target;
  size_t size;  // bytes; the operations on numbers take as many of them as fit
  unsigned number;
  struct buffer own;  // what this rank puts or adds
  struct buffer got;  // what it gets
};

struct operation {
  const char* name;
  int on_numbers;
  int by_request;
  void (*prepare)(struct job*);  // of one's own window and buffers
  int (*start)(struct job*, MPI_Request*);
  void (*expect)(struct job*);  // the same, afterwards
};

static MPI_Aint place(const struct job* job) { return window_place(job->window, job->target, 0); }

static uint64_t pattern_from(const struct job* job, int from, int to) {
  return pattern(from, to, job->number);
}

// Put.
static void prepare_put(struct job* job) {
  buffer_fill(&job->own, 0, job->size, pattern_from(job, job->check->rank, job->target));
}

static int put(struct job* job, MPI_Request* request) {
  return request == NULL
             ? MPI_Put(job->own.bytes, (int)job->size, MPI_BYTE, job->target, place(job),
                       (int)job->size, MPI_BYTE, job->window->handle)
             : MPI_Rput(job->own.bytes, (int)job->size, MPI_BYTE, job->target, place(job),
                        (int)job->size, MPI_BYTE, job->window->handle, request);
}

static int replace(struct job* job, MPI_Request* request) {
  (void)request;
  return MPI_Accumulate(job->own.bytes, (int)job->size, MPI_BYTE, job->target, place(job),
                        (int)job->size, MPI_BYTE, MPI_REPLACE, job->window->handle);
}

static void expect_put(struct job* job) {
  pattern_expect(job->check, job->window->bytes, job->size,
                 pattern_from(job, before(job->check), job->check->rank), 0);
  expect_untouched(job->check, job->window->bytes + job->size, job->window->size - job->size);
}

// Get.
static void prepare_get(struct job* job) {
  pattern_write(job->window->bytes, job->size,
                pattern_from(job, job->check->rank, before(job->check)), 0);
}

static int get(struct job* job, MPI_Request* request) {
  return request == NULL
             ? MPI_Get(job->got.bytes, (int)job->size, MPI_BYTE, job->target, place(job),
                       (int)job->size, MPI_BYTE, job->window->handle)
             : MPI_Rget(job->got.bytes, (int)job->size, MPI_BYTE, job->target, place(job),
                        (int)job->size, MPI_BYTE, job->window->handle, request);
}

static void expect_get(struct job* job) {
  buffer_expect(job->check, &job->got, 0, job->size,
                pattern_from(job, job->target, job->check->rank));
}

// Accumulate: numbers of the owner, to which the rank before adds its own.
static int64_t number_of(int rank, size_t place) {
  return (int64_t)(rank + 1) * 1000003 + (int64_t)place;
}

static int count_of(const struct job* job) { return (int)(job->size / sizeof(int64_t)); }

static void prepare_add(struct job* job) {
  int64_t* numbers = (int64_t*)job->window->bytes;
  for (int i = 0; i < count_of(job); ++i) {
    numbers[i] = number_of(job->check->rank, (size_t)i);
    ((int64_t*)job->own.bytes)[i] = number_of(job->check->rank, (size_t)i * 7);
  }
}

static int add(struct job* job, MPI_Request* request) {
  return request == NULL
             ? MPI_Accumulate(job->own.bytes, count_of(job), MPI_INT64_T, job->target, place(job),
                              count_of(job), MPI_INT64_T, MPI_SUM, job->window->handle)
             : MPI_Raccumulate(job->own.bytes, count_of(job), MPI_INT64_T, job->target, place(job),
                               count_of(job), MPI_INT64_T, MPI_SUM, job->window->handle, request);
}

static int get_and_add(struct job* job, MPI_Request* request) {
  const int count = count_of(job);
  return request == NULL ? MPI_Get_accumulate(job->own.bytes, count, MPI_INT64_T, job->got.bytes,
                                              count, MPI_INT64_T, job->target, place(job), count,
                                              MPI_INT64_T, MPI_SUM, job->window->handle)
                         : MPI_Rget_accumulate(job->own.bytes, count, MPI_INT64_T, job->got.bytes,
                                               count, MPI_INT64_T, job->target, place(job), count,
                                               MPI_INT64_T, MPI_SUM, job->window->handle, request);
}

static void expect_add(struct job* job) {
  const int64_t* numbers = (const int64_t*)job->window->bytes;
  for (int i = 0; i < count_of(job); ++i) {
    const int64_t expected =
        number_of(job->check->rank, (size_t)i) + number_of(before(job->check), (size_t)i * 7);
    if (numbers[i] == expected) continue;
    fail(job->check, "number %d of %d is %lld, expected %lld", i, count_of(job),
         (long long)numbers[i], (long long)expected);
    break;
  }
  job->check->tally->compared += (long long)job->size;
}

// What was there before comes back.
static void expect_get_and_add(struct job* job) {
  expect_add(job);
  const int64_t* got = (const int64_t*)job->got.bytes;
  for (int i = 0; i < count_of(job); ++i) {
    if (got[i] == number_of(job->target, (size_t)i)) continue;
    fail(job->check, "number %d of %d was %lld, and %lld was returned", i, count_of(job),
         (long long)number_of(job->target, (size_t)i), (long long)got[i]);
    break;
  }
}

static const struct operation kOperations[] = {
    {"put", 0, 0, prepare_put, put, expect_put},
    {"get", 0, 0, prepare_get, get, expect_get},
    {"accumulate, replacing", 0, 0, prepare_put, replace, expect_put},
    {"accumulate, adding", 1, 0, prepare_add, add, expect_add},
    {"get_accumulate", 1, 0, prepare_add, get_and_add, expect_get_and_add},
    {"put with a request", 0, 1, prepare_put, put, expect_put},
    {"get with a request", 0, 1, prepare_get, get, expect_get},
    {"accumulate with a request", 1, 1, prepare_add, add, expect_add},
    {"get_accumulate with a request", 1, 1, prepare_add, get_and_add, expect_get_and_add},
};
enum { kOperationCount = sizeof kOperations / sizeof *kOperations };

static void run(struct window* window, enum access access, const struct operation* operation,
                size_t size, unsigned number) {
  struct check* check = window->check;
  step(check, "%s, %s, %s, %zu bytes", operation->name, window_name(window->kind),
       access_name(access), size);
  struct job job = {
      window, check, next(check), size, number, buffer_make(check, size), buffer_make(check, size)};
  window_hold(window);
  operation->prepare(&job);
  window_release(window);
  window_expose(window);

  access_begin(window, access, next(check), before(check));
  MPI_Request request;
  MUST(check, operation->start(&job, operation->by_request ? &request : NULL));
  if (operation->by_request) MUST(check, MPI_Wait(&request, MPI_STATUS_IGNORE));
  access_end(window, access, next(check));

  window_hold(window);
  operation->expect(&job);
  memset(window->bytes, kUntouched, size);
  window_release(window);  // nobody else comes before the next window_expose()
  buffer_free(check, &job.own);
  buffer_free(check, &job.got);
}

// Windows of the first kind with every length, the others with every other one.
static size_t following(const struct window* window, size_t size) {
  const struct check* check = window->check;
  return next_rare_size(check, window->kind == 0 ? size : next_rare_size(check, size));
}

static void run_sizes(struct window* window, enum access access,
                      const struct operation* operation) {
  unsigned number = 0;
  const size_t first = window->check->sparse ? 1000 : 0;
  for (size_t size = first; size <= window->size; size = following(window, size)) {
    run(window, access, operation, operation->on_numbers ? size / 8 * 8 : size, ++number);
  }
}

// Every rank puts its part into every window, and adds to the same numbers as all others.
static void all_to_all(struct check* check, enum window_kind kind, size_t part) {
  step(check, "put and accumulate by all at once, %s, %zu bytes each", window_name(kind), part);
  const size_t ranks = (size_t)check->ranks, numbers = 16;
  struct window window = window_make(check, kind, ranks * part + numbers * sizeof(int64_t) + 8);
  // Numbers first: they must be aligned.
  const size_t parts = numbers * sizeof(int64_t);
  window_hold(&window);
  memset(window.bytes, 0, parts);
  window_release(&window);
  window_expose(&window);
  struct buffer own = buffer_make(check, part * ranks);
  int64_t added[16];
  for (size_t i = 0; i < numbers; ++i) added[i] = number_of(check->rank, i);
  MUST(check, MPI_Win_lock_all(0, window.handle));
  for (int peer = 0; peer < check->ranks; ++peer) {
    const int target = (check->rank + peer) % check->ranks;
    unsigned char* bytes = own.bytes + part * (size_t)target;
    pattern_write(bytes, part, pattern(check->rank, target, 0), 0);
    MUST(check, MPI_Put(bytes, (int)part, MPI_BYTE, target,
                        window_place(&window, target, parts + part * (size_t)check->rank),
                        (int)part, MPI_BYTE, window.handle));
    MUST(check,
         MPI_Accumulate(added, (int)numbers, MPI_INT64_T, target, window_place(&window, target, 0),
                        (int)numbers, MPI_INT64_T, MPI_SUM, window.handle));
  }
  MUST(check, MPI_Win_flush_local_all(window.handle));
  MUST(check, MPI_Win_flush_all(window.handle));
  MUST(check, MPI_Win_unlock_all(window.handle));
  window_expose(&window);
  window_hold(&window);
  for (int from = 0; from < check->ranks; ++from) {
    pattern_expect(check, window.bytes + parts + part * (size_t)from, part,
                   pattern(from, check->rank, 0), 0);
  }
  for (size_t i = 0; i < numbers; ++i) {
    int64_t expected = 0;
    for (int from = 0; from < check->ranks; ++from) expected += number_of(from, i);
    const int64_t found = ((const int64_t*)window.bytes)[i];
    if (found != expected) {
      fail(check, "sum %zu is %lld, expected %lld", i, (long long)found, (long long)expected);
    }
  }
  window_release(&window);
  window_free(&window);
  buffer_free(check, &own);
}

void check_one_sided(struct check* check) {
  for (int kind = 0; kind < kWindowKinds; ++kind) {
    step(check, "making a window, %s", window_name((enum window_kind)kind));
    const size_t largest = kind == 0 || check->largest < 40000 ? check->largest : 40000;
    struct window window = window_make(check, (enum window_kind)kind, largest);
    for (int access = 0; access < kAccesses; ++access) {
      for (int i = 0; i < kOperationCount; ++i) {
        if (kOperations[i].by_request && !takes_requests((enum access)access)) continue;
        run_sizes(&window, (enum access)access, &kOperations[i]);
      }
    }
    step(check, "freeing a window, %s", window_name((enum window_kind)kind));
    window_free(&window);
    for (size_t part = 1; part * (size_t)check->ranks <= largest;
         part = next_rare_size(check, part)) {
      all_to_all(check, (enum window_kind)kind, part);
    }
  }
}
