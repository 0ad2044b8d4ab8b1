// Carrier: what carries out the work requests of queue pairs. An adapter has one, its Path
// (src/stand_ins/local: processes of one host). That one may hand a queue pair over at connect()
// (QueuePair::take_carrier), or single datagrams, to the BeyondPath (src/stand_ins/net: packets
// between hosts). One page, on purpose.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "rnic/shared.h"

namespace gdr::rnic {

class QueuePair;
class Segment;

class Carrier {
 public:
  virtual ~Carrier() = default;

  // Work requests were appended to the queue pair's send ring; its send lock is held by the caller.
  // Carries out what can be carried out now, from the front, and sees to the rest later. Hot.
  virtual void send(QueuePair& queue_pair) = 0;

  // The same without carrying anything out before it returns: for the service thread.
  virtual void send_later(QueuePair& queue_pair) = 0;

  // The queue pair is about to enter ready-to-receive: learn where its destination is, or, beyond
  // the host, take it over. Of a datagram queue pair: gets ready for what arrives. 0 or errno.
  virtual int connect(QueuePair& queue_pair) = 0;

  // Gives up what is in progress for the queue pair's front request, if anything; called with its
  // send lock held, before the ring is flushed. Returns when no byte moves any more.
  virtual void cancel(QueuePair& queue_pair) = 0;
};

class Path : public Carrier {
 public:
  // A receive was posted while the process in that slot was waiting for one.
  virtual void receive_posted(std::uint32_t slot) = 0;

  // Returns when every copy that this process's threads had begun has ended: for these queue pairs
  // as initiators, and for other processes that asked this one to copy. No lock is held by the
  // caller. Cold.
  virtual void settle(std::span<const std::shared_ptr<QueuePair>> queue_pairs) = 0;

  // Whether `holds` says so of the segment of any other process. Cold.
  virtual bool any_segment(const std::function<bool(Segment&)>& holds) = 0;

  // How often this process's service thread has begun or ended a copy for another process: odd
  // while it is at one.
  virtual std::uint64_t copies_for_others() = 0;

  // Has Adapter::serve called soon, by the service thread.
  virtual void wake_service() = 0;

  // What other processes may open of this one's memory has changed: they are told.
  virtual void exports_changed() = 0;
};

// What a path hands over that does not stay on its host.
class BeyondPath : public Carrier {
 public:
  // Sends the front request of a datagram queue pair and completes it. Under its send lock. Hot.
  virtual void datagram(QueuePair& queue_pair) = 0;
  // Takes what has arrived, on the thread that polls a completion queue. False: nothing has. Hot.
  virtual bool progress() = 0;
  // The program has asked for a completion event, and may now sleep until one comes. Hot.
  virtual void awaits_event() = 0;
  // Whether everything goes by packets, also what would stay on the host.
  virtual bool takes_everything() const = 0;
  // Around a fork.
  virtual void prepare_fork() = 0;
  virtual void parent_of_fork() = 0;
  virtual void child_of_fork() = 0;
};

}  // namespace gdr::rnic
