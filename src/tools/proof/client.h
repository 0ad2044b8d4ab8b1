// Client: the other end of a worker. Every call is bounded in time, and a worker that died, hung or
// answered nonsense is an error that says so; after that every call fails at once.
//
//   Client peer = ...;   // see process.h
//   Result<Open::Reply> opened = peer.call(Open{verbs, cuda, nic, port, gpu});
#pragma once

#include <cerrno>
#include <functional>
#include <optional>
#include <string>

#include "process/conversation.h"
#include "proof/messages.h"

namespace gdr::proof {

using Talk = process::Conversation<Messages>;

// The codes of a Failure after which a server on another host answers no more. Its text says why:
// it ends the session, or the worker there has died, hung or answered nonsense.
constexpr int kSessionEnded = ESHUTDOWN, kWorkerLost = EOWNERDEAD;

constexpr Nanoseconds kStepTimeout = 5 * kSecond;
constexpr Nanoseconds kLongTimeout = 30 * kSecond;

class Client {
 public:
  // `post_mortem` tells why the other end may be gone ("killed by signal 11").
  Client(std::string name, process::Connection&& worker,
         std::function<std::string()> post_mortem = {})
      : name_(std::move(name)), talk_(std::move(worker)), post_mortem_(std::move(post_mortem)) {}

  template <typename Request>
  Result<typename Request::Reply> call(const Request& request, Nanoseconds timeout = kStepTimeout) {
    if (broken_) return *broken_;
    if (Result<void> sent = talk_.send(request); !sent) return lost(sent.error());
    const Result<process::Received> received = talk_.receive_any(timeout);
    if (!received) return lost(received.error());
    Result<typename Request::Reply> reply = Talk::take<typename Request::Reply>(*received);
    const bool refused = received->kind == Talk::number_of<Failure>();
    if (!reply && !refused) return lost({EBADMSG, reply.error().message});
    const int code = reply ? 0 : reply.error().code;
    if (code == kSessionEnded || code == kWorkerLost) broken_ = reply.error();
    return reply;
  }

  const std::string& name() const { return name_; }
  bool alive() const { return !broken_.has_value(); }
  // Why it is not.
  const std::optional<Error>& broken() const { return broken_; }

 private:
  Error lost(const Error& cause);

  std::string name_;
  Talk talk_;
  std::function<std::string()> post_mortem_;
  std::optional<Error> broken_;
};

}  // namespace gdr::proof
