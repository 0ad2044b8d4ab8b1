#include <algorithm>
#include <span>

#include "proof/worker.h"

namespace gdr::proof {
namespace {

Bytes answer(bool ok, const Bytes& body) {
  Bytes message(body.size() + 1);
  message[0] = std::byte{ok};
  std::copy(body.begin(), body.end(), message.begin() + 1);
  return message;
}

Bytes refuse(const Error& error) {
  return answer(false, encode(Failure{error.code, error.message}));
}

template <typename Request>
Bytes respond(Worker& worker, std::span<const std::byte> body) {
  Result<Request> request = decode<Request>(body);
  if (!request) return refuse(request.error());
  auto reply = worker.handle(*request);
  return reply ? answer(true, encode(*reply)) : refuse(reply.error());
}

template <std::size_t I = 0>
Bytes dispatch(std::size_t number, Worker& worker, std::span<const std::byte> body) {
  if constexpr (I == std::tuple_size_v<Requests>) {
    return refuse({EBADMSG, "unknown request"});
  } else if (number == I) {
    return respond<std::tuple_element_t<I, Requests>>(worker, body);
  } else {
    return dispatch<I + 1>(number, worker, body);
  }
}

}  // namespace

int serve(Worker& worker, Channel& channel) {
  for (;;) {
    Result<Bytes> request = channel.receive(0);
    if (!request) return request.error().code == ECONNRESET ? 0 : 1;
    if (request->empty()) return 1;
    const auto number = std::to_integer<std::size_t>(request->front());
    const Bytes reply = dispatch(number, worker, std::span(*request).subspan(1));
    if (!channel.send(reply)) return 1;
  }
}

}  // namespace gdr::proof
