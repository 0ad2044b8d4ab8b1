#include "engine/connection.h"

#include <optional>

#include "engine/requester.h"
#include "engine/responder.h"
#include "engine/unreliable_requester.h"

namespace gdr::engine {
namespace {

// Answers come before requests, but a long read does not keep requests waiting.
constexpr std::uint32_t kRepliesInARow = 16;
constexpr Nanoseconds kBetweenCongestionNotices = 50 * kMicrosecond;

}  // namespace

struct Connection::Parts {
  Parts(const ConnectionSettings& given, Owner& its_owner)
      : settings(given), owner(its_owner), responder(given, its_owner) {}

  bool poll_congestion(Transmit* transmit);
  bool poll_answer(Transmit* transmit);
  bool poll_request(Nanoseconds now, Transmit* transmit);
  void stop_if_failed();

  ConnectionSettings settings;
  Owner& owner;
  Responder responder;
  std::optional<Requester> requester;
  std::optional<UnreliableRequester> unreliable;
  std::uint32_t replies_in_a_row = 0;
  bool congestion_due = false;
  Nanoseconds congestion_told_at = 0;
};

Connection::Connection(const ConnectionSettings& settings, Owner& owner)
    : parts_(std::make_unique<Parts>(settings, owner)) {}

Connection::~Connection() = default;

void Connection::start_sending(const SendSettings& settings) {
  if (parts_->settings.transport == wire::Transport::kUnreliableConnection) {
    parts_->unreliable.emplace(parts_->settings, settings, parts_->owner);
  } else {
    parts_->requester.emplace(parts_->settings, settings, parts_->owner);
  }
}

void Connection::receive(const wire::Packet& packet, Nanoseconds now, bool congested) {
  Parts& parts = *parts_;
  sent();
  if (congested && now - parts.congestion_told_at >= kBetweenCongestionNotices) {
    parts.congestion_due = true;
    parts.congestion_told_at = now;
  }
  if (packet.transport() == wire::Transport::kCongestion) {
    if (parts.requester) parts.requester->congested(now);
    return;
  }
  if (packet.transport() != parts.settings.transport) {
    return parts.owner.count(Event::kInvalidRequest);
  }
  if (packet.info->is(wire::kRequest)) {
    parts.responder.receive(packet);
    parts.stop_if_failed();
  } else if (parts.requester) {
    parts.requester->receive(packet, now);
  } else {
    parts.owner.count(Event::kUnexpectedResponse);
  }
}

void Connection::posted(Nanoseconds) { sent(); }

void Connection::sent() {
  if (parts_->unreliable) parts_->unreliable->sent();
}

void Connection::receive_posted(Nanoseconds) { parts_->responder.receive_posted(); }

void Connection::handle_timeout(Nanoseconds now) {
  sent();
  if (parts_->requester) parts_->requester->handle_timeout(now);
}

void Connection::payload_unavailable(const Transmit& transmit, Nanoseconds now) {
  if (transmit.source == Source::kRegion) {
    parts_->responder.payload_unavailable(transmit);
  } else if (parts_->requester) {
    parts_->requester->payload_unavailable(transmit, now);
  } else if (parts_->unreliable) {
    parts_->unreliable->payload_unavailable(transmit);
  }
}

bool Connection::poll_transmit(Nanoseconds now, Transmit* transmit) {
  Parts& parts = *parts_;
  if (parts.poll_congestion(transmit)) return true;
  const bool requests_first = parts.replies_in_a_row >= kRepliesInARow;
  if (requests_first) {
    parts.replies_in_a_row = 0;
    if (parts.poll_request(now, transmit)) return true;
  }
  if (parts.poll_answer(transmit)) {
    if (parts.responder.is_reading()) ++parts.replies_in_a_row;
    return true;
  }
  return !requests_first && parts.poll_request(now, transmit);
}

bool Connection::poll_answer(Transmit* transmit) {
  return parts_->poll_congestion(transmit) || parts_->poll_answer(transmit);
}

Nanoseconds Connection::next_timeout() const {
  if (parts_->unreliable) return parts_->unreliable->next_timeout();
  return parts_->requester ? parts_->requester->next_timeout() : kNever;
}

bool Connection::Parts::poll_congestion(Transmit* transmit) {
  if (!congestion_due) return false;
  congestion_due = false;
  const PacketMaker maker(settings.transport, settings.destination_qp);
  maker.begin(wire::Operation::kAcknowledge, 0, transmit);
  transmit->packet.opcode = wire::kCongestionNotification;
  transmit->packet.info = wire::find_opcode(wire::kCongestionNotification);
  transmit->packet.becn = true;
  return true;
}

bool Connection::Parts::poll_answer(Transmit* transmit) {
  if (!responder.poll_transmit(transmit)) return false;
  stop_if_failed();
  return true;
}

bool Connection::Parts::poll_request(Nanoseconds now, Transmit* transmit) {
  if (requester) return requester->poll_transmit(now, transmit);
  return unreliable && unreliable->poll_transmit(transmit);
}

// A queue pair in error sends nothing more.
void Connection::Parts::stop_if_failed() {
  if (!responder.failed()) return;
  if (requester) requester->stop();
  if (unreliable) unreliable->stop();
}

}  // namespace gdr::engine
