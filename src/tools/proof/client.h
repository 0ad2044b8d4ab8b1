// Client: the other end of a worker. Every call is bounded in time, and a worker that died, hung or
// answered nonsense is an error that says so; after that every call fails at once.
//
//   Client peer = ...;   // see process.h
//   Result<Open::Reply> opened = peer.call(Open{verbs, cuda, nic, port, gpu});
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "proof/channel.h"
#include "proof/messages.h"

namespace gdr::proof {

constexpr Nanoseconds kStepTimeout = 5 * kSecond;
constexpr Nanoseconds kLongTimeout = 30 * kSecond;

class Client {
 public:
  // `post_mortem` tells why the other end may be gone ("killed by signal 11").
  Client(std::string name, UniqueFd fd, std::function<std::string()> post_mortem = {})
      : name_(std::move(name)), channel_(std::move(fd)), post_mortem_(std::move(post_mortem)) {}

  template <typename Request>
  Result<typename Request::Reply> call(const Request& request, Nanoseconds timeout = kStepTimeout) {
    if (Result<void> sent = begin(request); !sent) return sent.error();
    return finish<Request>(timeout);
  }

  // In two halves, so that both workers can be at work at once.
  template <typename Request>
  Result<void> begin(const Request& request) {
    return send(request_number<Request>(), encode(request));
  }
  template <typename Request>
  Result<typename Request::Reply> finish(Nanoseconds timeout) {
    Result<Bytes> body = receive(timeout);
    if (!body) return body.error();
    Result<typename Request::Reply> reply = decode<typename Request::Reply>(*body);
    if (!reply) {
      broken_ = Error{EBADMSG, name_ + " sent a malformed answer"};
      return *broken_;
    }
    return reply;
  }

  const std::string& name() const { return name_; }
  bool alive() const { return !broken_.has_value(); }

 private:
  Result<void> send(std::uint8_t number, const Bytes& body);
  Result<Bytes> receive(Nanoseconds timeout);
  Error lost(const Error& cause);

  std::string name_;
  Channel channel_;
  std::function<std::string()> post_mortem_;
  std::optional<Error> broken_;
};

}  // namespace gdr::proof
