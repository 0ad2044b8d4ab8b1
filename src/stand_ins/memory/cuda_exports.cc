#include "memory/cuda_exports.h"

#include <algorithm>

#include "base/out_of_the_way.h"
#include "memory/cuda_sharing.h"

namespace gdr::memory {

std::shared_ptr<const CudaExports::Export> CudaExports::of(const cuda::Driver& driver,
                                                           const CudaEngine& engine,
                                                           const Exported& range) {
  const std::lock_guard guard(mutex_);
  if (range.identity != 0) {
    const auto known = known_.find(range.identity);
    auto before = known != known_.end() ? known->second.lock() : nullptr;
    if (before && before->exported.address == range.address &&
        before->exported.length == range.length) {
      return before;
    }
  }
  auto made = std::make_shared<Export>();
  made->exported = export_memory(driver, engine, range);
  made->descriptor = out_of_the_way(UniqueFd(made->exported.descriptor));
  made->exported.descriptor = made->descriptor.get();
  if (range.identity == 0) return made;
  known_[range.identity] = made;
  if (known_.size() > to_purge_) {
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
    to_purge_ = std::max<std::size_t>(64, 2 * known_.size());
  }
  return made;
}

}  // namespace gdr::memory
