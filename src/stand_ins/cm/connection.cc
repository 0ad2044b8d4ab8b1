#include "cm/connection.h"

#include <algorithm>
#include <cerrno>

namespace gdr::cm {
namespace {

constexpr Time kMillisecond = 1'000'000;
// A lost message is repeated soon, and a silent peer is given up after about a minute, as Linux
// does.
constexpr Time kFirstWait = 250 * kMillisecond, kLongestWait = 4096 * kMillisecond;
constexpr unsigned kMaxSends = 16;
constexpr Time kTimeWait = 2200 * kMillisecond;
// How long what a process said before it ended may still be on its way here.
constexpr Time kLastWords = 1000 * kMillisecond;
constexpr std::uint8_t kServiceTimeout = 24;  // of our MRA: 69 s, as Linux asks for
constexpr std::uint8_t kMaxServiceTimeout = 24;

Time wait_after(unsigned sent) {
  return sent > 4 ? kLongestWait : std::min(kFirstWait << (sent - 1), kLongestWait);
}

}  // namespace

bool Connection::request(const Message& req, Time now) {
  if (state_ != State::kIdle) return false;
  active_ = true;
  datagram_ = req.kind == Kind::kSidrReq;
  local_ = req;
  local_.local_id = local_id_;
  local_.transaction = transaction_;
  state_ = State::kReqSent;
  send_until_answered(local_, now);
  return true;
}

bool Connection::reply(const Message& rep, Time now) {
  if (state_ != State::kReqReceived) return false;
  local_ = rep;
  local_.local_id = local_id_;
  local_.remote_id = remote_id_;
  local_.transaction = remote_.transaction;
  if (datagram_) {
    last_answer_ = write(local_);
    sends_.push_back(*last_answer_);
    enter_time_wait(now);
    return true;
  }
  state_ = State::kRepSent;
  send_until_answered(local_, now);
  return true;
}

bool Connection::ready(const Message& rtu, Time) {
  if (state_ != State::kRepReceived) return false;
  Message message = rtu;
  message.kind = Kind::kRtu;
  message.local_id = local_id_;
  message.remote_id = remote_id_;
  message.transaction = transaction_;
  last_answer_ = write(message);
  sends_.push_back(*last_answer_);
  state_ = State::kEstablished;
  stop_waiting();
  return true;
}

bool Connection::reject(Message rej, Time now) {
  if (state_ != State::kReqReceived && state_ != State::kRepReceived && state_ != State::kReqSent &&
      state_ != State::kRepSent) {
    return false;
  }
  rej.kind = Kind::kRej;
  rej.local_id = state_ == State::kReqReceived ? 0 : local_id_;
  rej.remote_id = remote_id_;
  rej.transaction = active_ ? transaction_ : remote_.transaction;
  rej.subject =
      active_ ? (state_ == State::kReqSent ? Subject::kOther : Subject::kRep) : Subject::kReq;
  last_answer_ = write(rej);
  sends_.push_back(*last_answer_);
  enter_time_wait(now);
  return true;
}

bool Connection::disconnect(Time now) {
  if (state_ != State::kEstablished && state_ != State::kRepSent) return false;
  Message dreq = answer(Kind::kDreq);
  dreq.transaction = transaction_;
  dreq.remote_qp_number = remote_.offer.qp_number;
  state_ = State::kDreqSent;
  send_until_answered(dreq, now);
  if (peer_ended_) peer_ended(now);
  return true;
}

bool Connection::establish(Time now) {
  if (state_ != State::kRepSent) return false;
  become_established(nullptr, now);
  return true;
}

void Connection::abandon(Time now) {
  switch (state_) {
    case State::kReqSent:
      if (datagram_) return close();
      reject({.reason = kRejectTimeout}, now);
      break;
    case State::kReqReceived:
      if (datagram_) {
        reply({.kind = Kind::kSidrRep, .service_id = remote_.service_id, .status = kSidrRejected},
              now);
        break;
      }
      [[fallthrough]];
    case State::kRepReceived:
      reject({.reason = kRejectConsumerDefined}, now);
      break;
    case State::kRepSent:
    case State::kEstablished:
      disconnect(now);
      break;
    case State::kIdle:
      close();
      break;
    default:
      break;
  }
}

void Connection::fail(int status) {
  if (state_ != State::kReqSent) return;
  close();
  tell(status > 0 ? Event::kRejected : Event::kUnreachable, status);
}

void Connection::receive(const Message& message, Time now) {
  switch (message.kind) {
    case Kind::kReq:
    case Kind::kSidrReq:
      return on_request(message, now);
    case Kind::kRep:
      return on_reply(message, now);
    case Kind::kSidrRep:
      return on_sidr_reply(message);
    case Kind::kRtu:
      return on_ready(message, now);
    case Kind::kRej:
      return on_reject(message, now);
    case Kind::kDreq:
      return on_disconnect(message, now);
    case Kind::kDrep:
      if (state_ == State::kDreqSent && message.remote_id == local_id_) {
        enter_time_wait(now);
        tell(Event::kDisconnected, 0, &message);
      }
      return;
    case Kind::kMra:
      return on_wait(message, now);
  }
}

void Connection::expire(Time now) {
  if (!deadline_ || now < *deadline_) return;
  if (state_ == State::kTimeWait) {
    close();
    if (disconnected_) tell(Event::kTimeWaitExit);
    return;
  }
  if (!unanswered_) return stop_waiting();
  if (peer_ended_ && state_ == State::kRepSent) {
    enter_time_wait(now);
    return tell(Event::kRejected, kRejectConsumerDefined);
  }
  if (sent_ < kMaxSends) {
    sends_.push_back(*unanswered_);
    deadline_ = now + wait_after(++sent_);
    return;
  }
  if (state_ == State::kDreqSent) {
    enter_time_wait(now);
    tell(Event::kDisconnected, -ETIMEDOUT);
    return;
  }
  if (!datagram_) {
    reject({.reason = kRejectTimeout}, now);
  } else {
    close();
  }
  tell(Event::kUnreachable, -ETIMEDOUT);
}

// What the kernel says in the name of a process that has been killed: it disconnects, takes its
// request back, or rejects the reply to it.
void Connection::peer_ended(Time now) {
  if (datagram_) return;
  peer_ended_ = true;
  if (state_ == State::kRepSent) {
    deadline_ = now + kLastWords;  // its confirmation may come yet
  } else if (state_ == State::kReqReceived) {
    enter_time_wait(now);
    tell(Event::kRejected, kRejectTimeout);
  } else if (state_ == State::kReqSent) {
    close();  // it had asked for patience
    tell(Event::kRejected, kRejectConsumerDefined);
  } else if (state_ == State::kEstablished || state_ == State::kDreqSent) {
    enter_time_wait(now);
    tell(Event::kDisconnected);
  }
}

std::optional<Mad> Connection::poll_send() {
  if (sends_.empty()) return std::nullopt;
  const Mad mad = sends_.front();
  sends_.pop_front();
  return mad;
}

std::optional<Event> Connection::poll_event() {
  if (events_.empty()) return std::nullopt;
  const Event event = events_.front();
  events_.pop_front();
  return event;
}

void Connection::send_until_answered(const Message& message, Time now) {
  unanswered_ = write(message);
  sends_.push_back(*unanswered_);
  sent_ = 1;
  deadline_ = now + wait_after(1);
}

void Connection::tell(Event::Kind kind, int status, const Message* message) {
  disconnected_ |= kind == Event::kDisconnected;
  events_.push_back({kind, status, message != nullptr ? *message : Message{}});
}

void Connection::stop_waiting() {
  unanswered_.reset();
  deadline_.reset();
}

void Connection::enter_time_wait(Time now) {
  stop_waiting();
  state_ = State::kTimeWait;
  deadline_ = now + kTimeWait;
}

void Connection::close() {
  stop_waiting();
  state_ = State::kClosed;
}

Message Connection::answer(Kind kind) const {
  Message message;
  message.kind = kind;
  message.local_id = local_id_;
  message.remote_id = remote_id_;
  message.transaction = remote_.transaction;
  return message;
}

void Connection::on_request(const Message& message, Time now) {
  if (state_ == State::kIdle) {
    remote_ = message;
    remote_id_ = message.local_id;
    datagram_ = message.kind == Kind::kSidrReq;
    state_ = State::kReqReceived;
    tell(Event::kRequest, 0, &message);
    return;
  }
  if (active_ || message.local_id != remote_id_) return;
  // A repeated request (12.9.8.3.1): the same answer once more, or that one is being thought about.
  if (state_ == State::kReqReceived && !datagram_) {
    Message mra = answer(Kind::kMra);
    mra.subject = Subject::kReq;
    mra.service_timeout = kServiceTimeout;
    send(mra);
  } else if (state_ == State::kRepSent && unanswered_) {
    sends_.push_back(*unanswered_);
  } else if (state_ == State::kTimeWait && last_answer_) {
    sends_.push_back(*last_answer_);
  }
  static_cast<void>(now);
}

void Connection::on_reply(const Message& message, Time) {
  if (message.remote_id != local_id_ || !active_) return;
  if (state_ == State::kReqSent) {
    remote_ = message;
    remote_id_ = message.local_id;
    state_ = State::kRepReceived;
    stop_waiting();
    tell(Event::kReply, 0, &message);
  } else if (message.local_id == remote_id_ && last_answer_ &&
             (state_ == State::kEstablished || state_ == State::kTimeWait)) {
    sends_.push_back(*last_answer_);  // our RTU or REJ was lost
  } else if (message.local_id == remote_id_ && state_ == State::kRepReceived) {
    Message mra = answer(Kind::kMra);
    mra.subject = Subject::kRep;
    mra.service_timeout = kServiceTimeout;
    send(mra);
  }
}

void Connection::on_sidr_reply(const Message& message) {
  if (state_ != State::kReqSent || !datagram_ || message.remote_id != local_id_) return;
  remote_ = message;
  close();
  if (message.status != 0) {
    tell(Event::kUnreachable, message.status, &message);
  } else {
    tell(Event::kEstablished, 0, &message);
  }
}

void Connection::on_ready(const Message& message, Time now) {
  if (state_ != State::kRepSent || message.remote_id != local_id_) return;
  become_established(&message, now);
}

void Connection::become_established(const Message* message, Time now) {
  stop_waiting();
  state_ = State::kEstablished;
  tell(Event::kEstablished, 0, message);
  if (peer_ended_) peer_ended(now);
}

void Connection::on_reject(const Message& message, Time now) {
  const bool ours = message.remote_id == local_id_ ||
                    (message.remote_id == 0 && remote_id_ != 0 && message.local_id == remote_id_);
  if (!ours || datagram_) return;
  switch (state_) {
    case State::kReqSent:
    case State::kRepSent:
    case State::kReqReceived:
    case State::kRepReceived:
      enter_time_wait(now);
      if (active_ && message.subject == Subject::kReq) close();
      tell(Event::kRejected, message.reason, &message);
      return;
    case State::kEstablished:
    case State::kDreqSent:
      enter_time_wait(now);
      tell(Event::kDisconnected, 0, &message);
      return;
    default:
      return;
  }
}

void Connection::on_disconnect(const Message& message, Time now) {
  if (message.remote_id != local_id_ || message.local_id != remote_id_) return;
  Message drep = answer(Kind::kDrep);
  drep.transaction = message.transaction;
  switch (state_) {
    case State::kRepSent:
    case State::kRepReceived:
    case State::kEstablished:
    case State::kDreqSent:
      last_answer_ = write(drep);
      sends_.push_back(*last_answer_);
      enter_time_wait(now);
      tell(Event::kDisconnected, 0, &message);
      return;
    case State::kTimeWait:
      send(drep);
      return;
    default:
      return;
  }
}

void Connection::on_wait(const Message& message, Time now) {
  const bool answers = (state_ == State::kReqSent && message.subject == Subject::kReq) ||
                       (state_ == State::kRepSent && message.subject == Subject::kRep);
  if (message.remote_id != local_id_ || !answers || datagram_ || peer_ended_) return;
  // 4.096 us times 2 to the power of the timeout; no peer may ask for hours.
  if (state_ == State::kReqSent) remote_id_ = message.local_id;  // whose end is to be told
  const unsigned exponent = std::min(message.service_timeout, kMaxServiceTimeout);
  deadline_ = now + (Time{4096} << exponent);
}

}  // namespace gdr::cm
