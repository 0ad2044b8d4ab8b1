// Which receive takes which message: wildcards, order, probes, messages that come before anybody
// asks for them. Every rank sends to every other one, and each receiver says only afterwards whom
// it heard.
#include <stdlib.h>

#include "buffer.h"

enum { kMessages = 12, kLongest = 200000 };

// The length differs with sender, receiver and number: short ones mix with those that are fetched.
static int length_of(const struct check* check, int from, int to, int number) {
  static const int lengths[] = {0, 1, 100, 3000, 9000, 40000, 70001, kLongest};
  const int length = lengths[(from * 3 + to * 5 + number) % 8];
  return (size_t)length <= check->largest ? length : (int)check->largest;
}

struct outgoing {
  MPI_Request* requests;
  struct buffer* buffers;
  int count;
};

static struct outgoing send_to_all(struct check* check) {
  const int count = check->ranks * kMessages;
  struct outgoing all = {calloc((size_t)count, sizeof *all.requests),
                         calloc((size_t)count, sizeof *all.buffers), count};
  for (int number = 0; number < kMessages; ++number) {
    for (int to = 0; to < check->ranks; ++to) {
      const int i = number * check->ranks + to;
      const int length = length_of(check, check->rank, to, number);
      all.buffers[i] = buffer_make(check, (size_t)length);
      buffer_fill(&all.buffers[i], 0, (size_t)length, pattern(check->rank, to, (unsigned)number));
      MUST(check, MPI_Isend(all.buffers[i].bytes, length, MPI_BYTE, to, number, check->comm,
                            &all.requests[i]));
    }
  }
  return all;
}

static void end_sending(struct check* check, struct outgoing* all) {
  MUST(check, MPI_Waitall(all->count, all->requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < all->count; ++i) buffer_free(check, &all->buffers[i]);
  free(all->buffers);
  free(all->requests);
}

// The ways to take the next message, whosever it is.
static void take_any(struct check* check, struct buffer* in, MPI_Status* status) {
  MUST(check, MPI_Recv(in->bytes, (int)in->size, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, check->comm,
                       status));
}

static void take_started(struct check* check, struct buffer* in, MPI_Status* status) {
  MPI_Request request;
  MUST(check, MPI_Irecv(in->bytes, (int)in->size, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG,
                        check->comm, &request));
  for (int done = 0; !done; give_way()) MUST(check, MPI_Test(&request, &done, status));
}

// What was probed is the length that then arrives.
static void receive_probed(struct check* check, struct buffer* in, MPI_Status* status) {
  int probed, count;
  MUST(check, MPI_Get_count(status, MPI_BYTE, &probed));
  const int source = status->MPI_SOURCE, tag = status->MPI_TAG;
  MUST(check, MPI_Recv(in->bytes, (int)in->size, MPI_BYTE, source, tag, check->comm, status));
  MUST(check, MPI_Get_count(status, MPI_BYTE, &count));
  if (count != probed) fail(check, "%d bytes were probed, %d received", probed, count);
}

static void take_probed(struct check* check, struct buffer* in, MPI_Status* status) {
  MUST(check, MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, check->comm, status));
  receive_probed(check, in, status);
}

static void take_looked_for(struct check* check, struct buffer* in, MPI_Status* status) {
  for (int found = 0; !found; give_way()) {
    MUST(check, MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, check->comm, &found, status));
  }
  receive_probed(check, in, status);
}

static void take_matched(struct check* check, struct buffer* in, MPI_Status* status) {
  MPI_Message message;
  MUST(check, MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, check->comm, &message, status));
  MUST(check, MPI_Mrecv(in->bytes, (int)in->size, MPI_BYTE, &message, status));
}

static void take_matched_later(struct check* check, struct buffer* in, MPI_Status* status) {
  MPI_Message message;
  MPI_Request request;
  for (int found = 0; !found; give_way()) {
    MUST(check, MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, check->comm, &found, &message, status));
  }
  MUST(check, MPI_Imrecv(in->bytes, (int)in->size, MPI_BYTE, &message, &request));
  MUST(check, MPI_Wait(&request, status));
}

