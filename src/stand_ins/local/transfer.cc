#include "local/transfer.h"

#include <sched.h>

#include <algorithm>
#include <cstring>

#include "local/process_memory.h"
#include "memory/own_memory.h"

namespace gdr::local {

using rnic::service_word;
using rnic::ServiceState;

namespace {

// A service thread that does not answer for so long is stopped, or has lost the request.
constexpr Nanoseconds kPatience = 30 * kSecond;

// Whether copies may go straight to and from it, the driver's too.
bool all_here(const PieceList& list) {
  for (const Piece& piece : list.pieces()) {
    if (piece.where != Where::kHere || piece.on_demand) return false;
  }
  return true;
}

// Two GPUs, neither of which may touch the other's memory, need staging between them.
bool one_copy_gets_there(const PieceList& from, const PieceList& to) {
  for (const Piece& source : from.pieces()) {
    for (const Piece& target : to.pieces()) {
      if (source.cpu_reachable() || target.cpu_reachable()) continue;
      if (!target.memory->client().can_copy(*target.memory->side_at(0).context,
                                            *source.memory->side_at(0).context)) {
        return false;
      }
    }
  }
  return true;
}

Copy::Side side_of(const Piece& piece, std::uint64_t address) {
  if (piece.cpu_reachable()) return {address, nullptr};
  return piece.memory->side_at(address);
}

// By the kernel, which gives an error for memory that is not there. `process`: null for this one.
int copy_by_kernel(const ProcessMemory* process, const iovec& here, std::uint64_t address,
                   bool into_here) {
  iovec local = here;
  iovec there[2] = {{reinterpret_cast<void*>(address), here.iov_len}, {}};
  if (process == nullptr) {
    return into_here ? memory::copy_own({there, 1}, {&local, 1})
                     : memory::copy_own({&local, 1}, {there, 1});
  }
  return into_here ? read_process(*process, {&local, 1}, {there, 1})
                   : write_process(*process, {&local, 1}, {there, 1});
}

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

void Copy::start_here(memory::PeerMemoryClient& client, Side to, Side from, std::uint64_t length) {
  client_ = &client;
  Result<memory::PeerMemoryClient::Ticket> ticket = client_->start_copy(to, from, length);
  if (!ticket && ticket.error().code == EAGAIN) return;
  if (!ticket) return set_done(ticket.error().code);
  ticket_ = *ticket;
  state_ = State::kDevice;
}

void Copy::start_with_host(const memory::PinnedMemory& memory, std::uint64_t address, void* host,
                           std::uint64_t length, bool write) {
  const Side there = memory.side_at(address);
  const Side here{reinterpret_cast<std::uint64_t>(host), nullptr};
  start_here(memory.client(), write ? there : here, write ? here : there, length);
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

void Copy::wait_for_place(Peer& peer) {
  if (!peer.alive()) return set_done(ESRCH);
  if (wanted_at_ == 0) wanted_at_ = coarse_now();
  if (coarse_now() - wanted_at_ > kPatience) set_done(ETIMEDOUT);
}

void Copy::withdraw(int error) {
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
  }
  return state_ == State::kDone;
}

bool Transfer::begin(const PieceList& from, const PieceList& to, const Elsewhere& there,
                     rnic::Token self, Staging& staging) {
  block_.reset();
  if (!all_here(from) || !all_here(to) || !one_copy_gets_there(from, to)) {
    block_ = staging.take();
    if (!block_) return false;
  }
  from_ = from;
  to_ = to;
  there_ = there;
  self_ = self;
  pool_ = &staging;
  direct_.reset();
  halves_[0] = Half{};
  halves_[1] = Half{};
  if (block_) {
    halves_[0].staging = *block_;
    halves_[1].staging = *block_ + Staging::kHalf;
  }
  filled_ = drained_ = 0;
  abandoned_ = false;
  return true;
}

// `position` lies within the list.
Transfer::Position Transfer::at(const PieceList& list, std::uint64_t position) {
  const Piece* piece = list.pieces().data();
  for (; position >= piece->length && piece != &list.pieces().back(); ++piece) {
    position -= piece->length;
  }
  return {piece, position};
}

// How far both sides go on in one piece from here.
std::uint64_t Transfer::run_length(std::uint64_t position, std::uint64_t most) const {
  const Position from = at(from_, position), to = at(to_, position);
  return std::min({most, from.piece->length - from.offset, to.piece->length - to.offset});
}

std::optional<Outcome> Transfer::poll() {
  std::optional<Outcome> outcome = block_ ? poll_staged() : poll_direct();
  if (outcome) finish();
  return outcome;
}

void Transfer::finish() {
  if (block_ && abandoned_) pool_->lose(*block_);
  if (block_ && !abandoned_) pool_->give_back(*block_);
  block_.reset();
}

// Whether the direct copy failed because the memory on this side was freed.
bool Transfer::own_side_is_gone() const {
  for (const PieceList* list : {&from_, &to_}) {
    const Piece& piece = *at(*list, drained_).piece;
    if (!piece.remote && piece.memory != nullptr && !piece.memory->still_valid()) return true;
  }
  return false;
}

std::optional<Outcome> Transfer::poll_direct() {
  while (true) {
    if (!direct_.idle()) {
      if (!direct_.poll()) return std::nullopt;
      if (direct_.error() != 0) return Outcome{direct_.error(), !own_side_is_gone()};
      direct_.reset();
      drained_ = filled_;
    }
    if (drained_ == from_.bytes()) return Outcome{};
    const Position from = at(from_, drained_), to = at(to_, drained_);
    const std::uint64_t length = run_length(drained_, from_.bytes());
    const std::uint64_t source = from.piece->address + from.offset;
    const std::uint64_t target = to.piece->address + to.offset;
    if (from.piece->cpu_reachable() && to.piece->cpu_reachable()) {
      std::memmove(reinterpret_cast<void*>(target), reinterpret_cast<const void*>(source), length);
      direct_.set_done(0);
    } else {
      const Piece& device = from.piece->cpu_reachable() ? *to.piece : *from.piece;
      direct_.start_here(device.memory->client(), side_of(*to.piece, target),
                         side_of(*from.piece, source), length);
      if (direct_.idle()) return std::nullopt;
    }
    filled_ = drained_ + length;
  }
}

// Starts one half's way between staging and a side.
void Transfer::start_leg(Half& half, const PieceList& list, bool into_staging) {
  const Position place = at(list, half.position);
  const Piece& piece = *place.piece;
  void* staging = pool_->at(half.staging);
  const std::uint64_t address = piece.address + place.offset;
  if (piece.where == Where::kNowhere) {
    if (into_staging) std::memset(staging, 0, half.length);
    half.copy.set_done(0);
  } else if (piece.where == Where::kServed) {
    half.copy.start_served(piece, place.offset, half.length, !into_staging, *there_.peer, self_,
                           half.staging);
  } else if (piece.where == Where::kProcess || piece.on_demand) {
    const bool is_elsewhere = piece.where == Where::kProcess;
    const ProcessMemory process{is_elsewhere ? there_.peer->pid() : 0, there_.held};
    half.copy.set_done(copy_by_kernel(is_elsewhere ? &process : nullptr, {staging, half.length},
                                      address, into_staging));
  } else if (piece.cpu_reachable()) {
    void* memory = reinterpret_cast<void*>(address);
    std::memcpy(into_staging ? staging : memory, into_staging ? memory : staging, half.length);
    half.copy.set_done(0);
  } else {
    half.copy.start_with_host(*piece.memory, address, staging, half.length, !into_staging);
  }
}

// Takes a half as far as it goes now; false on failure.
bool Transfer::step(Half& half, Outcome& failure) {
  using State = Half::State;
  while (true) {
    switch (half.state) {
      case State::kEmpty:
        if (filled_ == from_.bytes()) return true;
        half.position = filled_;
        half.length = run_length(filled_, Staging::kHalf);
        filled_ += half.length;
        half.state = State::kFilling;
        break;
      case State::kFilling:
      case State::kDraining: {
        const bool filling = half.state == State::kFilling;
        const PieceList& list = filling ? from_ : to_;
        if (half.copy.idle()) start_leg(half, list, filling);
        if (half.copy.idle() || !half.copy.poll()) return true;
        if (half.copy.error() != 0) {
          abandoned_ |= half.copy.abandoned();
          failure = {half.copy.error(), at(list, half.position).piece->remote};
          return false;
        }
        half.copy.reset();
        if (!filling) drained_ += half.length;
        half.state = filling ? State::kFull : State::kEmpty;
        break;
      }
      case State::kFull:
        if (half.position != drained_) return true;  // bytes arrive in order
        half.state = State::kDraining;
        break;
    }
  }
}

std::optional<Outcome> Transfer::poll_staged() {
  Outcome failure;
  // The half that comes first in the stream goes first, so that the other sees it drained.
  Half& first = halves_[0].position <= halves_[1].position ? halves_[0] : halves_[1];
  Half& second = &first == &halves_[0] ? halves_[1] : halves_[0];
  if (!step(first, failure) || !step(second, failure) || !step(first, failure)) {
    drain();
    return failure;
  }
  if (drained_ == from_.bytes()) return Outcome{};
  return std::nullopt;
}

void Transfer::drain() {
  for (Copy* copy : {&direct_, &halves_[0].copy, &halves_[1].copy}) {
    // Otherwise two processes' service threads could wait for each other's copies.
    copy->withdraw(ECANCELED);
    while (!copy->idle() && !copy->poll()) sched_yield();
    abandoned_ |= copy->abandoned();
    copy->reset();
  }
  finish();
}

memory::PeerMemoryClient* Transfer::stages_for() const {
  if (!block_) return nullptr;
  for (const PieceList* list : {&from_, &to_}) {
    for (const Piece& piece : list->pieces()) {
      if (piece.where == Where::kHere && !piece.cpu_reachable()) return &piece.memory->client();
    }
  }
  return nullptr;
}

bool Transfer::on_gpu() const {
  return direct_.on_gpu() || halves_[0].copy.on_gpu() || halves_[1].copy.on_gpu();
}

}  // namespace gdr::local
