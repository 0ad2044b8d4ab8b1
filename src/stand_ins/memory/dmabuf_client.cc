#include "memory/dmabuf_client.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "base/unique_fd.h"
#include "memory/host_pages.h"

namespace gdr::memory {
namespace {

struct DmaBufContext : PeerMemoryClient::Context {
  ~DmaBufContext() override { unmap(); }
  void unmap() {
    if (mapping != nullptr) munmap(mapping, mapped_bytes);
    mapping = nullptr;
  }

  UniqueFd descriptor;  // our own: the caller's may be closed at once
  std::uint64_t offset = 0, length = 0;
  std::byte* mapping = nullptr;
  std::uint64_t mapped_bytes = 0;
};

Error unmappable(const std::string& why) {
  return Error{EOPNOTSUPP, "the dma-buf's memory cannot be reached: " + why};
}

// A dma-buf has no type bits in its mode and tells its size by lseek, which moves nothing; on a
// memfd it would move the caller's file position.
Result<std::uint64_t> size_of(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return Error{errno, "fstat of the dma-buf descriptor"};
  if ((status.st_mode & S_IFMT) == 0) {
    const off_t size = lseek(descriptor, 0, SEEK_END);
    if (size < 0) return unmappable("the descriptor is no dma-buf");
    return static_cast<std::uint64_t>(size);
  }
  // Truncation under the mapping would kill the process with SIGBUS.
  const int seals = S_ISREG(status.st_mode) ? fcntl(descriptor, F_GET_SEALS) : -1;
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
    return unmappable("the descriptor is neither a dma-buf nor a memfd sealed with F_SEAL_SHRINK");
  }
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace

Result<std::unique_ptr<PeerMemoryClient::Context>> DmaBufClient::acquire_dmabuf(
    DmaBuf buffer, std::uint64_t length, std::uint64_t) {
  const Result<std::uint64_t> size = size_of(buffer.descriptor);
  if (!size) return size.error();
  if (Result<void> inside = check_range(buffer, length, *size); !inside) return inside.error();
  auto context = std::make_unique<DmaBufContext>();
  context->descriptor = UniqueFd(fcntl(buffer.descriptor, F_DUPFD_CLOEXEC, 0));
  if (!context->descriptor) return Error{errno, "duplicating the dma-buf descriptor"};
  context->offset = buffer.offset;
  context->length = length;
  return std::unique_ptr<Context>(std::move(context));
}

Result<void> DmaBufClient::get_pages(Context& base, bool writable) {
  auto& context = static_cast<DmaBufContext&>(base);
  const std::uint64_t begin = context.offset & ~(kPage - 1);
  const std::uint64_t bytes = context.offset + context.length - begin;
  if (bytes == 0) return {};
  void* mapping = mmap(nullptr, bytes, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED,
                       context.descriptor.get(), static_cast<off_t>(begin));
  if (mapping == MAP_FAILED && (errno == EACCES || errno == EPERM)) {
    return Error{EACCES, "the dma-buf's descriptor does not allow writing"};
  }
  constexpr int kErrorOfDrivers = 524;  // the kernel's own ENOTSUPP, which strerror does not know
  if (mapping == MAP_FAILED && errno == kErrorOfDrivers) {
    return unmappable(
        "its driver does not map it for the CPU, and iova is not its address on a GPU of this "
        "process");
  }
  if (mapping == MAP_FAILED) {
    return unmappable(std::string("mmap of the descriptor fails with ") + std::strerror(errno));
  }
  context.mapping = static_cast<std::byte*>(mapping);
  context.mapped_bytes = bytes;
  context.descriptor.reset();  // the mapping holds the buffer
  // Drivers may map their memory as device pages, which cannot be populated, nor reached by other
  // processes: then no copy could be made.
  Result<void> present = fault_in(reinterpret_cast<std::uintptr_t>(mapping), bytes, writable);
  if (!present && present.error().code == ENOMEM) return present;
  if (!present) return unmappable(present.error().message);
  return {};
}

void DmaBufClient::put_pages(Context& context) { static_cast<DmaBufContext&>(context).unmap(); }

Result<std::uint64_t> DmaBufClient::dma_map(Context& base) {
  const auto& context = static_cast<const DmaBufContext&>(base);
  return reinterpret_cast<std::uintptr_t>(context.mapping) + (context.offset & (kPage - 1));
}

}  // namespace gdr::memory
