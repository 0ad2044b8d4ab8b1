// Atomic operations under contention, and what can be built from them: a counter, a lock. And
// barriers: an atomic operation before a barrier has happened for whoever leaves the barrier.
#include <stdlib.h>
#include <string.h>

#include "window.h"

enum { kMostTurns = 40, kWords = 4 };

// Each of many ranks waits for all others.
static int turns(const struct check* check) { return check->sparse ? 4 : kMostTurns; }

// Some 8-byte words of rank 0, that all ranks change.
struct words {
  struct check* check;
  struct window window;
};

static struct words words_make(struct check* check, enum window_kind kind) {
  struct words words = {check, window_make(check, kind, kWords * sizeof(int64_t))};
  window_hold(&words.window);
  memset(words.window.bytes, 0, words.window.size);
  window_release(&words.window);
  window_expose(&words.window);
  MUST(check, MPI_Win_lock_all(0, words.window.handle));
  return words;
}

static void words_free(struct words* words) {
  MUST(words->check, MPI_Win_unlock_all(words->window.handle));
  MUST(words->check, MPI_Barrier(words->check->comm));
  window_free(&words->window);
}

static MPI_Aint place_of(const struct words* words, int word) {
  return window_place(&words->window, 0, (size_t)word * sizeof(int64_t));
}

// The value before. MPI_NO_OP reads.
static int64_t fetch(struct words* words, int word, int64_t operand, MPI_Op operation) {
  int64_t old = -1;
  MUST(words->check, MPI_Fetch_and_op(&operand, &old, MPI_INT64_T, 0, place_of(words, word),
                                      operation, words->window.handle));
  MUST(words->check, MPI_Win_flush(0, words->window.handle));
  return old;
}

static int64_t compare_and_swap(struct words* words, int word, int64_t expected, int64_t desired) {
  int64_t old = -1;
  MUST(words->check, MPI_Compare_and_swap(&desired, &expected, &old, MPI_INT64_T, 0,
                                          place_of(words, word), words->window.handle));
  MUST(words->check, MPI_Win_flush(0, words->window.handle));
  return old;
}

static int compare_numbers(const void* left, const void* right) {
  const int64_t a = *(const int64_t*)left, b = *(const int64_t*)right;
  return (a > b) - (a < b);
}

// Everybody's tickets together are all numbers, each once.
static void expect_each_once(struct check* check, const int64_t* tickets) {
  const int all = check->ranks * turns(check);
  int64_t* every = calloc((size_t)all, sizeof *every);
  MUST(check, MPI_Allgather(tickets, turns(check), MPI_INT64_T, every, turns(check), MPI_INT64_T,
                            check->comm));
  qsort(every, (size_t)all, sizeof *every, compare_numbers);
  for (int i = 0; i < all; ++i) {
    if (every[i] == i) continue;
    fail(check, "ticket %d of %d is %lld: one was given twice, or left out", i, all,
         (long long)every[i]);
    break;
  }
  check->tally->compared += (long long)all * (long long)sizeof *every;
  free(every);
}

static void counter(struct check* check, enum window_kind kind) {
  step(check, "counter by fetch_and_op, %s", window_name(kind));
  struct words words = words_make(check, kind);
  int64_t tickets[kMostTurns];
  for (int i = 0; i < turns(check); ++i) tickets[i] = fetch(&words, 0, 1, MPI_SUM);
  expect_each_once(check, tickets);
  words_free(&words);
}

static void swaps(struct check* check, enum window_kind kind) {
  step(check, "counter by compare_and_swap, %s", window_name(kind));
  struct words words = words_make(check, kind);
  int64_t tickets[kMostTurns];
  for (int i = 0; i < turns(check); ++i) {
    int64_t seen = 0;
    for (;;) {
      const int64_t old = compare_and_swap(&words, 0, seen, seen + 1);
      if (old == seen) break;
      seen = old;
      give_way();
    }
    tickets[i] = seen;
  }
  expect_each_once(check, tickets);
  words_free(&words);
}

// Word 1 is counted up by get and put, which is right only because word 0 is a lock.
static void lock(struct check* check, enum window_kind kind) {
  step(check, "lock by compare_and_swap, %s", window_name(kind));
  struct words words = words_make(check, kind);
  int64_t tickets[kMostTurns];
  for (int i = 0; i < turns(check); ++i) {
    while (compare_and_swap(&words, 0, 0, check->rank + 1) != 0) give_way();
    int64_t value = -1;
    MUST(check, MPI_Get(&value, 1, MPI_INT64_T, 0, place_of(&words, 1), 1, MPI_INT64_T,
                        words.window.handle));
    MUST(check, MPI_Win_flush(0, words.window.handle));
    tickets[i] = value++;
    MUST(check, MPI_Put(&value, 1, MPI_INT64_T, 0, place_of(&words, 1), 1, MPI_INT64_T,
                        words.window.handle));
    MUST(check, MPI_Win_flush(0, words.window.handle));
    const int64_t holder = fetch(&words, 0, 0, MPI_REPLACE);
    if (holder != check->rank + 1) {
      fail(check, "the lock of rank %d was held by %lld", check->rank, (long long)holder - 1);
    }
  }
  expect_each_once(check, tickets);
  words_free(&words);
}

