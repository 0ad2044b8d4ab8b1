// HostClient: ordinary memory of this process. Takes every address that no other client wants, so
// it is asked last; what is no memory is found out by get_pages.
#pragma once

#include "memory/cpu_client.h"

namespace gdr::memory {

class HostClient : public CpuClient {
 public:
  const char* name() const override { return "host"; }

  Result<std::unique_ptr<Context>> acquire(std::uint64_t address, std::uint64_t length) override;
  Result<void> get_pages(Context& context, bool writable) override;
  void put_pages(Context&) override {}
  Result<std::uint64_t> dma_map(Context& context) override;
};

}  // namespace gdr::memory
