// Many requests at once, from both sides: slot i of each area of the memory belongs to number i.
#include <arpa/inet.h>
#include <stdio.h>

#include <algorithm>

#include "cases.h"
#include "memory.h"

namespace byte_check {
namespace {

constexpr std::uint32_t kSlots = 128;
constexpr std::uint32_t kSlot = 16384;
constexpr std::size_t kArea = std::size_t{kSlots} * kSlot;
constexpr std::size_t kSource = 2 << 20;
constexpr std::size_t kWritten = kSource + kArea;  // by the other side
constexpr std::size_t kReceived = kWritten + kArea;
constexpr std::size_t kRead = kReceived + kArea;
static_assert(kRead + kArea <= kMemory);
constexpr int kPatience = 20000;  // ms
constexpr std::uint32_t kKinds = 3;
constexpr std::uint64_t kEmpty = 0xee;

std::size_t place(std::size_t area, std::uint32_t slot) { return area + std::size_t{slot} * kSlot; }

std::uint32_t bytes_of(std::uint32_t slot) { return (slot * 2654435761u) % kSlot + 1; }

Request request(std::uint32_t number) {
  const std::uint32_t slot = number / kKinds;
  Request r;
  r.bytes = bytes_of(slot);
  r.from = place(kSource, slot);
  switch (number % kKinds) {
    case 0:
      r.opcode = IBV_WR_RDMA_WRITE;
      r.to = place(kWritten, slot);
      break;
    case 1:
      r.opcode = IBV_WR_SEND_WITH_IMM;
      r.immediate = slot;
      break;
    default:
      r.opcode = IBV_WR_RDMA_READ;
      r.from = place(kRead, slot);
      r.to = place(kSource, slot);
  }
  return r;
}

std::string check_receive(const std::optional<ibv_wc>& wc, std::uint32_t slot) {
  const std::string which = "receive " + std::to_string(slot) + ": ";
  if (!wc) return which + "did not complete";
  if (wc->status) return which + ibv_wc_status_str(wc->status);
  if (wc->byte_len != bytes_of(slot)) return which + "length " + std::to_string(wc->byte_len);
  if (ntohl(wc->imm_data) != slot) return which + "is that of another";
  return {};
}

// What lies there instead, if it is something that was under way.
std::string origin(const std::uint8_t* memory, std::uint32_t bytes, std::uint64_t seed) {
  if (difference(memory, bytes, kEmpty).empty()) return "; nothing has come";
  for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
    if (difference(memory, std::min(bytes, bytes_of(slot)), seed + slot).empty()) {
      return "; it is that of " + std::to_string(slot);
    }
  }
  return {};
}

std::string check_area(Endpoint& side, const char* name, std::size_t area, std::uint64_t seed) {
  for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
    const std::uint8_t* memory = side.memory() + place(area, slot);
    std::string text = difference(memory, bytes_of(slot), seed + slot);
    if (!text.empty()) text += origin(memory, bytes_of(slot), seed);
    for (std::uint32_t i = bytes_of(slot); text.empty() && i < kSlot; ++i) {
      if (memory[i] != pattern(kEmpty, i)) text = "overwritten behind its end";
    }
    if (!text.empty()) return std::string(name) + " " + std::to_string(slot) + ": " + text;
  }
  return {};
}

std::string post_all(Endpoint& side) {
  std::uint32_t posted = 0, done = 0;
  while (done < kSlots * kKinds) {
    if (posted < kSlots * kKinds && posted - done < kInFlight) {
      side.post(request(posted++));
      continue;
    }
    const auto wc = side.await_send(kPatience);
    if (!wc) return "request " + std::to_string(done) + " did not complete";
    if (wc->status) {
      return "request " + std::to_string(done) + ": " + ibv_wc_status_str(wc->status);
    }
    ++done;
  }
  return {};
}

// What either side has seen.
std::string agree(Link& link, const std::string& seen) {
  link.send_text(seen);
  const std::string theirs = link.receive_text();
  if (!seen.empty()) return "here, " + seen;
  return theirs.empty() ? theirs : "on the other side, " + theirs;
}

}  // namespace

std::string run_many(Endpoint& side, Link& link, std::uint64_t seed) {
  for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
    fill(side.memory() + place(kSource, slot), kSlot, seed + slot);
    for (std::size_t area : {kWritten, kReceived, kRead}) {
      fill(side.memory() + place(area, slot), kSlot, kEmpty);
    }
    side.post_receive(IBV_QPT_RC, place(kReceived, slot), kSlot);
  }
  link.meet();
  std::string seen = post_all(side);
  for (std::uint32_t slot = 0; seen.empty() && slot < kSlots; ++slot) {
    seen = check_receive(side.await_receive(kPatience), slot);
  }
  seen = agree(link, seen);
  if (seen.empty()) seen = check_area(side, "write", kWritten, seed);
  if (seen.empty()) seen = check_area(side, "send", kReceived, seed);
  if (seen.empty()) seen = check_area(side, "read", kRead, seed);
  return agree(link, seen);
}

}  // namespace byte_check
