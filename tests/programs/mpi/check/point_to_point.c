// Messages of every size around the ring, by each way of sending and receiving.
#include <stdlib.h>

#include "buffer.h"

// One message to the next rank, and one from that before.
struct exchange {
  struct check* check;
  int size;
  unsigned char* out;
  unsigned char* in;
  MPI_Status* status;  // of what was received
};

enum { kTag = 11 };

static void start_receive(struct exchange* job, MPI_Request* request) {
  MUST(job->check, MPI_Irecv(job->in, job->size, MPI_BYTE, before(job->check), kTag,
                             job->check->comm, request));
}

static void receive(struct exchange* job) {
  MUST(job->check, MPI_Recv(job->in, job->size, MPI_BYTE, before(job->check), kTag,
                            job->check->comm, job->status));
}

static void send_to_posted_receive(struct exchange* job) {
  struct check* check = job->check;
  MPI_Request request;
  start_receive(job, &request);
  MUST(check, MPI_Send(job->out, job->size, MPI_BYTE, next(check), kTag, check->comm));
  MUST(check, MPI_Wait(&request, job->status));
}

static void non_blocking_send(struct exchange* job) {
  struct check* check = job->check;
  MPI_Request request;
  MUST(check, MPI_Isend(job->out, job->size, MPI_BYTE, next(check), kTag, check->comm, &request));
  receive(job);
  MUST(check, MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void both_non_blocking(struct exchange* job) {
  struct check* check = job->check;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MUST(check,
       MPI_Isend(job->out, job->size, MPI_BYTE, next(check), kTag, check->comm, &requests[0]));
  start_receive(job, &requests[1]);
  MUST(check, MPI_Waitall(2, requests, statuses));
  *job->status = statuses[1];
}

static void synchronous_send(struct exchange* job) {
  struct check* check = job->check;
  MPI_Request request;
  start_receive(job, &request);
  MUST(check, MPI_Ssend(job->out, job->size, MPI_BYTE, next(check), kTag, check->comm));
  MUST(check, MPI_Wait(&request, job->status));
}

static void non_blocking_synchronous_send(struct exchange* job) {
  struct check* check = job->check;
  MPI_Request request;
  MUST(check, MPI_Issend(job->out, job->size, MPI_BYTE, next(check), kTag, check->comm, &request));
  receive(job);
  MUST(check, MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void buffered_send(struct exchange* job) {
  struct check* check = job->check;
  const int room = job->size + MPI_BSEND_OVERHEAD;
  struct buffer attached = buffer_make(check, (size_t)room);
  MUST(check, MPI_Buffer_attach(attached.bytes, room));
  MUST(check, MPI_Bsend(job->out, job->size, MPI_BYTE, next(check), kTag, check->comm));
  receive(job);
  void* detached;
  int detached_size;
  MUST(check, MPI_Buffer_detach(&detached, &detached_size));
  buffer_free(check, &attached);
}

// A ready send needs its receive: the receiver says when that is posted.
static void ready_send(struct exchange* job) {
  struct check* check = job->check;
  MPI_Request request;
  start_receive(job, &request);
  MUST(check, MPI_Sendrecv(NULL, 0, MPI_BYTE, before(check), kTag + 1, NULL, 0, MPI_BYTE,
                           next(check), kTag + 1, check->comm, MPI_STATUS_IGNORE));
  MUST(check, MPI_Rsend(job->out, job->size, MPI_BYTE, next(check), kTag, check->comm));
  MUST(check, MPI_Wait(&request, job->status));
}

static void send_and_receive(struct exchange* job) {
  struct check* check = job->check;
  MUST(check, MPI_Sendrecv(job->out, job->size, MPI_BYTE, next(check), kTag, job->in, job->size,
                           MPI_BYTE, before(check), kTag, check->comm, job->status));
}

// The receive may be longer than the message.
static void receive_with_room(struct exchange* job) {
  struct check* check = job->check;
  MPI_Request request;
  struct buffer large = buffer_make(check, (size_t)job->size + 1000);
  MUST(check, MPI_Irecv(large.bytes, job->size + 1000, MPI_BYTE, before(check), kTag, check->comm,
                        &request));
  MUST(check, MPI_Send(job->out, job->size, MPI_BYTE, next(check), kTag, check->comm));
  MUST(check, MPI_Wait(&request, job->status));
  expect_untouched(check, large.bytes + job->size, 1000);
  for (int i = 0; i < job->size; ++i) job->in[i] = large.bytes[i];
  buffer_free(check, &large);
}

static const struct {
  const char* name;
  void (*run)(struct exchange*);
} kWays[] = {
    {"send to a posted receive", send_to_posted_receive},
    {"non-blocking send", non_blocking_send},
    {"non-blocking send and receive", both_non_blocking},
    {"synchronous send", synchronous_send},
    {"non-blocking synchronous send", non_blocking_synchronous_send},
    {"buffered send", buffered_send},
    {"ready send", ready_send},
    {"send and receive in one call", send_and_receive},
    {"receive with room to spare", receive_with_room},
};

static void expect_status(struct check* check, const MPI_Status* status, int size) {
  int count;
  MUST(check, MPI_Get_count(status, MPI_BYTE, &count));
  if (status->MPI_SOURCE != before(check) || status->MPI_TAG != kTag || count != size) {
    fail(check, "the status says rank %d, tag %d, %d bytes; expected rank %d, tag %d, %d bytes",
         status->MPI_SOURCE, status->MPI_TAG, count, before(check), kTag, size);
  }
}

static void replace(struct check* check, size_t size) {
  step(check, "send and receive in one buffer, %zu bytes", size);
  struct buffer both = buffer_make(check, size);
  buffer_fill(&both, 0, size, pattern(check->rank, next(check), 0));
  MUST(check, MPI_Sendrecv_replace(both.bytes, (int)size, MPI_BYTE, next(check), kTag,
                                   before(check), kTag, check->comm, MPI_STATUS_IGNORE));
  buffer_expect(check, &both, 0, size, pattern(before(check), check->rank, 0));
  buffer_free(check, &both);
}

// Each pair of ranks, both ways at once, which a ring has only of two ranks.
static void between_all_pairs(struct check* check, size_t size) {
  step(check, "all pairs at once, %zu bytes", size);
  const int ranks = check->ranks;
  MPI_Request* requests = calloc(2 * (size_t)ranks, sizeof *requests);
  struct buffer out = buffer_make(check, size * (size_t)ranks);
  struct buffer in = buffer_make(check, size * (size_t)ranks);
  for (int peer = 0; peer < ranks; ++peer) {
    MUST(check, MPI_Irecv(in.bytes + size * (size_t)peer, (int)size, MPI_BYTE, peer, kTag,
                          check->comm, &requests[peer]));
  }
  for (int peer = 0; peer < ranks; ++peer) {
    buffer_fill(&out, size * (size_t)peer, size, pattern(check->rank, peer, 0));
    MUST(check, MPI_Isend(out.bytes + size * (size_t)peer, (int)size, MPI_BYTE, peer, kTag,
                          check->comm, &requests[ranks + peer]));
  }
  MUST(check, MPI_Waitall(2 * ranks, requests, MPI_STATUSES_IGNORE));
  for (int peer = 0; peer < ranks; ++peer) {
    buffer_expect(check, &in, size * (size_t)peer, size, pattern(peer, check->rank, 0));
  }
  buffer_free(check, &out);
  buffer_free(check, &in);
  free(requests);
}

void check_point_to_point(struct check* check) {
  for (size_t way = 0; way < sizeof kWays / sizeof *kWays; ++way) {
    unsigned number = 0;
    for (size_t size = 0; size <= check->largest; size = next_size(check, size), ++number) {
      step(check, "%s, %zu bytes", kWays[way].name, size);
      struct buffer out = buffer_make(check, size), in = buffer_make(check, size);
      MPI_Status status;
      struct exchange job = {check, (int)size, out.bytes, in.bytes, &status};
      buffer_fill(&out, 0, size, pattern(check->rank, next(check), number));
      kWays[way].run(&job);
      buffer_expect(check, &in, 0, size, pattern(before(check), check->rank, number));
      expect_status(check, &status, (int)size);
      buffer_free(check, &out);
      buffer_free(check, &in);
    }
  }
  for (size_t size = 0; size <= check->largest; size = next_size(check, size)) replace(check, size);
  for (size_t size = 0; size * (size_t)check->ranks <= check->largest;
       size = next_rare_size(check, size)) {
    between_all_pairs(check, size);
  }
}
