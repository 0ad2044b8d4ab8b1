// Carrier: what carries out the work requests of queue pairs. An adapter has one for processes of
// this host (src/stand_ins/local) and may have one for what lies beyond it (src/stand_ins/net:
// packets between hosts). Which of the two a request is for is decided in rnic: for a connected
// queue pair at connect(), for a datagram when it is posted. One page, on purpose.
#pragma once

namespace gdr::memory {
class PeerMemoryClient;
}

namespace gdr::rnic {

class QueuePair;

class Carrier {
 public:
  virtual ~Carrier() = default;

  // Work requests were appended to the queue pair's send ring; its send lock is held by the caller.
  // While the front one is for this carrier (QueuePair::has_front_for): carries out what can be
  // carried out now, and sees to the rest later. Hot.
  virtual void send(QueuePair& queue_pair) = 0;

  // The same without carrying anything out before it returns: for the service thread.
  virtual void send_later(QueuePair& queue_pair) = 0;

  // The queue pair is about to enter ready-to-receive and will be this one's: learns where its
  // destination is. Of a datagram queue pair: gets ready for what arrives. 0 or errno.
  virtual int connect(QueuePair& queue_pair) = 0;

  // Gives up what is in progress for the queue pair's front request, if anything; called with its
  // send lock held, before the ring is flushed. Returns when no byte moves any more.
  virtual void cancel(QueuePair& queue_pair) = 0;
};

// What carries requests within the host.
class LocalCarrier : public Carrier {
 public:
  // Returns when every copy that it had begun for the queue pair as initiator has ended. No lock is
  // held by the caller. Cold.
  virtual void settle(QueuePair& queue_pair) = 0;
  // Whether none goes on, as far as is seen without waiting. Cold.
  virtual bool is_settled(QueuePair& queue_pair) = 0;
};

// What carries requests beyond the host.
class BeyondCarrier : public Carrier {
 public:
  // Takes what has arrived, on the thread that polls a completion queue. True: the queue is to be
  // looked at again, because something has, or because looking took as long as a neighbour needs to
  // complete a request. Hot.
  virtual bool progress() = 0;
  // The program has asked for a completion event, and may now sleep until one comes. Hot.
  virtual void awaits_event() = 0;
  // Service thread: a process of this user on this host, which had that slot, has ended.
  virtual void process_ended(std::uint32_t slot) = 0;
  // Whether datagrams of the queue pair to a multicast group leave this host.
  virtual bool carries_groups(QueuePair& queue_pair) = 0;
  // Memory that only that client can copy has been registered. Cold.
  virtual void serves_memory_of(memory::PeerMemoryClient& client) = 0;
  // Queue pairs of this process have joined or left groups. Cold.
  virtual void groups_changed() = 0;
  // Whether everything goes by packets, also what would stay on the host.
  virtual bool takes_everything() const = 0;
  // Around a fork.
  virtual void prepare_fork() = 0;
  virtual void parent_of_fork() = 0;
  virtual void child_of_fork() = 0;
};

}  // namespace gdr::rnic
