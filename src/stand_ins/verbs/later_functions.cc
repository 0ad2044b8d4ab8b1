// Functions that rdma-core got after release 44, whose headers this is built with: IBVERBS_1.15 to
// 1.18. What needs no kernel and no particular hardware works; the rest answers EOPNOTSUPP, as a
// device without it does.
#include <infiniband/verbs.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <new>

#include "verbs/abi.h"
#include "verbs/context.h"
#include "verbs/dma_handle.h"
#include "verbs/errors.h"
#include "verbs/objects.h"

#undef ibv_reg_mr

namespace gdr::verbs {

// ibv_buf: opaque to programs.
struct Buffer {
  ibv_pd* pd;
  std::byte* begin;
  std::size_t size;
};

namespace {

constexpr std::size_t kPage = 4096;

// ibv_mr_init_attr and its mask.
enum : std::uint64_t {
  kHasIova = 1,
  kHasAddress = 2,
  kHasDescriptor = 4,
  kHasOffset = 8,
  kHasDmaHandle = 16,
  kHasBuffer = 32,
  kKnownFields = 63
};
struct RegionRequest {
  std::size_t length;
  int access;
  std::uint64_t fields;
  std::uint64_t iova;
  void* address;
  int descriptor;
  std::uint64_t offset;
  DmaHandle* dma_handle;
  Buffer* buffer;
};
static_assert(offsetof(RegionRequest, fields) == 16 && offsetof(RegionRequest, descriptor) == 40 &&
              offsetof(RegionRequest, buffer) == 64 && sizeof(RegionRequest) == 72);

bool lies_in(const Buffer& buffer, const void* address, std::size_t length) {
  const auto* first = static_cast<const std::byte*>(address);
  return first >= buffer.begin && first <= buffer.begin + buffer.size &&
         length <= static_cast<std::size_t>(buffer.begin + buffer.size - first);
}

ibv_mr* register_bytes(ibv_pd* pd, const RegionRequest& request) {
  const bool by_address = (request.fields & kHasAddress) != 0;
  const bool by_descriptor = (request.fields & kHasDescriptor) != 0;
  const bool has_offset = (request.fields & kHasOffset) != 0;
  if ((request.fields & ~kKnownFields) != 0 || by_address == by_descriptor) return fail(EINVAL);
  if ((request.fields & kHasBuffer) != 0) {
    const Buffer* buffer = request.buffer;
    if (!by_address || has_offset || buffer == nullptr || buffer->pd != pd ||
        !lies_in(*buffer, request.address, request.length)) {
      return fail(EINVAL);
    }
  }
  const auto access = static_cast<unsigned>(request.access);
  const bool has_iova = (request.fields & kHasIova) != 0;
  if (by_descriptor) {
    const std::uint64_t offset = has_offset ? request.offset : 0;
    return ibv_reg_dmabuf_mr(pd, offset, request.length, has_iova ? request.iova : offset,
                             request.descriptor, request.access);
  }
  if (has_offset) return fail(EINVAL);
  const auto address = reinterpret_cast<std::uintptr_t>(request.address);
  return ibv_reg_mr_iova2(pd, request.address, request.length, has_iova ? request.iova : address,
                          access);
}

ibv_mr* register_with(ibv_pd* pd, const RegionRequest& request) {
  DmaHandle* handle = nullptr;
  if ((request.fields & kHasDmaHandle) != 0) {
    handle = request.dma_handle;
    if (handle == nullptr || handle->context != pd->context) return fail(EINVAL);
    // As the kernel: its pages come and go without the handle.
    if ((request.access & IBV_ACCESS_ON_DEMAND) != 0) return fail(EINVAL);
  }
  ibv_mr* mr = register_bytes(pd, request);
  if (mr != nullptr && handle != nullptr) {
    mr_of(mr).dma_handle = handle;
    ++handle->regions;
  }
  return mr;
}

}  // namespace
}  // namespace gdr::verbs

using namespace gdr::verbs;  // NOLINT: this file is the C interface of the namespace

GDR_EXPORT ibv_mr* ibv_reg_mr_ex(ibv_pd* pd, const RegionRequest* request) {
  return register_with(pd, *request);
}

GDR_EXPORT void* ibv_alloc_buf(ibv_pd* pd, std::size_t size, Buffer** buffer) {
  if (size == 0 || size > SIZE_MAX - kPage) {
    errno = EINVAL;
    return nullptr;
  }
  auto made = std::unique_ptr<Buffer>(new (std::nothrow) Buffer{pd, nullptr, size});
  void* memory = made ? std::aligned_alloc(kPage, (size + kPage - 1) / kPage * kPage) : nullptr;
  if (memory == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  made->begin = static_cast<std::byte*>(memory);
  *buffer = made.release();
  return memory;
}

GDR_EXPORT void ibv_free_buf(Buffer* buffer) {
  if (buffer == nullptr) return;
  std::free(buffer->begin);
  delete buffer;
}

GDR_EXPORT ibv_mr* ibv_reg_buf_mr(ibv_pd* pd, Buffer* buffer, void* address, std::size_t length,
                                  int access) {
  RegionRequest request{};
  request.length = length;
  request.access = access;
  request.fields = kHasAddress | kHasBuffer;
  request.address = address;
  request.buffer = buffer;
  return register_with(pd, request);
}

// As for every buffer that is no dma-buf.
GDR_EXPORT int ibv_export_buf_dmabuf_fd(Buffer* /*buffer*/) { return minus_one(ENODATA); }
GDR_EXPORT int ibv_dm_export_dmabuf_fd(ibv_dm* /*memory*/) { return minus_one(EOPNOTSUPP); }

// In units of 100 Mb/s.
GDR_EXPORT int ibv_query_port_speed(ibv_context* context, std::uint32_t port_number,
                                    std::uint64_t* speed) {
  if (port_number != kPort) return EINVAL;
  *speed = std::uint64_t{context_of(context).device->configuration.gigabits} * 10;
  return 0;
}

// Completion counters.
GDR_EXPORT void* ibv_create_comp_cntr(ibv_context* /*context*/, void* /*attributes*/) {
  errno = EOPNOTSUPP;
  return nullptr;
}
#define GDR_NO_COUNTER(name) \
  GDR_EXPORT int name() { return EOPNOTSUPP; }
GDR_NO_COUNTER(_ibv_query_comp_cntr_caps)
GDR_NO_COUNTER(ibv_destroy_comp_cntr)
GDR_NO_COUNTER(ibv_inc_comp_cntr)
GDR_NO_COUNTER(ibv_inc_err_comp_cntr)
GDR_NO_COUNTER(ibv_qp_attach_comp_cntr)
GDR_NO_COUNTER(ibv_read_comp_cntr)
GDR_NO_COUNTER(ibv_read_err_comp_cntr)
GDR_NO_COUNTER(ibv_set_comp_cntr)
GDR_NO_COUNTER(ibv_set_err_comp_cntr)
