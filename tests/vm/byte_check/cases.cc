#include "cases.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"

namespace byte_check {
namespace {

constexpr std::size_t kGuard = 4096;
constexpr std::size_t kData = kGuard + 8;  // where data starts, between guards
constexpr std::uint32_t kImmediate = 0xa1b2c3d4;
constexpr int kPatience = 10000;  // ms
constexpr int kUnreliablePatience = 200;
constexpr int kAttempts = 50;  // of what may be lost
constexpr std::uint64_t kBackground = 0xb0;
constexpr std::uint64_t kBefore = 0x1111111122222222;  // what an atomic finds
constexpr std::uint64_t kOperand = 0x0123456789abcdef;

bool takes_receive(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM ||
         opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

bool is_atomic(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

std::string failed(const char* what, const std::optional<ibv_wc>& wc) {
  if (!wc) return std::string("no completion of the ") + what;
  if (wc->status != IBV_WC_SUCCESS) {
    return std::string(what) + ": " + ibv_wc_status_str(wc->status);
  }
  return {};
}

// The data, and that nothing around it was touched. A datagram's header may be anything.
std::string check_memory(Endpoint& side, std::size_t before, std::uint32_t bytes,
                         std::uint64_t seed) {
  const std::uint8_t* memory = side.memory();
  if (std::string text = difference(memory + kData, bytes, seed); !text.empty()) return text;
  if (std::string text = difference(memory, kData - before, kBackground); !text.empty()) {
    return "in front of the data: " + text;
  }
  const std::size_t end = kData + bytes;
  for (std::size_t i = end; i < end + kGuard; ++i) {
    if (memory[i] == pattern(kBackground, i)) continue;
    return "byte " + std::to_string(i - end) + " behind the data was overwritten";
  }
  return {};
}

std::uint64_t word_at(Endpoint& side) {
  std::uint64_t value;
  memcpy(&value, side.memory() + kData, sizeof value);
  return value;
}

std::string expect_word(Endpoint& side, const char* whose, std::uint64_t expected) {
  if (word_at(side) == expected) return {};
  char text[96];
  snprintf(text, sizeof text, "%s is %llx, not %llx", whose,
           static_cast<unsigned long long>(word_at(side)),
           static_cast<unsigned long long>(expected));
  return text;
}

std::string check_receive(const Case& c, const std::optional<ibv_wc>& wc, std::uint32_t header) {
  if (std::string text = failed("receive", wc); !text.empty()) return text;
  if (wc->byte_len != c.bytes + header) return "length " + std::to_string(wc->byte_len);
  const bool immediate = c.opcode != IBV_WR_SEND;
  if (immediate != ((wc->wc_flags & IBV_WC_WITH_IMM) != 0)) return "the immediate's flag is wrong";
  if (immediate && ntohl(wc->imm_data) != kImmediate) return "the immediate is wrong";
  return {};
}

std::string passive(Endpoint& side, Link& link, const Case& c, std::uint64_t seed) {
  const std::uint32_t header = c.transport == IBV_QPT_UD ? kGrh : 0;
  fill(side.memory(), kData + c.bytes + kGuard, kBackground);
  if (c.opcode == IBV_WR_RDMA_READ) fill(side.memory() + kData, c.bytes, seed);
  if (is_atomic(c.opcode)) memcpy(side.memory() + kData, &kBefore, sizeof kBefore);
  if (takes_receive(c.opcode)) {
    side.post_receive(c.transport, kData - header, c.bytes + header);
  }
  link.send_text("ready");
  for (int attempts = 1;; ++attempts) {
    if (const std::string text = link.receive_text(); text != "done") return text;
    std::string seen;
    if (takes_receive(c.opcode)) {
      const bool reliable = c.transport == IBV_QPT_RC;
      const auto wc = side.await_receive(reliable ? kPatience : kUnreliablePatience);
      if (!wc && !reliable) {
        link.send_text("again");
        continue;
      }
      seen = check_receive(c, wc, header);
    }
    if (seen.empty() && is_atomic(c.opcode)) {
      const bool add = c.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
      seen = expect_word(side, "the word", add ? kBefore + kOperand : kOperand);
    } else if (seen.empty()) {
      seen = check_memory(side, header, c.bytes, seed);
    }
    // What was sent again may have been late only: then its twin is still to come.
    if (attempts > 1) usleep(2000 * kUnreliablePatience);
    link.send_text(seen);
    return link.receive_text();
  }
}

std::string attempt(Endpoint& side, const Case& c, std::uint64_t seed) {
  Request request{c.transport, c.opcode, kData, kData, c.bytes, kImmediate};
  const bool brings_back = c.opcode == IBV_WR_RDMA_READ || is_atomic(c.opcode);
  fill(side.memory(), kData + c.bytes + kGuard, kBackground);
  if (!brings_back) fill(side.memory() + kData, c.bytes, seed);
  request.compare_or_add = c.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? kOperand : kBefore;
  request.swap = kOperand;
  side.post(request);
  if (std::string text = failed(c.name, side.await_send(kPatience)); !text.empty()) return text;
  if (is_atomic(c.opcode)) return expect_word(side, "what was brought back", kBefore);
  return check_memory(side, 0, c.bytes, seed);
}

std::string active(Endpoint& side, Link& link, const Case& c, std::uint64_t seed) {
  if (link.receive_text() != "ready") die("the other side is at another step");
  for (int tries = 0; tries < kAttempts; ++tries) {
    std::string seen = attempt(side, c, seed);
    link.send_text(seen.empty() ? "done" : seen);
    if (!seen.empty()) return seen;
    seen = link.receive_text();
    if (seen == "again") continue;
    link.send_text(seen);
    return seen;
  }
  link.send_text("nothing arrives");
  return "nothing arrives";
}

}  // namespace

std::vector<Case> cases(std::uint32_t mtu, bool lossy, bool reliable_only) {
  std::vector<Case> list;
  const std::uint32_t message[] = {0,   1,       3,           64,         mtu - 1,
                                   mtu, mtu + 1, 3 * mtu + 5, 65536 + 13, (1 << 20) + 3};
  for (std::uint32_t bytes : message) {
    list.push_back({"send", IBV_QPT_RC, IBV_WR_SEND, bytes});
    list.push_back({"send with imm", IBV_QPT_RC, IBV_WR_SEND_WITH_IMM, bytes});
    list.push_back({"write", IBV_QPT_RC, IBV_WR_RDMA_WRITE, bytes});
    list.push_back({"write with imm", IBV_QPT_RC, IBV_WR_RDMA_WRITE_WITH_IMM, bytes});
    list.push_back({"read", IBV_QPT_RC, IBV_WR_RDMA_READ, bytes});
  }
  list.push_back({"compare and swap", IBV_QPT_RC, IBV_WR_ATOMIC_CMP_AND_SWP, 8});
  list.push_back({"fetch and add", IBV_QPT_RC, IBV_WR_ATOMIC_FETCH_AND_ADD, 8});
  if (reliable_only) return list;
  for (std::uint32_t bytes : {1u, 64u, mtu, 3 * mtu + 5}) {
    list.push_back({"send", IBV_QPT_UC, IBV_WR_SEND, bytes});
    list.push_back({"send with imm", IBV_QPT_UC, IBV_WR_SEND_WITH_IMM, bytes});
    if (!lossy) list.push_back({"write with imm", IBV_QPT_UC, IBV_WR_RDMA_WRITE_WITH_IMM, bytes});
  }
  for (std::uint32_t bytes : {0u, 1u, 3u, 64u, mtu}) {
    list.push_back({"send", IBV_QPT_UD, IBV_WR_SEND, bytes});
    list.push_back({"send with imm", IBV_QPT_UD, IBV_WR_SEND_WITH_IMM, bytes});
  }
  return list;
}

std::string run(Endpoint& side, Link& link, const Case& c, bool is_active, std::uint64_t seed) {
  const std::string seen = is_active ? active(side, link, c, seed) : passive(side, link, c, seed);
  link.meet();
  return seen;
}

}  // namespace byte_check
