// A window for one-sided access, made in one of the ways that MPI has, and the ways to open it for
// access.
//
//   struct window window = window_make(check, kAllocated, size);
//   window_fill(&window, ...);                   // by its owner
//   access_begin(&window, kFence, next(check), before(check));
//   MUST(check, MPI_Put(bytes, n, MPI_BYTE, next(check), window_place(&window, next(check), 0), n,
//                       MPI_BYTE, window.handle));
//   access_end(&window, kFence, next(check));    // and that of the rank before to this one
//   window_expect(&window, ...);
//   window_free(&window);
#pragma once

#include "buffer.h"

enum window_kind { kAllocated, kCreated, kDynamic, kWindowKinds };
enum access { kFence, kPost, kLock, kSharedLock, kLockAll, kAccesses };

const char* window_name(enum window_kind kind);
const char* access_name(enum access access);

// All of its bytes are kUntouched. Besides those that are asked for, it has a guard at either end.
struct window {
  struct check* check;
  enum window_kind kind;
  MPI_Win handle;
  size_t size;
  unsigned char* bytes;
  struct buffer memory;  // unless MPI allocated it
  MPI_Aint* origins;     // of the other ranks' bytes
};

struct window window_make(struct check* check, enum window_kind kind, size_t size);
void window_free(struct window* window);

// The displacement of a byte in the window of a rank.
MPI_Aint window_place(const struct window* window, int rank, size_t byte);

// The owner's own access; other ranks see what it did once all have called window_expose().
void window_hold(struct window* window);
void window_release(struct window* window);
void window_expose(struct window* window);

// Access to `target`'s window, while `source` accesses this rank's. Both have ended afterwards.
// Only with the locks may requests (MPI_Rput and so on) be used in between.
void access_begin(struct window* window, enum access access, int target, int source);
void access_end(struct window* window, enum access access, int target);
int takes_requests(enum access access);
