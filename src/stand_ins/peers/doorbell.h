// Doorbell: wakes a process's service thread. Two connected datagram sockets: peers are handed the
// outer one to ring by, the inner one stays here.
//
// Whoever is handed a descriptor shares its flags and can make a call that relies on O_NONBLOCK
// wait for ever, so each call says for itself that it does not wait. An eventfd could be read and
// written without waiting by its flags alone.
//
//   Result<Doorbell> doorbell = Doorbell::make();
//   ring_doorbell(doorbell->outer.get());      // somewhere else
//   doorbell->take_ring();                     // once the inner one can be read
#pragma once

#include "base/result.h"
#include "base/unique_fd.h"

namespace gdr::peers {

struct Doorbell {
  UniqueFd inner;
  UniqueFd outer;

  static Result<Doorbell> make();
  // One at a time: whoever rings sees whether somebody has already, so there is seldom a second
  // one.
  void take_ring() const;
};

// Whether ringing by this descriptor reaches nothing but a socket of this host.
bool is_doorbell(int outer);
// Does nothing if it is full: the thread is about to wake up then.
void ring_doorbell(int outer);

}  // namespace gdr::peers
