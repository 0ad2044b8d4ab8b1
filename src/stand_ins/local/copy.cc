#include "local/copy.h"

namespace gdr::local {

using peers::Peer;
using rnic::service_word;
using rnic::ServiceState;

namespace {

// A service thread that does not answer for so long is stopped, or has lost the request.
constexpr Nanoseconds kPatience = 30 * kSecond;

// A free place in the owner's table of requests, claimed; null when all are taken.
rnic::ServiceRequest* claim(rnic::Segment& segment, rnic::Token self) {
  for (std::uint32_t i = 0; i < rnic::kServiceRequests; ++i) {
    rnic::ServiceRequest& request = segment.service_request(i);
    std::uint64_t free = 0;
    if (request.word.load(std::memory_order_relaxed) == 0 &&
        request.word.compare_exchange_strong(free, service_word(self, ServiceState::kWriting))) {
      return &request;
    }
  }
  return nullptr;
}

}  // namespace

void Copy::start_here(memory::PeerMemoryClient& client, Side to, Side from, std::uint64_t length,
                      Turn turn) {
  client_ = &client;
  Result<memory::PeerMemoryClient::Ticket> ticket = client_->start_copy(to, from, length, turn);
  if (!ticket && ticket.error().code == EAGAIN) return;
  if (!ticket) return set_done(ticket.error().code);
  ticket_ = *ticket;
  state_ = State::kDevice;
}

void Copy::start_with_host(const memory::PinnedMemory& memory, std::uint64_t address, void* host,
                           std::uint64_t length, bool write, Turn turn) {
  const Side there = memory.side_at(address);
  const Side here{reinterpret_cast<std::uint64_t>(host), nullptr};
  start_here(memory.client(), write ? there : here, write ? here : there, length, turn);
}

void Copy::start_served(const Piece& piece, std::uint64_t offset, std::uint64_t length, bool write,
                        Peer& peer, rnic::Token self, std::uint64_t staging) {
  rnic::ServiceRequest* request = claim(peer.segment(), self);
  if (request == nullptr) return wait_for_place(peer);
  request->key = piece.key;
  request->protection_domain = piece.protection_domain;
  request->write = write ? 1 : 0;
  request->address = piece.key_address + offset;
  request->length = length;
  request->staging = staging;
  request->result = 0;
  request->word.store(service_word(self, ServiceState::kAsked));
  request_ = request;
  peer_ = &peer;
  self_ = self;
  asked_at_ = coarse_now();
  state_ = State::kServed;
  peer.ring_service();
}

void Copy::start_carried(const Carry& carry, CopyCrew* crew) {
  if (crew == nullptr) return set_done(carry_out(carry));
  crew_ = crew;
  crew_->add(job_, carry);
  state_ = State::kCarried;
}

void Copy::take_over(Copy& other) {
  state_ = other.state_, error_ = other.error_;
  client_ = other.client_, ticket_ = other.ticket_;
  other.reset();
}

void Copy::wait_for_place(Peer& peer) {
  if (!peer.alive()) return set_done(ESRCH);
  if (wanted_at_ == 0) wanted_at_ = coarse_now();
  if (coarse_now() - wanted_at_ > kPatience) set_done(ETIMEDOUT);
}

void Copy::withdraw(int error) {
  if (state_ == State::kCarried && crew_->take_back(job_)) return set_done(error);
  if (state_ != State::kServed) return;
  std::uint64_t word = service_word(self_, ServiceState::kAsked);
  if (request_->word.compare_exchange_strong(word, 0)) return set_done(error);
  word = service_word(self_, ServiceState::kTaken);
  if (request_->word.compare_exchange_strong(word, service_word(self_, ServiceState::kAbandoned))) {
    abandoned_ = true;
    set_done(error);
  }
}

void Copy::poll_served() {
  std::uint64_t word = request_->word.load(std::memory_order_acquire);
  if (word == service_word(self_, ServiceState::kAnswered)) {
    // Somebody else's by now, if this process was stopped for so long that its owner has freed it.
    const auto result = static_cast<int>(request_->result);
    set_done(request_->word.compare_exchange_strong(word, 0) ? result : EPROTO);
  } else if (!peer_->alive()) {
    set_done(ESRCH);
  } else if (word != service_word(self_, ServiceState::kAsked) &&
             word != service_word(self_, ServiceState::kTaken)) {
    abandoned_ = true;  // somebody wrote over it
    set_done(EPROTO);
  } else if (coarse_now() - asked_at_ > kPatience) {
    withdraw(ETIMEDOUT);
  }
}

bool Copy::poll() {
  if (state_ == State::kDevice) {
    Result<bool> finished = client_->finished(ticket_);
    if (!finished) {
      set_done(finished.error().code);
    } else if (*finished) {
      set_done(0);
    }
  } else if (state_ == State::kServed) {
    poll_served();
  } else if (state_ == State::kCarried && job_.has_ended()) {
    set_done(job_.error());
  }
  return state_ == State::kDone;
}

}  // namespace gdr::local
