// Flow: a host that writes one long message after the other, for ever, and the host that takes
// them: what arrives, counts.
#pragma once

#include "world.h"

namespace gdr::sim {

class Flow final : public Host {
 public:
  explicit Flow(engine::WorkKind kind, std::uint64_t message, std::uint32_t posted)
      : posted_(posted) {
    work_.kind = kind;
    work_.length = message;
  }
  std::uint64_t taken() const { return taken_; }
  std::uint64_t retransmitted() const { return retransmitted_; }
  bool broken() const { return broken_; }

  bool work(std::uint32_t index, engine::Work* work) override {
    if (index >= posted_) return false;
    *work = work_;
    return true;
  }
  void complete(engine::Status status) override { broken_ |= status != engine::Status::kSuccess; }
  bool place_response(std::uint32_t, std::uint64_t, std::span<const std::byte> bytes) override {
    taken_ += bytes.size();
    return true;
  }
  std::optional<engine::Status> carry_out_local() override { return engine::Status::kSuccess; }
  bool may_access(std::uint32_t, std::uint64_t, std::uint64_t, engine::Right) override {
    return true;
  }
  engine::Placed write(std::uint32_t, std::uint64_t, std::span<const std::byte> bytes) override {
    taken_ += bytes.size();
    return engine::Placed::kPlaced;
  }
  std::optional<std::uint64_t> atomic(engine::WorkKind, std::uint32_t, std::uint64_t, std::uint64_t,
                                      std::uint64_t) override {
    return 0;
  }
  engine::Placed begin_receive(std::uint32_t) override { return engine::Placed::kPlaced; }
  engine::Placed place_receive(std::uint64_t, std::span<const std::byte> bytes) override {
    taken_ += bytes.size();
    return engine::Placed::kPlaced;
  }
  void complete_receive(const engine::Received&) override {}
  bool may_invalidate(std::uint32_t) override { return false; }
  std::optional<std::uint32_t> receives_waiting() override { return std::nullopt; }
  void fail(engine::Fault) override { broken_ = true; }
  void count(engine::Event event) override {
    retransmitted_ += event == engine::Event::kRetransmittedPacket;
  }
  bool fill(const engine::Transmit&, std::span<std::byte>) override { return true; }

 private:
  engine::Work work_;
  std::uint32_t posted_;
  std::uint64_t taken_ = 0;
  std::uint64_t retransmitted_ = 0;
  bool broken_ = false;
};

// Connects two of them.
inline void connect(Flow* from, Flow* to, const engine::SendSettings& sending,
                    std::uint32_t path_mtu = 4096) {
  engine::ConnectionSettings settings;
  settings.path_mtu = path_mtu;
  for (Flow* flow : {from, to}) {
    flow->connection() = std::make_unique<engine::Connection>(settings, *flow);
    flow->connection()->start_sending(sending);
  }
}

}  // namespace gdr::sim
