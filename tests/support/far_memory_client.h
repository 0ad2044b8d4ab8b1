// FarMemoryClient: memory that the CPU may not touch, as a GPU's: whatever address is registered
// with it. A test says when its copies end.
//
//   class LateClient final : public test::FarMemoryClient {
//     Result<Ticket> start_copy(Side to, Side from, std::uint64_t length, Turn turn) override;
//     Result<bool> finished(Ticket ticket) override;
//   };
#pragma once

#include <cerrno>
#include <cstdint>
#include <memory>

#include "memory/peer_memory_client.h"

namespace gdr::test {

class FarMemoryClient : public memory::PeerMemoryClient {
 public:
  struct At : Context {
    std::uint64_t address = 0;
  };

  const char* name() const override { return "late"; }
  Result<std::unique_ptr<Context>> acquire(std::uint64_t address, std::uint64_t) override {
    auto context = std::make_unique<At>();
    context->address = address;
    return std::unique_ptr<Context>(std::move(context));
  }
  Result<std::unique_ptr<Context>> acquire_dmabuf(memory::DmaBuf, std::uint64_t,
                                                  std::uint64_t) override {
    return Error{EOPNOTSUPP, ""};
  }
  void release(Context&) override {}
  Result<void> get_pages(Context&, bool) override { return {}; }
  void put_pages(Context&) override {}
  std::uint64_t get_page_size(const Context&) const override { return 65536; }
  Result<std::uint64_t> dma_map(Context& context) override {
    return static_cast<At&>(context).address;
  }
  void dma_unmap(Context&) override {}
  bool cpu_reachable() const override { return false; }
  bool still_valid(const Context&) override { return valid; }

  using PeerMemoryClient::start_copy;

  bool valid = true;  // not freed
};

}  // namespace gdr::test
