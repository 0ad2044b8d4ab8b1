#include "perf/contents.h"

#include <cstring>

#include "participants/pattern.h"

namespace gdr::perf {
namespace {

// Odd numbers, so that no two of the four are exchanged without a difference.
constexpr std::uint64_t kOfQueue = 0x9e3779b97f4a7c15, kOfMessage = 0xc2b2ae3d27d4eb4f,
                        kOfSender = 0x165667b19e3779f9, kOfStation = 0xd6e8feb86659fd93;

}  // namespace

Contents::Contents(Task& task)
    : task_(task), station_(task.station), layout_(task.station.layout()) {
  if (!task.station.plan().load.check) return;
  expected_.resize(task.size);
  found_.resize(task.size);
}

// Two buffers of each, of which a client's thread has one for its traffic and one for its windows;
// and where damage is found, two of participants::examine.
std::uint64_t Contents::most_of(const StationPlan& plan) {
  if (!plan.load.check) return 0;
  return plan.largest * (plan.is_client ? 2 + 2 + 2 : 2 + 2);
}

std::uint64_t Contents::seed_of(Sender sender, std::uint32_t queue, std::uint64_t message) const {
  return task_.seed + static_cast<std::uint64_t>(sender) * kOfSender + queue * kOfQueue +
         (message + 1) * kOfMessage + task_.index * kOfStation;
}

bool Contents::fill(std::uint64_t address, std::uint64_t seed, Outcome& outcome) {
  participants::fill_pattern(seed, 0, expected_);
  const Result<void> written = station_.data().write(station_.offset(address), expected_);
  if (!written) outcome.fail(written.error());
  return static_cast<bool>(written);
}

bool Contents::fill_outgoing(std::uint32_t queue, std::uint64_t message, Outcome& outcome) {
  return fill(station_.queues()[queue].outgoing + layout_.slot(message),
              seed_of(self(), queue, message), outcome);
}

bool Contents::fill_incoming(std::uint32_t queue, std::uint64_t message, Outcome& outcome) {
  return fill(station_.queues()[queue].incoming + layout_.slot(message),
              seed_of(self(), queue, message), outcome);
}

bool Contents::verify_incoming(std::uint32_t queue, std::uint64_t message, Outcome& outcome) {
  return verify(place_of(queue, message), other(), queue, message,
                arrives_unannounced(station_.plan().load), outcome);
}

bool Contents::has_arrived(std::uint32_t queue, std::uint64_t message, Outcome& outcome) {
  return read(place_of(queue, message), seed_of(other(), queue, message), outcome) &&
         is_as_expected();
}

std::uint64_t Contents::place_of(std::uint32_t queue, std::uint64_t message) const {
  return station_.queues()[queue].incoming + layout_.slot(message) + layout_.head;
}

bool Contents::verify_at(std::uint64_t address, std::uint32_t queue, std::uint64_t message,
                         Outcome& outcome) {
  return verify(address, other(), queue, message, false, outcome);
}

bool Contents::verify_outgoing(std::uint32_t queue, std::uint64_t message, Outcome& outcome) {
  return verify(station_.queues()[queue].outgoing + layout_.slot(message), other(), queue, message,
                false, outcome);
}

bool Contents::verify(std::uint64_t address, Sender sender, std::uint32_t queue,
                      std::uint64_t message, bool may_be_lost, Outcome& outcome) {
  if (!read(address, seed_of(sender, queue, message), outcome)) return false;
  if (is_as_expected()) {
    ++outcome.checked;
    return true;
  }
  const std::uint64_t before =
      message < layout_.slots ? 0 : seed_of(sender, queue, message - layout_.slots);
  if (may_be_lost && is_unchanged(found_, before)) {
    ++outcome.lost;
    // As if it had come: what comes next into this place is compared with what lay there before.
    const Result<void> written = station_.data().write(station_.offset(address), expected_);
    if (!written) outcome.fail(written.error());
    return static_cast<bool>(written);
  }
  ++outcome.checked;
  const participants::Damage damage =
      participants::examine({found_, 0, expected_, before, 0, before});
  outcome.add_wrong("message " + std::to_string(message) + " of queue pair " +
                    std::to_string(queue) + ": " + participants::describe(damage));
  return true;
}

bool Contents::read(std::uint64_t address, std::uint64_t seed, Outcome& outcome) {
  const Result<void> read = station_.data().read(station_.offset(address), found_);
  if (!read) outcome.fail(read.error());
  if (read) participants::fill_pattern(seed, 0, expected_);
  return static_cast<bool>(read);
}

bool Contents::is_as_expected() const {
  return std::memcmp(expected_.data(), found_.data(), found_.size()) == 0;
}

// All of it is what lay there before.
bool Contents::is_unchanged(std::span<const std::byte> found, std::uint64_t before) const {
  std::vector<std::byte> earlier(found.size());
  if (before != 0) participants::fill_pattern(before, 0, earlier);
  return std::memcmp(earlier.data(), found.data(), found.size()) == 0;
}

bool Contents::verify_fetched(std::uint32_t queue, std::uint64_t message, Outcome& outcome) {
  std::uint64_t value = 0;
  const std::uint64_t at = station_.queues()[queue].outgoing + layout_.slot(message);
  const Result<void> read =
      station_.data().read(station_.offset(at), std::as_writable_bytes(std::span(&value, 1)));
  if (!read) {
    outcome.fail(read.error());
    return false;
  }
  ++outcome.checked;
  if (value == message) return true;
  outcome.add_wrong("atomic " + std::to_string(message) + " of queue pair " +
                    std::to_string(queue) + " brought back " + std::to_string(value) + ", not " +
                    std::to_string(message));
  return true;
}

bool Contents::clear(Outcome& outcome) {
  const std::vector<std::byte> zeros(1 << 20);
  for (std::uint64_t at = 0; at < layout_.bytes(); at += zeros.size()) {
    const std::uint64_t length = std::min<std::uint64_t>(zeros.size(), layout_.bytes() - at);
    const Result<void> done = station_.data().write(at, std::span(zeros).first(length));
    if (done) continue;
    outcome.fail(done.error());
    return false;
  }
  return true;
}

}  // namespace gdr::perf
