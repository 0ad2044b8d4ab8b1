#include "memory/pinned_memory.h"

#include <fcntl.h>

#include <array>

#include "memory/cuda_client.h"
#include "memory/dmabuf_client.h"
#include "memory/host_client.h"

namespace gdr::memory {
namespace {

// Never destroyed: registrations and the NIC's threads may outlive main().
const std::array<PeerMemoryClient*, 3>& clients() {
  static const auto* all =
      new std::array<PeerMemoryClient*, 3>{new CudaClient, new DmaBufClient, new HostClient};
  return *all;
}

}  // namespace

Result<std::unique_ptr<PinnedMemory>> PinnedMemory::pin(std::uint64_t address, std::uint64_t length,
                                                        bool writable) {
  for (PeerMemoryClient* client : clients()) {
    auto context = client->acquire(address, length);
    if (!context) return context.error();
    if (*context != nullptr) return map(*client, *std::move(context), writable);
  }
  return Error{EFAULT, "no peer-memory client knows this memory"};
}

Result<std::unique_ptr<PinnedMemory>> PinnedMemory::pin_with(PeerMemoryClient& client,
                                                             std::uint64_t address,
                                                             std::uint64_t length, bool writable) {
  auto context = client.acquire(address, length);
  if (!context) return context.error();
  if (*context == nullptr) return Error{EFAULT, "not this peer-memory client's memory"};
  return map(client, *std::move(context), writable);
}

Result<std::unique_ptr<PinnedMemory>> PinnedMemory::pin_dmabuf(DmaBuf buffer, std::uint64_t length,
                                                               std::uint64_t iova, bool writable) {
  // Programs pass -1 to ask whether dma-buf is served at all, and take only EBADF for yes.
  if (fcntl(buffer.descriptor, F_GETFD) < 0) {
    return Error{EBADF, "descriptor " + std::to_string(buffer.descriptor) + " is not open"};
  }
  if (buffer.offset + length < buffer.offset) return Error{EINVAL, "offset + length wraps"};
  for (PeerMemoryClient* client : clients()) {
    auto context = client->acquire_dmabuf(buffer, length, iova);
    if (!context) return context.error();
    if (*context != nullptr) return map(*client, *std::move(context), writable);
  }
  return Error{EOPNOTSUPP, "no peer-memory client can reach this dma-buf's memory"};
}

Result<std::unique_ptr<PinnedMemory>> PinnedMemory::open(const Exported& exported,
                                                         UniqueFd descriptor) {
  // Only GPU memory is ever exported.
  PeerMemoryClient& client = *clients().front();
  auto context = client.open(exported, std::move(descriptor));
  if (!context) return context.error();
  std::unique_ptr<PinnedMemory> memory(new PinnedMemory(client, *std::move(context)));
  const Result<std::uint64_t> address = client.dma_map(*memory->context_);
  if (!address) return address.error();
  memory->address_ = *address;
  memory->is_mapped_ = true;
  return memory;
}

Result<std::unique_ptr<PinnedMemory>> PinnedMemory::map(
    PeerMemoryClient& client, std::unique_ptr<PeerMemoryClient::Context> context, bool writable) {
  // Its destructor undoes as much as was done.
  std::unique_ptr<PinnedMemory> memory(new PinnedMemory(client, std::move(context)));
  if (Result<void> present = client.get_pages(*memory->context_, writable); !present) {
    return present.error();
  }
  memory->has_pages_ = true;
  const Result<std::uint64_t> address = client.dma_map(*memory->context_);
  if (!address) return address.error();
  memory->is_mapped_ = true;
  memory->address_ = *address;
  return memory;
}

PinnedMemory::~PinnedMemory() {
  if (is_mapped_) client_.dma_unmap(*context_);
  if (has_pages_) client_.put_pages(*context_);
  client_.release(*context_);
}

}  // namespace gdr::memory
