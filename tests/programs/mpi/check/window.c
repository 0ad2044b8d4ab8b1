#include "window.h"

#include <stdlib.h>
#include <string.h>

// MPICH 4.0 misplaces windows in shared memory whose size is not a multiple of 16.
enum { kEdge = 64, kMultiple = 64 };

const char* window_name(enum window_kind kind) {
  static const char* const names[] = {"allocated window", "created window", "dynamic window"};
  return names[kind];
}

const char* access_name(enum access access) {
  static const char* const names[] = {"fence", "post and start", "lock", "shared lock", "lock_all"};
  return names[access];
}

static void get_memory(struct window* window, unsigned char** base, MPI_Aint length) {
  struct check* check = window->check;
  if (window->kind == kAllocated) {
    MUST(check, MPI_Win_allocate(length, 1, MPI_INFO_NULL, check->comm, base, &window->handle));
    return;
  }
  window->memory = buffer_make(check, (size_t)length);
  *base = window->memory.bytes;
  if (window->kind == kCreated) {
    MUST(check, MPI_Win_create(*base, length, 1, MPI_INFO_NULL, check->comm, &window->handle));
    return;
  }
  MUST(check, MPI_Win_create_dynamic(MPI_INFO_NULL, check->comm, &window->handle));
  MUST(check, MPI_Win_attach(window->handle, *base, length));
}

struct window window_make(struct check* check, enum window_kind kind, size_t size) {
  struct window window = {.check = check, .kind = kind, .size = size};
  unsigned char* base = NULL;
  const size_t room = (size + 2 * kEdge + kMultiple - 1) / kMultiple * kMultiple;
  get_memory(&window, &base, (MPI_Aint)room);
  MUST(check, MPI_Win_set_errhandler(window.handle, MPI_ERRORS_RETURN));
  window.bytes = base + kEdge;
  window.origins = calloc((size_t)check->ranks, sizeof *window.origins);
  MPI_Aint own = kEdge;  // a window's displacements count from its base, a dynamic one's from zero
  if (kind == kDynamic) MUST(check, MPI_Get_address(window.bytes, &own));
  MUST(check, MPI_Allgather(&own, 1, MPI_AINT, window.origins, 1, MPI_AINT, check->comm));
  window_hold(&window);
  memset(base, kUntouched, room);
  window_release(&window);
  window_expose(&window);
  return window;
}

void window_free(struct window* window) {
  struct check* check = window->check;
  window_hold(window);
  expect_untouched(check, window->bytes - kEdge, kEdge);
  expect_untouched(check, window->bytes + window->size, kEdge);
  window_release(window);
  MUST(check, MPI_Barrier(check->comm));
  if (window->kind == kDynamic) {
    MUST(check, MPI_Win_detach(window->handle, window->memory.bytes));
  }
  MUST(check, MPI_Win_free(&window->handle));
  if (window->memory.memory != NULL) buffer_free(check, &window->memory);
  free(window->origins);
}

MPI_Aint window_place(const struct window* window, int rank, size_t byte) {
  return window->origins[rank] + (MPI_Aint)byte;
}

void window_hold(struct window* window) {
  MUST(window->check, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, window->check->rank, 0, window->handle));
}

void window_release(struct window* window) {
  MUST(window->check, MPI_Win_unlock(window->check->rank, window->handle));
}

void window_expose(struct window* window) { MUST(window->check, MPI_Barrier(window->check->comm)); }

static void post_and_start(struct window* window, int target, int source) {
  struct check* check = window->check;
  MPI_Group all, one;
  MUST(check, MPI_Win_get_group(window->handle, &all));
  MUST(check, MPI_Group_incl(all, 1, &source, &one));
  MUST(check, MPI_Win_post(one, 0, window->handle));
  MUST(check, MPI_Group_free(&one));
  MUST(check, MPI_Group_incl(all, 1, &target, &one));
  MUST(check, MPI_Win_start(one, 0, window->handle));
  MUST(check, MPI_Group_free(&one));
  MUST(check, MPI_Group_free(&all));
}

void access_begin(struct window* window, enum access access, int target, int source) {
  struct check* check = window->check;
  switch (access) {
    case kFence:
      MUST(check, MPI_Win_fence(MPI_MODE_NOPRECEDE, window->handle));
      return;
    case kPost:
      post_and_start(window, target, source);
      return;
    case kLock:
      MUST(check, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window->handle));
      return;
    case kSharedLock:
      MUST(check, MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window->handle));
      return;
    default:
      MUST(check, MPI_Win_lock_all(0, window->handle));
  }
}

void access_end(struct window* window, enum access access, int target) {
  struct check* check = window->check;
  switch (access) {
    case kFence:
      MUST(check, MPI_Win_fence(MPI_MODE_NOSUCCEED, window->handle));
      return;
    case kPost:
      MUST(check, MPI_Win_complete(window->handle));
      MUST(check, MPI_Win_wait(window->handle));
      return;
    case kLock:
    case kSharedLock:
      MUST(check, MPI_Win_unlock(target, window->handle));
      break;
    default:
      MUST(check, MPI_Win_flush(target, window->handle));
      MUST(check, MPI_Win_unlock_all(window->handle));
  }
  MUST(check, MPI_Barrier(check->comm));
}

int takes_requests(enum access access) {
  return access == kLock || access == kSharedLock || access == kLockAll;
}
