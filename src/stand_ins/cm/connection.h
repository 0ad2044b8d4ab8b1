// One connection, or one lookup of a datagram service (SIDR), as a state machine without I/O
// (InfiniBand specification 12.9): the caller brings messages and the time, and takes what is to be
// sent and what has happened.
//
//   Connection c(our_id, transaction);
//   c.request(req, now);                      // active; passive: c.receive(req, now) first
//   while (auto mad = c.poll_send()) send(*mad);
//   while (auto event = c.poll_event()) tell(*event);
//   c.expire(now) at c.deadline();
//
// Commands return false in a state that does not allow them, and then change nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "cm/message.h"

namespace gdr::cm {

using Time = std::uint64_t;  // nanoseconds

enum class State : std::uint8_t {
  kIdle,
  kReqSent,
  kReqReceived,
  kRepSent,
  kRepReceived,
  kEstablished,
  kDreqSent,
  kTimeWait,
  kClosed,
};

struct Event {
  enum Kind {
    kRequest,
    kReply,
    kEstablished,
    kRejected,
    kUnreachable,
    kDisconnected,
    kTimeWaitExit
  };
  Kind kind;
  int status = 0;     // kRejected: the reason, or SIDR status; otherwise 0 or -ETIMEDOUT
  Message message{};  // what brought it, if a message did
};

class Connection {
 public:
  Connection(std::uint32_t local_id, std::uint64_t transaction)
      : local_id_(local_id), transaction_(transaction) {}

  // Commands.
  bool request(const Message& req, Time now);  // REQ or SIDR_REQ
  bool reply(const Message& rep, Time now);    // REP or SIDR_REP to what was received
  bool ready(const Message& rtu, Time now);    // RTU: our queue pair is ready
  bool reject(Message rej, Time now);
  bool disconnect(Time now);
  bool establish(Time now);  // data came before the RTU did (IBV_EVENT_COMM_EST)
  // Nobody owns it any more: ends as politely as its state allows.
  void abandon(Time now);
  // The destination refuses datagrams: no need to wait for retries.
  void fail(int status);

  // Inputs.
  void receive(const Message& message, Time now);
  void expire(Time now);
  // The process at the other side has ended. What it said before may come later.
  void peer_ended(Time now);

  // Outputs.
  std::optional<Mad> poll_send();
  std::optional<Event> poll_event();
  std::optional<Time> deadline() const { return deadline_; }

  // Getters.
  State state() const { return state_; }
  std::uint32_t local_id() const { return local_id_; }
  std::uint32_t remote_id() const { return remote_id_; }
  bool active() const { return active_; }
  // The other side's offer and ours: what the queue pair's attributes are made of.
  const Message& remote() const { return remote_; }
  const Message& local() const { return local_; }

 private:
  void send(const Message& message) { sends_.push_back(write(message)); }
  void send_until_answered(const Message& message, Time now);
  void tell(Event::Kind kind, int status = 0, const Message* message = nullptr);
  void enter_time_wait(Time now);
  void close();
  void stop_waiting();
  Message answer(Kind kind) const;
  void on_request(const Message& message, Time now);
  void on_reply(const Message& message, Time now);
  void on_sidr_reply(const Message& message);
  void on_ready(const Message& message, Time now);
  void become_established(const Message* message, Time now);
  void on_reject(const Message& message, Time now);
  void on_disconnect(const Message& message, Time now);
  void on_wait(const Message& message, Time now);

  const std::uint32_t local_id_;
  const std::uint64_t transaction_;
  std::uint32_t remote_id_ = 0;
  State state_ = State::kIdle;
  bool active_ = false;
  bool datagram_ = false;
  bool peer_ended_ = false;
  bool disconnected_ = false;  // it was told; only then is the end of time wait
  Message local_, remote_;
  std::optional<Mad> unanswered_, last_answer_;
  unsigned sent_ = 0;  // how often unanswered_ has been sent
  std::optional<Time> deadline_;
  std::deque<Mad> sends_;
  std::deque<Event> events_;
};

}  // namespace gdr::cm
