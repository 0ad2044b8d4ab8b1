// PeerMemoryClient: who owns an address, and how its bytes move. The calls are those of the
// kernel's peer-memory interface; `ibv_reg_mr` and `ibv_reg_dmabuf_mr` ask each client in turn
// through PinnedMemory (pinned_memory.h), which makes them in order and undoes them in reverse:
//
//   acquire -> get_pages -> dma_map -> (copies) -> dma_unmap -> put_pages -> release
//
// A client keeps what it knows of one registration in a Context of its own. Copies are asynchronous
// and belong to the thread that calls start_copy: the NIC's engine thread, never the
// application's, so that its current context and stream capture stay untouched.
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/result.h"
#include "base/unique_fd.h"
#include "memory/dma_buf.h"

namespace gdr::memory {

// What another process needs to open memory of this one. Plain data: it goes through shared memory,
// and nothing in it is trusted.
struct Exported {
  enum class Kind : std::uint32_t { kNone, kIpc, kDescriptor };
  Kind kind = Kind::kNone;
  std::int32_t descriptor = -1;           // kDescriptor: in the exporting process
  std::uint64_t address = 0, length = 0;  // the allocation or mapping, as that process has it
  std::uint64_t identity = 0;             // of it; never given twice
  std::array<std::uint8_t, 64> handle{};  // kIpc
  std::array<std::uint8_t, 16> device{};  // the GPU's UUID
};

class PeerMemoryClient {
 public:
  class Context {
   public:
    virtual ~Context() = default;
  };
  // Identifies a copy in progress; only its client can read it.
  using Ticket = std::uint64_t;

  virtual ~PeerMemoryClient() = default;
  virtual const char* name() const = 0;

  // A context if all of [address, address + length) is this client's; nothing if it is another's;
  // an error if it is its own but cannot be registered (managed memory, say), with the reason.
  virtual Result<std::unique_ptr<Context>> acquire(std::uint64_t address, std::uint64_t length) = 0;
  // The same for a dma-buf; `iova` is a hint, since callers usually pass the memory's address.
  virtual Result<std::unique_ptr<Context>> acquire_dmabuf(DmaBuf buffer, std::uint64_t length,
                                                          std::uint64_t iova) = 0;
  virtual void release(Context& context) = 0;

  // Makes the pages present and remembers their identity. EFAULT when they do not exist or do not
  // grant the access (`writable`: a key with any write right).
  virtual Result<void> get_pages(Context& context, bool writable) = 0;
  virtual void put_pages(Context& context) = 0;
  virtual std::uint64_t get_page_size(const Context& context) const = 0;

  // The address copies go by in this process: a CPU address if cpu_reachable(), else the client's.
  virtual Result<std::uint64_t> dma_map(Context& context) = 0;
  virtual void dma_unmap(Context& context) = 0;

  // True when memcpy and process_vm_* reach the memory, so that start_copy is never needed.
  virtual bool cpu_reachable() const = 0;
  // False once the owner freed the memory under the registration: its keys must fail from then on.
  virtual bool still_valid(const Context& context) = 0;

  // How other processes may open the memory behind a registration; kNone: not at all. While it has
  // its pages.
  virtual Exported exported(const Context&) { return {}; }
  // Opens another process's memory. `descriptor`: of kDescriptor, in this process. The context is
  // like a registered one's; the memory's first byte lies at its dma_map(). May wait behind running
  // kernels. EOPNOTSUPP where this process cannot reach it.
  virtual Result<std::unique_ptr<Context>> open(const Exported&, UniqueFd /*descriptor*/) {
    return Error{EOPNOTSUPP, "memory of another process"};
  }

  // Whether host memory's pages are locked for this client's copies, as far as it knows. If not, it
  // stages them itself, slowly.
  virtual bool is_locked(std::uint64_t /*address*/, std::uint64_t /*length*/) { return true; }
  // Host memory of the library's own, so that copies to and from it are quick. For the life of the
  // process. May wait behind running kernels.
  virtual bool lock_pages(void* /*memory*/, std::size_t /*bytes*/) { return false; }

  // One side of a copy; without a context it is host memory.
  struct Side {
    std::uint64_t address;
    Context* context;
  };
  // Whether one copy gets there, both being this client's memory; else it takes two, through host
  // memory.
  virtual bool can_copy(const Context& /*to*/, const Context& /*from*/) { return true; }
  // Copies of one sequence arrive in the order in which they were started, each before any byte of
  // the next. What is in it is the client's.
  struct Sequence {
    bool has_any = false;
    Ticket last = 0;
  };
  // A copy's turn: none, or in a sequence. One that may overtake those before it is still not
  // overtaken by those behind it.
  struct Turn {
    Sequence* sequence = nullptr;
    bool may_overtake = false;
  };
  // At least one side is this client's memory. EAGAIN: too many copies are in flight, or the order
  // cannot be kept yet; the same again later. EFAULT: the memory was freed.
  virtual Result<Ticket> start_copy(Side to, Side from, std::uint64_t length, Turn turn) = 0;
  Result<Ticket> start_copy(Side to, Side from, std::uint64_t length) {
    return start_copy(to, from, length, {});
  }
  // True once it has finished; the ticket is spent then, and after an error.
  virtual Result<bool> finished(Ticket ticket) = 0;

  // For who watches many copies: goes on with all of them, as finished() does with one, and tells
  // of one, cheaply, whether finished() is worth asking. For a ticket that is spent, too.
  virtual void go_on() {}
  virtual bool is_over(Ticket) { return true; }
};

}  // namespace gdr::memory
