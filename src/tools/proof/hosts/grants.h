// Grants: what a client on another host may have the server's worker do. A request that is not
// listed here is refused: above all, none that sends. The worker's NIC answers what comes to it
// over connections that the client makes. Where they lead is believed: a client that can forge the
// address of its packets may have a read answered to somebody else.
//
//   Grants grants(opened);
//   if (Result<void> may = grants.permit(request); !may) return may.error();
#pragma once

#include <map>
#include <type_traits>

#include "proof/messages.h"

namespace gdr::proof {

template <typename Request>
inline constexpr bool kIsForGuests =
    std::is_same_v<Request, CreateBuffer> || std::is_same_v<Request, DestroyBuffer> ||
    std::is_same_v<Request, CreateQueue> || std::is_same_v<Request, Connect> ||
    std::is_same_v<Request, DestroyQueue> || std::is_same_v<Request, Steer> ||
    std::is_same_v<Request, Prepare> || std::is_same_v<Request, Fill> ||
    std::is_same_v<Request, Store> || std::is_same_v<Request, PostReceive> ||
    std::is_same_v<Request, AwaitReceive> || std::is_same_v<Request, Examine>;

class Grants {
 public:
  explicit Grants(Open::Reply opened) : opened_(std::move(opened)) {}

  // What the worker itself checks is not checked here: it knows its buffers and queue pairs.
  template <typename Request>
  Result<void> permit(const Request&) const {
    return {};
  }
  // Enough for the largest size in every kind of memory.
  Result<void> permit(const CreateBuffer& request) const;
  Result<void> permit(const CreateQueue& request) const;
  // Frames for this port's own addresses, to a UDP port of the private range.
  Result<void> permit(const Steer& request) const;
  Result<void> permit(const AwaitReceive& request) const;

  // Each is told what the worker has done.
  template <typename Request>
  void note(const Request&, const typename Request::Reply&) {}
  void note(const CreateBuffer& request, const CreateBuffer::Reply& reply);
  void note(const DestroyBuffer& request, const Nothing&);
  void note(const CreateQueue&, const CreateQueue::Reply&) { ++queues_; }
  void note(const DestroyQueue&, const Nothing&) { --queues_; }

 private:
  const Open::Reply opened_;
  std::map<std::uint32_t, std::uint64_t> buffers_;  // their sizes
  int queues_ = 0;
};

}  // namespace gdr::proof