static void operations(struct check* check, enum window_kind kind) {
  step(check, "fetch_and_op with each operation, %s", window_name(kind));
  struct words words = words_make(check, kind);
  fetch(&words, 0, check->rank + 7, MPI_MAX);
  fetch(&words, 1, (int64_t)1 << check->rank % 60, MPI_BOR);
  fetch(&words, 2, (int64_t)1 << check->rank % 60, MPI_BXOR);
  fetch(&words, 3, -(int64_t)check->rank, MPI_MIN);
  MUST(check, MPI_Barrier(check->comm));
  int64_t bits = 0, odd_bits = 0;
  for (int rank = 0; rank < check->ranks; ++rank) {
    bits |= (int64_t)1 << rank % 60;
    odd_bits ^= (int64_t)1 << rank % 60;
  }
  const int64_t expected[kWords] = {check->ranks + 6, bits, odd_bits, 1 - check->ranks};
  static const char* const names[kWords] = {"maximum", "or", "exclusive or", "minimum"};
  for (int i = 0; i < kWords; ++i) {
    const int64_t found = fetch(&words, i, 0, MPI_NO_OP);
    if (found == expected[i]) continue;
    fail(check, "the %s is %lld, expected %lld", names[i], (long long)found,
         (long long)expected[i]);
  }
  check->tally->compared += (long long)sizeof expected;
  MUST(check, MPI_Barrier(check->comm));
  words_free(&words);
}

// A 4-byte number, in the middle of others.
static void narrow(struct check* check, enum window_kind kind) {
  step(check, "fetch_and_op of 4 bytes, %s", window_name(kind));
  struct words words = words_make(check, kind);
  const int32_t one = 1;
  int32_t old = -1;
  for (int i = 0; i < turns(check); ++i) {
    MUST(check, MPI_Fetch_and_op(&one, &old, MPI_INT32_T, 0, place_of(&words, 1) + 4, MPI_SUM,
                                 words.window.handle));
    MUST(check, MPI_Win_flush(0, words.window.handle));
    if (old < i || old >= check->ranks * turns(check)) fail(check, "the value before was %d", old);
  }
  MUST(check, MPI_Barrier(check->comm));
  const int64_t expected = (int64_t)check->ranks * turns(check) << 32;
  const int64_t found = fetch(&words, 1, 0, MPI_NO_OP);
  if (found != expected) {
    fail(check, "the word is 0x%llx, expected 0x%llx", (unsigned long long)found,
         (unsigned long long)expected);
  }
  MUST(check, MPI_Barrier(check->comm));
  words_free(&words);
}

static void wait_at_barrier(struct check* check, int blocking) {
  if (blocking) {
    MUST(check, MPI_Barrier(check->comm));
    return;
  }
  MPI_Request request;
  MUST(check, MPI_Ibarrier(check->comm, &request));
  for (int done = 0; !done; give_way()) {
    MUST(check, MPI_Test(&request, &done, MPI_STATUS_IGNORE));
  }
}

// Nobody leaves before the last one has come.
static void barrier(struct check* check, int late, int blocking) {
  step(check, "%sbarrier, rank %d is late", blocking ? "" : "non-blocking ", late);
  struct words words = words_make(check, kAllocated);
  if (check->rank == late) {
    for (const double start = MPI_Wtime(); MPI_Wtime() < start + 0.01;) give_way();
    fetch(&words, 0, 1, MPI_SUM);
  }
  wait_at_barrier(check, blocking);
  if (fetch(&words, 0, 0, MPI_NO_OP) != 1) fail(check, "left before rank %d had come", late);
  words_free(&words);
}

void check_atomics(struct check* check) {
  for (int kind = 0; kind < kWindowKinds; ++kind) {
    counter(check, (enum window_kind)kind);
    swaps(check, (enum window_kind)kind);
    lock(check, (enum window_kind)kind);
    operations(check, (enum window_kind)kind);
    narrow(check, (enum window_kind)kind);
  }
  for (int late = 0; late < check->ranks; late = next_root(check, late)) {
    barrier(check, late, 1);
    barrier(check, late, 0);
  }
}
