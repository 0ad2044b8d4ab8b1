#include "memory/cuda_client.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include "cuda/place.h"
#include "cuda/soft_dma_buf.h"
#include "memory/cuda_scope.h"
#include "memory/cuda_sharing.h"

namespace gdr::memory {
namespace {

using cuda::holds;
using cuda::Place;

constexpr unsigned kNumberBits = 56;  // of a ticket: the copy's number; above, the GPU's
constexpr std::uint64_t kNumber = (std::uint64_t{1} << kNumberBits) - 1;

// An address inside an allocation or mapping, where that lies, and its identity.
struct Piece {
  std::uint64_t anchor, begin, end, buffer_id;
};

struct CudaContext : PeerMemoryClient::Context {
  std::uint64_t address = 0;
  int ordinal = 0;
  std::vector<Piece> pieces;  // one, but for ranges over several VMM mappings
  CudaEngine* engine = nullptr;
  // How others may open it.
  std::shared_ptr<const CudaExports::Export> shared;
  // Or what was opened of another process's; no pieces then, but of what may go by itself.
  std::unique_ptr<OpenedMemory> opened;
};

// Whether that GPU may touch all of the memory. VMM mappings say whom they were opened to
// (cuMemSetAccess); for other memory the driver finds a way between its GPUs.
bool reaches(const cuda::Driver& driver, const CudaEngine& engine, const CudaContext& memory,
             unsigned long long wanted) {
  if (memory.engine == &engine) return true;
  if (memory.opened) return false;
  const cuda::CUmemLocation location{cuda::CU_MEM_LOCATION_TYPE_DEVICE, engine.ordinal()};
  return std::all_of(memory.pieces.begin(), memory.pieces.end(), [&](const Piece& piece) {
    unsigned long long granted = 0;
    return driver.mem_get_access(&granted, &location, piece.anchor) != cuda::CUDA_SUCCESS ||
           (granted & wanted) == wanted;
  });
}

// The engine that copies between the two, that which opened it if one is another process's; null
// where none reaches both.
CudaEngine* engine_between(const cuda::Driver& driver, const CudaContext& to,
                           const CudaContext& from) {
  constexpr auto kRead = cuda::CU_MEM_ACCESS_FLAGS_PROT_READ;
  constexpr auto kWrite = cuda::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  if (to.engine == from.engine) return to.engine;
  if (!to.opened && from.engine != nullptr && reaches(driver, *from.engine, to, kWrite)) {
    return from.engine;
  }
  if (to.engine != nullptr && reaches(driver, *to.engine, from, kRead)) return to.engine;
  return nullptr;
}

// All allocations and mappings under [address, end); empty when there is a hole or a second GPU.
std::vector<Piece> pieces_of(const cuda::Driver& driver, const Place& first, std::uint64_t address,
                             std::uint64_t end) {
  std::vector<Piece> pieces;
  const bool whole = cuda::for_each_piece(
      *driver.pointer_get_attributes, first, address, end,
      [&](std::uint64_t at, const Place& place) {
        pieces.push_back({at, place.mapping, place.mapping_end, place.buffer_id});
      });
  if (!whole) pieces.clear();
  return pieces;
}

Error refused(int code, std::uint64_t length, const std::string& why) {
  return Error{code, "cannot register " + std::to_string(length) + " bytes of GPU memory: " + why};
}

// A dma-buf of the genuine driver; its size is told by lseek.
std::optional<std::uint64_t> dma_buf_size(int descriptor) {
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  char target[64];
  const ssize_t length = readlink(link.c_str(), target, sizeof target);
  if (length <= 0 ||
      !std::string_view(target, static_cast<std::size_t>(length)).starts_with("/dmabuf:")) {
    return std::nullopt;
  }
  const off_t size = lseek(descriptor, 0, SEEK_END);
  if (size < 0) return std::nullopt;
  return static_cast<std::uint64_t>(size);
}

}  // namespace

Result<std::unique_ptr<PeerMemoryClient::Context>> CudaClient::acquire(std::uint64_t address,
                                                                       std::uint64_t length) {
  const cuda::Driver* driver = cuda::Driver::already_loaded();
  if (driver == nullptr || length == 0) return std::unique_ptr<Context>();
  const RelaxedCapture relaxed(*driver);
  const Place place = cuda::place_of_range(*driver->pointer_get_attributes, address, length);
  if (place.is_managed) {
    return refused(EOPNOTSUPP, length,
                   "managed (unified) memory moves between host and GPU; use cuMemAlloc");
  }
  if (!place.is_device) return std::unique_ptr<Context>();
  if (!holds(place, address, length)) {
    return refused(EFAULT, length,
                   "the range leaves the allocation of " + std::to_string(place.end - place.base) +
                       " bytes that it starts in");
  }
  if (place.ordinal >= kMostDevices) return refused(EOPNOTSUPP, length, "too many GPUs");
  auto context = std::make_unique<CudaContext>();
  context->address = address;
  context->ordinal = place.ordinal;
  context->pieces = pieces_of(*driver, place, address, address + length);
  if (context->pieces.empty()) {
    return refused(EFAULT, length, "no memory of one GPU is mapped in part of the range");
  }
  return std::unique_ptr<Context>(std::move(context));
}

Result<std::unique_ptr<PeerMemoryClient::Context>> CudaClient::acquire_dmabuf(DmaBuf buffer,
                                                                              std::uint64_t length,
                                                                              std::uint64_t iova) {
  const cuda::Driver* driver = cuda::Driver::already_loaded();
  if (driver == nullptr) return std::unique_ptr<Context>();
  if (const auto soft = cuda::identify_soft_dma_buf(buffer.descriptor)) {
    if (soft->process != getpid()) return std::unique_ptr<Context>();
    if (Result<void> inside = check_range(buffer, length, soft->bytes); !inside)
      return inside.error();
    // Anybody may have written the name: only a live allocation with this identity counts.
    if (cuda::look_up(*driver->pointer_get_attributes, soft->address).buffer_id !=
        soft->buffer_id) {
      return refused(EINVAL, length, "the memory behind the dma-buf was freed");
    }
    return acquire(soft->address + buffer.offset, length);
  }
  if (const auto seen = cuda::find_observed_dma_buf(buffer.descriptor)) {
    return acquire_observed(*driver, *seen, buffer, length);
  }
  const std::optional<std::uint64_t> size = dma_buf_size(buffer.descriptor);
  if (!size) return std::unique_ptr<Context>();
  if (Result<void> inside = check_range(buffer, length, *size); !inside) return inside.error();
  // The whole buffer must fit around the hint, or it is not this allocation's buffer.
  if (iova < buffer.offset) return std::unique_ptr<Context>();
  const Place place = cuda::look_up(*driver->pointer_get_attributes, iova);
  if (!place.is_device || !holds(place, iova - buffer.offset, *size)) {
    return std::unique_ptr<Context>();
  }
  return acquire(iova, length);
}

// Whatever `iova` says: the export is what tells the memory. Other memory may have got the address
// since.
Result<std::unique_ptr<PeerMemoryClient::Context>> CudaClient::acquire_observed(
    const cuda::Driver& driver, const cuda::ObservedDmaBuf& seen, DmaBuf buffer,
    std::uint64_t length) {
  if (Result<void> inside = check_range(buffer, length, seen.bytes); !inside) return inside.error();
  const RelaxedCapture relaxed(driver);
  if (cuda::identity_of(*driver.pointer_get_attributes, seen.address, seen.bytes) !=
      seen.identity) {
    return refused(EINVAL, length, "the memory behind the dma-buf was freed");
  }
  return acquire(seen.address + buffer.offset, length);
}

Result<void> CudaClient::get_pages(Context& base, bool) {
  auto& context = static_cast<CudaContext&>(base);
  const cuda::Driver* driver = cuda::Driver::already_loaded();
  if (driver == nullptr) return Error{EIO, "the CUDA driver is gone"};
  const Result<CudaEngine*> engine = engine_of(*driver, context.ordinal);
  if (!engine) return engine.error();
  context.engine = *engine;
  if (context.pieces.size() == 1) {
    const Piece& all = context.pieces.front();
    context.shared = exports_.of(
        *driver, *context.engine,
        {.address = all.begin, .length = all.end - all.begin, .identity = all.buffer_id});
  }
  if (!still_valid(context)) return Error{EFAULT, "the GPU memory was freed while registering it"};
  return {};
}

void CudaClient::put_pages(Context& base) { static_cast<CudaContext&>(base).shared.reset(); }

Exported CudaClient::exported(const Context& base) {
  const auto& context = static_cast<const CudaContext&>(base);
  return context.shared ? context.shared->exported : Exported{};
}

Result<std::unique_ptr<PeerMemoryClient::Context>> CudaClient::open(const Exported& exported,
                                                                    UniqueFd descriptor) {
  const cuda::Driver* driver = cuda::Driver::already_loaded();
  CudaEngine* engine = driver != nullptr ? engine_for(*driver, exported) : nullptr;
  if (engine == nullptr) return Error{EOPNOTSUPP, "this process uses no GPU"};
  auto opened = OpenedMemory::open(*driver, *engine, exported, std::move(descriptor));
  if (!opened) return opened.error();
  auto context = std::make_unique<CudaContext>();
  context->address = (*opened)->address();
  context->engine = engine;
  context->opened = *std::move(opened);
  if (const std::uint64_t id = context->opened->buffer_id()) {
    context->pieces.push_back(
        {context->address, context->address, context->address + exported.length, id});
  }
  return std::unique_ptr<Context>(std::move(context));
}

// The GPU's own if there is one, else any that this process uses: never a new context on a GPU that
// the program itself leaves to another process, whose kernels it would hold up.
CudaEngine* CudaClient::engine_for(const cuda::Driver& driver, const Exported& exported) {
  CudaEngine* any = nullptr;
  for (const auto& place : engines_) {
    CudaEngine* engine = place.load(std::memory_order_acquire);
    if (engine == nullptr) continue;
    if (engine->uuid() == exported.device) return engine;
    if (any == nullptr) any = engine;
  }
  if (any != nullptr) return any;
  int count = 0;
  if (driver.device_get_count(&count) != cuda::CUDA_SUCCESS) return nullptr;
  for (int ordinal = 0; ordinal < std::min(count, kMostDevices); ++ordinal) {
    cuda::CUdevice device = 0;
    unsigned flags = 0;
    int active = 0;
    if (driver.device_get(&device, ordinal) != cuda::CUDA_SUCCESS ||
        driver.device_primary_ctx_get_state(device, &flags, &active) != cuda::CUDA_SUCCESS ||
        active == 0) {
      continue;
    }
    const Result<CudaEngine*> engine = engine_of(driver, ordinal);
    return engine ? *engine : nullptr;
  }
  return nullptr;
}

Result<std::uint64_t> CudaClient::dma_map(Context& context) {
  return static_cast<const CudaContext&>(context).address;
}

bool CudaClient::still_valid(const Context& base) {
  const auto& context = static_cast<const CudaContext&>(base);
  const cuda::Driver* driver = cuda::Driver::already_loaded();
  if (driver == nullptr) return false;
  const RelaxedCapture relaxed(*driver);
  for (const Piece& piece : context.pieces) {
    unsigned long long id = 0;
    if (driver->pointer_get_attribute(&id, cuda::CU_POINTER_ATTRIBUTE_BUFFER_ID, piece.anchor) !=
            cuda::CUDA_SUCCESS ||
        id != piece.buffer_id) {
      return false;
    }
  }
  return true;
}

Result<CudaEngine*> CudaClient::engine_of(const cuda::Driver& driver, int ordinal) {
  std::atomic<CudaEngine*>& place = engines_[static_cast<std::size_t>(ordinal)];
  if (CudaEngine* engine = place.load(std::memory_order_acquire)) return engine;
  const std::lock_guard guard(mutex_);
  if (CudaEngine* engine = place.load(std::memory_order_acquire)) return engine;
  Result<std::unique_ptr<CudaEngine>> made = CudaEngine::create(driver, ordinal);
  if (!made) return made.error();
  // Kept for the life of the process: at exit the driver may be gone before us.
  CudaEngine* engine = made->release();
  place.store(engine, std::memory_order_release);
  return engine;
}

// The driver knows no other host memory than what is locked. Its first and its last byte are asked
// for: what lies between them, in one registration, was made and locked as one.
bool CudaClient::is_locked(std::uint64_t address, std::uint64_t length) {
  const cuda::Driver* driver = cuda::Driver::already_loaded();
  if (driver == nullptr) return true;
  const RelaxedCapture relaxed(*driver);
  for (const std::uint64_t byte : {address, address + length - 1}) {
    unsigned type = 0;
    if (driver->pointer_get_attribute(&type, cuda::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, byte) !=
        cuda::CUDA_SUCCESS) {
      return false;
    }
  }
  return true;
}

bool CudaClient::lock_pages(void* memory, std::size_t bytes) {
  const cuda::Driver* driver = cuda::Driver::already_loaded();
  if (driver == nullptr) return false;
  for (const auto& place : engines_) {
    const CudaEngine* engine = place.load(std::memory_order_acquire);
    if (engine == nullptr) continue;
    const RelaxedCapture relaxed(*driver);
    const CurrentContext current(*driver, engine->context());
    if (current.result() != cuda::CUDA_SUCCESS ||
        driver->mem_host_register(memory, bytes, cuda::CU_MEMHOSTREGISTER_PORTABLE_FLAG) !=
            cuda::CUDA_SUCCESS) {
      return false;
    }
    const auto begin = reinterpret_cast<std::uint64_t>(memory);
    const std::lock_guard guard(staging_mutex_);
    staging_.push_back({begin, begin + bytes});
    return true;
  }
  return false;
}

bool CudaClient::is_own_staging(std::uint64_t address, std::uint64_t length) {
  const std::lock_guard guard(staging_mutex_);
  return std::any_of(staging_.begin(), staging_.end(), [&](const Range& range) {
    return address >= range.begin && address + length <= range.end;
  });
}

bool CudaClient::can_copy(const Context& to, const Context& from) {
  const cuda::Driver* driver = cuda::Driver::already_loaded();
  return driver != nullptr && engine_between(*driver, static_cast<const CudaContext&>(to),
                                             static_cast<const CudaContext&>(from)) != nullptr;
}

Result<PeerMemoryClient::Ticket> CudaClient::start_copy(Side to, Side from, std::uint64_t length,
                                                        Turn turn) {
  const auto* target = static_cast<const CudaContext*>(to.context);
  const auto* source = static_cast<const CudaContext*>(from.context);
  for (const CudaContext* side : {target, source}) {
    // The driver would take an address that was GPU memory a moment ago for pageable host memory.
    if (side != nullptr && !still_valid(*side)) {
      return Error{EFAULT, "registered GPU memory was freed"};
    }
  }
  const cuda::Driver* driver = cuda::Driver::already_loaded();
  CudaEngine* engine = nullptr;
  if (target != nullptr && source != nullptr) {
    engine = driver != nullptr ? engine_between(*driver, *target, *source) : nullptr;
    if (engine == nullptr) return Error{EFAULT, "no GPU reaches both sides of the copy"};
  } else if (target != nullptr || source != nullptr) {
    engine = (target != nullptr ? target : source)->engine;
  }
  if (engine == nullptr) {
    return Error{EFAULT, "neither side of the copy is registered GPU memory"};
  }
  const auto kind = source == nullptr   ? CudaCopy::Kind::kFromHost
                    : target == nullptr ? CudaCopy::Kind::kToHost
                                        : CudaCopy::Kind::kOnDevice;
  const std::uint64_t host = source == nullptr ? from.address : to.address;
  const CudaCopy copy{to.address,
                      from.address,
                      length,
                      kind,
                      kind != CudaCopy::Kind::kOnDevice && is_own_staging(host, length),
                      turn.sequence,
                      turn.may_overtake};
  std::optional<std::uint64_t> after;
  if (turn.sequence != nullptr && turn.sequence->has_any) {
    const Ticket last = turn.sequence->last;
    if (last >> kNumberBits == static_cast<Ticket>(engine->ordinal())) {
      after = last & kNumber;
    } else if (!is_over(last)) {
      return Error{EAGAIN, "the copy before it in its sequence is another GPU's"};
    }
  }
  const Result<std::uint64_t> number = engine->start(copy, after);
  if (!number) return number.error();
  const Ticket ticket = static_cast<Ticket>(engine->ordinal()) << kNumberBits | *number;
  if (turn.sequence != nullptr) *turn.sequence = {true, ticket};
  return ticket;
}

CudaEngine* CudaClient::engine_of(Ticket ticket) {
  const std::uint64_t ordinal = ticket >> kNumberBits;
  return ordinal < kMostDevices ? engines_[ordinal].load(std::memory_order_acquire) : nullptr;
}

void CudaClient::go_on() {
  for (const auto& place : engines_) {
    if (CudaEngine* engine = place.load(std::memory_order_acquire)) engine->go_on();
  }
}

bool CudaClient::is_over(Ticket ticket) {
  const CudaEngine* engine = engine_of(ticket);
  return engine == nullptr || engine->is_over(ticket & kNumber);
}

Result<bool> CudaClient::finished(Ticket ticket) {
  CudaEngine* engine = engine_of(ticket);
  if (engine == nullptr) return Error{EINVAL, "no such GPU copy"};
  return engine->finished(ticket & kNumber);
}

}  // namespace gdr::memory
