// Control: the connection between client and server of `gdr perf`, over which the client says what
// to do: whole messages over a stream socket, with a bound on every wait.
//
//   Result<Control> control = Control::connect("node7", 18600, 5 * kSecond);
//   Result<SetUp::Reply> reply = control->call(SetUp{load, largest}, 30 * kSecond);
#pragma once

#include <atomic>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "perf/messages.h"

namespace gdr::perf {

constexpr std::size_t kLargestMessage = 4 << 20;
// Until it is known that the other side may talk at all.
constexpr std::size_t kLargestGreeting = 4 << 10;

struct Received {
  std::uint8_t kind = 0;
  process::Bytes bytes;
};

class Control {
 public:
  explicit Control(UniqueFd fd) : fd_(std::move(fd)) {}
  static Result<Control> connect(const std::string& host, std::uint16_t port, Nanoseconds timeout);

  template <typename Message>
  Result<void> send(const Message& message) {
    return send_raw(number_of<Message>(), process::encode(message));
  }
  // A Failure that arrives instead is its Error. ECONNRESET: the other end is gone.
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
  // Whatever comes: its kind is number_of<...>(). After ETIMEDOUT it can be called again: what has
  // come of a message is kept.
  Result<Received> receive_any(Nanoseconds timeout);
  template <typename Message>
  static Result<Message> take(const Received& received) {
    if (received.kind == number_of<Failure>()) {
      Result<Failure> failure = process::decode<Failure>(received.bytes);
      return failure ? Error{failure->code, failure->text} : failure.error();
    }
    if (received.kind != number_of<Message>()) return unexpected(received.kind);
    return process::decode<Message>(received.bytes);
  }

  // No wait goes on once it is set: EINTR. It outlives this.
  void watch(const std::atomic<bool>& interrupted) { interrupted_ = &interrupted; }
  // Longer messages end the conversation. At first: kLargestMessage.
  void set_most(std::size_t bytes) { most_ = bytes; }

  // The other end has closed its side, or has died. Also while another thread waits for an answer.
  bool is_closed() const;

 private:
  static Error unexpected(std::uint8_t kind);
  Result<void> send_raw(std::uint8_t kind, const process::Bytes& bytes);
  Result<void> read_until(std::size_t bytes, Nanoseconds deadline);
  Result<void> wait_for(short events, Nanoseconds deadline) const;

  UniqueFd fd_;
  const std::atomic<bool>* interrupted_ = nullptr;
  std::size_t most_ = kLargestMessage;
  process::Bytes arriving_;  // of the next message, its head included
  std::size_t arrived_ = 0;
};

}  // namespace gdr::perf
