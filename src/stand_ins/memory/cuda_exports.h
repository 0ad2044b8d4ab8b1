// CudaExports: how other processes open a GPU's allocations: each is exported once, however many
// regions lie in it, since what it is opened by is a descriptor of this process.
//
//   std::shared_ptr<const CudaExports::Export> how = exports.of(driver, engine, range);
//   how->exported;   // valid for as long as somebody has it
//
// Cold: while memory is registered. Any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/unique_fd.h"
#include "memory/cuda_engine.h"
#include "memory/peer_memory_client.h"

namespace gdr::memory {

class CudaExports {
 public:
  struct Export {
    Exported exported;
    UniqueFd descriptor;
  };
  // `range`: a whole allocation, with its identity; one that has none is exported each time.
  std::shared_ptr<const Export> of(const cuda::Driver& driver, const CudaEngine& engine,
                                   const Exported& range);

 private:
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::weak_ptr<const Export>> known_;  // by identity
  std::size_t to_purge_ = 64;  // so many, and those are taken out that nobody has
};

}  // namespace gdr::memory
