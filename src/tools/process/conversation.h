// Conversation: what two processes tell each other, on one host or two: whole messages over a
// stream socket, with a bound on every wait. Its messages are a std::tuple of types
// (process/codec.h): the place of each is its number on the wire. A request names its reply; a
// Failure may come instead.
//
//   using Messages = std::tuple<Failure, Nothing, Open, Open::Reply>;
//   Conversation<Messages> talk(std::move(socket));
//   Result<Open::Reply> reply = talk.call(Open{"soft0"}, 30 * kSecond);
//
//   Result<Received> request = talk.receive_any(kSecond);   // the other side
//   Result<void> answered = talk.answer(*request, [&](const auto& asked) { return handle(asked);
//   });
#pragma once

#include <array>
#include <atomic>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "process/agreement.h"
#include "process/codec.h"
#include "process/frames.h"

namespace gdr::process {

constexpr std::size_t kLargestMessage = 4 << 20;
// For whoever has nothing to do but wait: the end of the other side ends it.
constexpr Nanoseconds kNoLimit = Nanoseconds{365} * 24 * 3600 * kSecond;

// Messages of any kind.
class Connection {
 public:
  // `stranger`: the error where what comes is no message at all.
  explicit Connection(UniqueFd fd, const char* stranger = "not a message of this program")
      : fd_(std::move(fd)), stranger_(stranger) {}
  // Both ends on this host.
  static Result<std::array<UniqueFd, 2>> pair();

  Result<void> send_raw(std::uint8_t kind, const Bytes& bytes);
  // After ETIMEDOUT it can be called again: what has come of a message is kept. ECONNRESET: the
  // other end is gone.
  Result<Received> receive_any(Nanoseconds timeout);

  // Once it is set, no wait goes on and no message is received: EINTR. It outlives this.
  void watch(const std::atomic<bool>& interrupted) { interrupted_ = &interrupted; }
  // Longer messages end the conversation. At first: kLargestMessage.
  void set_most(std::size_t bytes) { most_ = bytes; }
  // From here on each message is sealed (process/frames.h), and none is taken that the other side
  // of the agreement has not sealed: EBADMSG.
  void seal(const Agreement& agreement, Side self);

  // To wait for it together with others. After that, receive_any(0).
  int descriptor() const { return fd_.get(); }

  // The other end has closed its side, or has died. Also while another thread waits for an answer.
  bool is_closed() const;

 private:
  Result<void> read_until(std::size_t bytes, Nanoseconds deadline);
  Result<void> wait_for(short events, Nanoseconds deadline) const;

  UniqueFd fd_;
  const char* stranger_;
  const std::atomic<bool>* interrupted_ = nullptr;
  std::size_t most_ = kLargestMessage;
  std::optional<Seal> leaving_seal_, arriving_seal_;
  Bytes arriving_;  // of the next message, its head included
  std::size_t arrived_ = 0;
};

// Waits until the descriptor is ready, or `interrupted` is set.
Result<void> wait_for(int fd, short events, Nanoseconds deadline,
                      const std::atomic<bool>* interrupted = nullptr);

Error unexpected(std::uint8_t kind);

template <typename Messages>
class Conversation : public Connection {
 public:
  using Connection::Connection;
  // One of another kind goes on as this one, between two messages.
  explicit Conversation(Connection&& connection) : Connection(std::move(connection)) {}

  template <typename Message>
  static constexpr std::uint8_t number_of() {
    return place_in<Message, Messages>();
  }

  template <typename Message>
  Result<void> send(const Message& message) {
    return send_raw(number_of<Message>(), encode(message));
  }
  // A Failure that arrives instead is its Error.
  template <typename Message>
  Result<Message> receive(Nanoseconds timeout) {
    Result<Received> received = receive_any(timeout);
    if (!received) return received.error();
    return take<Message>(*received);
  }
  template <typename Request>
  Result<typename Request::Reply> call(const Request& request, Nanoseconds timeout) {
    if (Result<void> sent = send(request); !sent) return sent.error();
    return receive<typename Request::Reply>(timeout);
  }
  template <typename Message>
  static Result<Message> take(const Received& received) {
    if (received.kind == number_of<Failure>()) {
      Result<Failure> failure = decode<Failure>(received.bytes);
      return failure ? Error{failure->code, failure->text} : failure.error();
    }
    if (received.kind != number_of<Message>()) return unexpected(received.kind);
    return decode<Message>(received.bytes);
  }

  // Sends what `handle` returns for the request that was received: its reply, or a Failure for its
  // error. Requests are those that it can be called with. An error here: it is none, or malformed,
  // or the reply could not be sent.
  template <typename Handle>
  Result<void> answer(const Received& received, Handle handle) {
    return answer(received, handle, std::make_index_sequence<std::tuple_size_v<Messages>>());
  }

 private:
  template <typename Handle, std::size_t... I>
  Result<void> answer(const Received& received, Handle& handle, std::index_sequence<I...>) {
    Result<void> answered = unexpected(received.kind);
    (void)((received.kind == I &&
            answer_as<std::tuple_element_t<I, Messages>>(received, handle, answered)) ||
           ...);
    return answered;
  }
  template <typename Message, typename Handle>
  bool answer_as(const Received& received, Handle& handle, Result<void>& answered) {
    if constexpr (std::is_invocable_v<Handle&, const Message&>) {
      Result<Message> request = decode<Message>(received.bytes);
      if (!request) {
        answered = request.error();
        return true;
      }
      const auto reply = handle(*request);
      answered = reply ? send(*reply) : send(Failure{reply.error().code, reply.error().message});
    }
    return true;
  }
};

}  // namespace gdr::process
