// Program: a host that carries out a script of random works and checks all that the other side's
// script does to it: every byte once, in order and where it belongs; completions in order, each
// once, and none before the other side has what it completes.
#pragma once

#include <string>
#include <vector>

#include "world.h"

namespace gdr::sim {

struct ScriptSettings {
  std::uint32_t works = 40;
  std::uint32_t path_mtu = 1024;
  bool reads = true;  // and atomics, and what invalidates; not UC
  std::uint32_t least_length = 0;
  std::uint32_t xrc_srq = 0;
};
std::vector<engine::Work> make_script(const ScriptSettings& settings, Random* random);

class Program final : public Host {
 public:
  struct Settings {
    std::uint32_t queue_depth = 16;      // works posted at a time
    std::uint32_t receives_at_once = 0;  // 0: as many as the other side needs are there at once
    Nanoseconds between_receives = 0;
    bool credits = false;
    bool may_lose = false;  // UC
    std::uint32_t xrc_srq = 0;
  };
  Program(const Settings& settings, std::vector<engine::Work> script)
      : settings_(settings), script_(std::move(script)) {}
  void meet(Program* peer);

  bool done() const { return completed_ == script_.size(); }
  // All that the other side wanted of this one has come.
  bool served() const;
  const std::string& complaint() const { return complaint_; }
  std::size_t messages_received() const { return messages_; }
  std::size_t messages_sent() const;  // of those that leave a trace
  std::string progress() const;

  // Owner
  bool work(std::uint32_t index, engine::Work* work) override;
  void complete(engine::Status status) override;
  bool place_response(std::uint32_t index, std::uint64_t offset,
                      std::span<const std::byte> bytes) override;
  std::optional<engine::Status> carry_out_local() override;
  bool may_access(std::uint32_t rkey, std::uint64_t address, std::uint64_t length,
                  engine::Right right) override;
  engine::Placed write(std::uint32_t rkey, std::uint64_t address,
                       std::span<const std::byte> bytes) override;
  std::optional<std::uint64_t> atomic(engine::WorkKind kind, std::uint32_t rkey,
                                      std::uint64_t address, std::uint64_t swap_or_add,
                                      std::uint64_t compare) override;
  engine::Placed begin_receive(std::uint32_t xrc_srq) override;
  engine::Placed place_receive(std::uint64_t offset, std::span<const std::byte> bytes) override;
  void complete_receive(const engine::Received& received) override;
  bool may_invalidate(std::uint32_t) override { return true; }
  std::optional<std::uint32_t> receives_waiting() override;
  void fail(engine::Fault) override { complain("the responder gave up"); }
  void count(engine::Event event) override { ++events_[static_cast<std::size_t>(event)]; }

  // Host
  bool fill(const engine::Transmit& transmit, std::span<std::byte> to) override;
  Nanoseconds next_event() const override;
  void happen(Nanoseconds now) override;

 private:
  void complain(const std::string& what);
  void find_incoming();
  void end_incoming();
  bool same_bytes(std::size_t work, std::uint64_t offset, std::span<const std::byte> bytes);
  bool find_begin(std::span<const std::byte> bytes, bool write);

  Settings settings_;
  std::vector<engine::Work> script_;
  Program* peer_ = nullptr;

  // Its own works.
  std::size_t completed_ = 0;
  std::uint64_t read_bytes_ = 0;      // of the oldest
  std::uint64_t expected_value_ = 0;  // of the peer's counter, that atomics find
  bool has_value_ = false;

  // The peer's script, as it arrives here.
  std::size_t incoming_ = 0;
  std::uint64_t incoming_bytes_ = 0;
  bool has_receive_ = false;
  std::uint64_t counter_ = 0;
  std::size_t messages_ = 0;
  std::uint32_t receives_ = 0;
  Nanoseconds receives_at_ = 0;

  std::string complaint_;
  std::array<std::uint64_t, 32> events_{};
};

}  // namespace gdr::sim
