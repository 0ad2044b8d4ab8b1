#include "target.h"

#include <sys/socket.h>

#include "endpoint.h"
#include "give_up.h"
#include "messages.h"
#include "session.h"

namespace gdr::bench {
namespace {

void carry_out(Endpoint& endpoint, const BareEvents& bare_events, int socket,
               const Message& order) {
  Message answer = order;
  if (order.buffer >= kBuffers) give_up("an order for buffer {}", order.buffer);
  const auto id = static_cast<BufferId>(order.buffer);
  const int count = static_cast<int>(order.count);
  const bool sleeping = order.order == Order::kEventPingPong;
  switch (order.order) {
    case Order::kClear:
      endpoint.buffer(id).clear();
      break;
    case Order::kHash:
      answer.value = endpoint.buffer(id).hash(order.count);
      break;
    case Order::kPostReceives:
      endpoint.top_up_receives(count);
      break;
    case Order::kTakeReceives:
      endpoint.take_receives(count);
      break;
    case Order::kPingPong:
    case Order::kEventPingPong:
      endpoint.top_up_receives(kReceivesAhead);
      send_struct(socket, &answer, sizeof answer);
      endpoint.pong(count, kPingPongBytes, sleeping);
      return;
    case Order::kBarePingPong:
      send_struct(socket, &answer, sizeof answer);
      bare_events.pong(count);
      return;
  }
  send_struct(socket, &answer, sizeof answer);
}

}  // namespace

int run_target(int socket) {
  Endpoint endpoint;
  const Introduction own = endpoint.introduction();
  Introduction other;
  send_struct(socket, &own, sizeof own);
  receive_struct(socket, &other, sizeof other);
  endpoint.connect(other);
  send_struct(socket, &own, sizeof own);  // connected
  const BareEvents bare_events(other.bare_events);
  Message order;
  while (recv(socket, &order, sizeof order, 0) == static_cast<ssize_t>(sizeof order)) {
    carry_out(endpoint, bare_events, socket, order);
  }
  return 0;
}

}  // namespace gdr::bench