static const struct {
  const char* name;
  void (*take)(struct check*, struct buffer*, MPI_Status*);
} kWays[] = {
    {"any source and tag", take_any}, {"any source and tag, tested for", take_started},
    {"probe", take_probed},           {"probe without waiting", take_looked_for},
    {"matched probe", take_matched},  {"matched probe without waiting", take_matched_later},
};

// Messages of one sender do not overtake each other, whatever their length (MPI 4.0, 3.5).
static void take_all(struct check* check,
                     void (*take)(struct check*, struct buffer*, MPI_Status*)) {
  int* expected = calloc((size_t)check->ranks, sizeof *expected);
  const size_t room = check->largest < kLongest ? check->largest : kLongest;
  for (int i = 0; i < check->ranks * kMessages; ++i) {
    struct buffer in = buffer_make(check, room);
    MPI_Status status;
    int count;
    take(check, &in, &status);
    MUST(check, MPI_Get_count(&status, MPI_BYTE, &count));
    const int from = status.MPI_SOURCE, number = status.MPI_TAG;
    if (number != expected[from]++) {
      fail(check, "message %d of rank %d came in place of its message %d", number, from,
           expected[from] - 1);
    }
    const int length = length_of(check, from, check->rank, number);
    if (count != length) {
      fail(check, "message %d of rank %d has %d bytes, expected %d", number, from, count, length);
    } else {
      buffer_expect(check, &in, 0, (size_t)length, pattern(from, check->rank, (unsigned)number));
      expect_untouched(check, in.bytes + length, in.size - (size_t)length);
    }
    buffer_free(check, &in);
  }
  free(expected);
}

static void by_each_way(struct check* check, int unexpected) {
  for (size_t way = 0; way < sizeof kWays / sizeof *kWays; ++way) {
    step(check, "%s%s", kWays[way].name, unexpected ? ", all sent before" : "");
    struct outgoing sent = send_to_all(check);
    if (unexpected) MUST(check, MPI_Barrier(check->comm));
    take_all(check, kWays[way].take);
    end_sending(check, &sent);
    MUST(check, MPI_Barrier(check->comm));
  }
}

// Tags choose, not the order of arrival.
static void last_tag_first(struct check* check) {
  step(check, "tags chosen in reverse order");
  struct outgoing sent = send_to_all(check);
  for (int number = kMessages - 1; number >= 0; --number) {
    for (int from = 0; from < check->ranks; ++from) {
      const int length = length_of(check, from, check->rank, number);
      struct buffer in = buffer_make(check, (size_t)length);
      MUST(check,
           MPI_Recv(in.bytes, length, MPI_BYTE, from, number, check->comm, MPI_STATUS_IGNORE));
      buffer_expect(check, &in, 0, (size_t)length, pattern(from, check->rank, (unsigned)number));
      buffer_free(check, &in);
    }
  }
  end_sending(check, &sent);
}

// Nothing is found where nothing was sent, and a receive that nobody serves can be taken back.
static void nothing_to_receive(struct check* check) {
  step(check, "probe and cancelled receive of nothing");
  MUST(check, MPI_Barrier(check->comm));
  int found, cancelled;
  MUST(check, MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, check->comm, &found, MPI_STATUS_IGNORE));
  if (found) fail(check, "a message was found that nobody sent");
  struct buffer in = buffer_make(check, 100);
  MPI_Request request;
  MPI_Status status;
  MUST(check, MPI_Irecv(in.bytes, 100, MPI_BYTE, MPI_ANY_SOURCE, 77, check->comm, &request));
  MUST(check, MPI_Cancel(&request));
  MUST(check, MPI_Wait(&request, &status));
  MUST(check, MPI_Test_cancelled(&status, &cancelled));
  if (!cancelled) fail(check, "the receive was not cancelled");
  expect_untouched(check, in.bytes, in.size);
  buffer_free(check, &in);
  MUST(check, MPI_Barrier(check->comm));
}

void check_matching(struct check* check) {
  by_each_way(check, 0);
  by_each_way(check, 1);
  last_tag_first(check);
  nothing_to_receive(check);
}
