// Persistent requests, started again and again, and each way of waiting for several.

#include "buffer.h"

enum { kRounds = 4, kAtATime = 6 };

struct channel {
  struct check* check;
  size_t size;
  struct buffer out[kAtATime];
  struct buffer in[kAtATime];
  MPI_Request requests[2 * kAtATime];  // sends, then receives
};

static void wait_for_all(struct channel* channel) {
  MUST(channel->check, MPI_Waitall(2 * kAtATime, channel->requests, MPI_STATUSES_IGNORE));
}

static void test_all(struct channel* channel) {
  for (int done = 0; !done; give_way()) {
    MUST(channel->check, MPI_Testall(2 * kAtATime, channel->requests, &done, MPI_STATUSES_IGNORE));
  }
}

static void wait_for_any(struct channel* channel) {
  int seen[2 * kAtATime] = {0};
  for (int i = 0; i < 2 * kAtATime; ++i) {
    int which = MPI_UNDEFINED;
    MUST(channel->check, MPI_Waitany(2 * kAtATime, channel->requests, &which, MPI_STATUS_IGNORE));
    if (which == MPI_UNDEFINED || seen[which]++ != 0) {
      fail(channel->check, "request %d ended twice, or none did", which);
      return;
    }
  }
}

static void wait_for_some(struct channel* channel) {
  int which[2 * kAtATime];
  for (int left = 2 * kAtATime; left > 0;) {
    int done = 0;
    MUST(channel->check,
         MPI_Waitsome(2 * kAtATime, channel->requests, &done, which, MPI_STATUSES_IGNORE));
    if (done == MPI_UNDEFINED || done <= 0) {
      fail(channel->check, "no request ended though %d are left", left);
      return;
    }
    left -= done;
  }
}

static const struct {
  const char* name;
  void (*wait)(struct channel*);
} kWays[kRounds] = {
    {"waitall", wait_for_all},
    {"testall", test_all},
    {"waitany", wait_for_any},
    {"waitsome", wait_for_some},
};

static void make(struct channel* channel, int synchronous) {
  struct check* check = channel->check;
  for (int i = 0; i < kAtATime; ++i) {
    channel->out[i] = buffer_make(check, channel->size);
    channel->in[i] = buffer_make(check, channel->size);
    const int size = (int)channel->size;
    MUST(check, synchronous ? MPI_Ssend_init(channel->out[i].bytes, size, MPI_BYTE, next(check), i,
                                             check->comm, &channel->requests[i])
                            : MPI_Send_init(channel->out[i].bytes, size, MPI_BYTE, next(check), i,
                                            check->comm, &channel->requests[i]));
    MUST(check, MPI_Recv_init(channel->in[i].bytes, size, MPI_BYTE, before(check), i, check->comm,
                              &channel->requests[kAtATime + i]));
  }
}

static void run_round(struct channel* channel, int round) {
  struct check* check = channel->check;
  for (int i = 0; i < kAtATime; ++i) {
    buffer_fill(&channel->out[i], 0, channel->size,
                pattern(check->rank, next(check), (unsigned)(round * kAtATime + i)));
  }
  // Receives first in one round, sends first in the next.
  const int first = round % 2 == 0 ? kAtATime : 0;
  MUST(check, MPI_Startall(kAtATime, channel->requests + first));
  MUST(check, MPI_Startall(kAtATime, channel->requests + kAtATime - first));
  kWays[round].wait(channel);
  for (int i = 0; i < kAtATime; ++i) {
    buffer_expect(check, &channel->in[i], 0, channel->size,
                  pattern(before(check), check->rank, (unsigned)(round * kAtATime + i)));
  }
}

static void run(struct check* check, size_t size, int synchronous) {
  struct channel channel = {.check = check, .size = size};
  step(check, "persistent requests, %zu bytes", size);
  make(&channel, synchronous);
  for (int round = 0; round < kRounds; ++round) {
    step(check, "persistent %srequests, %zu bytes, %s", synchronous ? "synchronous " : "", size,
         kWays[round].name);
    run_round(&channel, round);
  }
  for (int i = 0; i < kAtATime; ++i) {
    MUST(check, MPI_Request_free(&channel.requests[i]));
    MUST(check, MPI_Request_free(&channel.requests[kAtATime + i]));
    buffer_free(check, &channel.out[i]);
    buffer_free(check, &channel.in[i]);
  }
}

void check_persistent(struct check* check) {
  for (size_t size = 0; size <= check->largest && size <= 4 << 20;
       size = next_rare_size(check, size)) {
    run(check, size, 0);
    run(check, size, 1);
  }
}
