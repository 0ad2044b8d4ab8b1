#include "verbs/dma_handle.h"

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <memory>

#include "verbs/abi.h"
#include "verbs/context.h"
#include "verbs/errors.h"

namespace gdr::verbs {
namespace {

// ibv_dmah_init_attr and its mask.
enum : std::uint32_t { kHasProcessor = 1, kHasHint = 2, kHasMemory = 4, kKnown = 7 };
struct DmaHandleRequest {
  std::uint32_t fields;
  std::uint32_t processor;
  std::uint8_t hint;
  std::uint8_t memory;
};
static_assert(offsetof(DmaHandleRequest, memory) == 9 && sizeof(DmaHandleRequest) == 12);

constexpr std::uint8_t kHighestHint = 3;    // PCI Express: two bits
constexpr std::uint8_t kHighestMemory = 1;  // volatile, persistent

// 0 or errno.
int check(const DmaHandleRequest& request) {
  if ((request.fields & ~std::uint32_t{kKnown}) != 0) return EOPNOTSUPP;
  const bool has_processor = (request.fields & kHasProcessor) != 0;
  const bool has_memory = (request.fields & kHasMemory) != 0;
  // As mlx5: the hint is a must, and a processor and its memory are named together.
  if ((request.fields & kHasHint) == 0 || has_processor != has_memory) return EINVAL;
  if (has_processor && request.processor >= sysconf(_SC_NPROCESSORS_CONF)) return EINVAL;
  if (has_memory && request.memory > kHighestMemory) return EINVAL;
  return request.hint > kHighestHint ? EINVAL : 0;
}

}  // namespace
}  // namespace gdr::verbs

using namespace gdr::verbs;  // NOLINT: this file is the C interface of the namespace

GDR_EXPORT DmaHandle* ibv_alloc_dmah(ibv_context* context, const DmaHandleRequest* request) {
  return or_null([&]() -> DmaHandle* {
    if (const int error = check(*request); error != 0) return fail(error);
    auto handle = std::make_unique<DmaHandle>();
    handle->context = context;
    handle->serial = context_of(context).adopt([raw = handle.get()] { delete raw; });
    return handle.release();
  });
}

GDR_EXPORT int ibv_dealloc_dmah(DmaHandle* handle) {
  return or_errno([&] {
    if (handle->regions.load() != 0) return EBUSY;
    context_of(handle->context).forget(handle->serial);
    delete handle;
    return 0;
  });
}
