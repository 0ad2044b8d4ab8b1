// EventPipe: what lies behind a completion channel's descriptor: a pipe with a record for each
// event that was raised and has not been taken. The program has the reading end, so that it can
// poll it, make it non-blocking and sleep in it. Whoever raises an event writes a record: this
// process, or an initiator in another one, which wakes the program by that and needs nobody in
// between.
//
//   Result<EventPipe> pipe = EventPipe::make();
//   pipe->put(queue);                       // any thread; 0, or EAGAIN: it is full
//   int error = pipe->wait(&queue);         // as the program's descriptor says: may be EAGAIN,
//   EINTR
//
// The events themselves are counted in the segment (completion_ring.h): first counted there, then
// written here; first read here, then taken there. So each record has an event, and a descriptor is
// readable only if there is one. What a record says is a hint where to look: whoever may open the
// pipe may have written anything, and a record without an event is passed over.
//
// A pipe and not an eventfd or a socket: each process opens the pipe for itself by /proc, where the
// kernel checks the right to do so, and then has flags of its own (nobody can make anybody else's
// call wait), and a pipe cannot be shut down. And its wake-up takes two thirds of a socket's time.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gdr::rnic {

// How another process finds it: a descriptor of the owner's, and what that has to be.
struct EventPipeName {
  std::int32_t descriptor = -1;
  std::uint32_t inode = 0;  // 0: it cannot be opened
};

// Whether it is the pipe of that name, or one that was opened by it. A program may have closed it
// and have opened something else under its number.
bool is_event_pipe(int descriptor, std::uint32_t inode);
// Writes a record: 0, or EAGAIN if it is full, or EBADF if it is another file by now. Does not wait
// if the descriptor is non-blocking.
int put_event(int descriptor, std::uint32_t inode, std::uint32_t queue);

class EventPipe {
 public:
  static Result<EventPipe> make();

  int descriptor() const { return shown_.get(); }  // the program's
  EventPipeName name() const { return name_; }

  int put(std::uint32_t queue) const { return put_event(own_.get(), inode_, queue); }
  // EAGAIN: there is none.
  int take_now(std::uint32_t* queue) const;
  // Waits unless the program has made its descriptor non-blocking.
  int wait(std::uint32_t* queue) const;
  bool is_empty() const;
  // Whether the program's descriptor still is this pipe.
  bool is_shown() const { return is_event_pipe(shown_.get(), inode_); }

 private:
  int read_from(int descriptor, std::uint32_t* queue) const;

  UniqueFd shown_;
  // For reading and writing, with flags of its own: a pipe that this process reads raises no
  // SIGPIPE, even if the program closes its descriptor. Without /proc it can only be written, and
  // `reader_` stands in.
  UniqueFd own_, reader_;
  std::uint32_t inode_ = 0;
  EventPipeName name_;
};

}  // namespace gdr::rnic
