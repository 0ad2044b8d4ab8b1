// Ledger: what a program and its children did with RDMA, in memory that they share with `gdr`.
//
//   Ledger* ledger = ledger::attach(getenv(ledger::kWatchVariable));   // in the program; null:
//   none ledger::Device* device = ledger::claim_device(*ledger, "mlx5_0");
//   device->rest.add(kBytesOut, ledger::Memory::kGpu, 4096);
//
// `gdr` makes the file, of a fixed size and sealed, and reads it while the programs run. Every
// number is an atomic of its own, without order between them: a counter costs one relaxed addition.
// Records are claimed once, never given back and never moved; the reader copies what is ready and
// trusts nothing in it (src/tools/watch/snapshot.h). Where records run out, what is done is counted
// with the device, and the record is counted as missing.
//
// No constructors, no allocation, no exception: it lives in every process that the program starts.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gdr::ledger {

// Where programs find theirs: what `gdr run` counts its stand-ins in, and what `gdr watch` does.
inline constexpr char kRunVariable[] = "GDR_RUN_LEDGER";
inline constexpr char kWatchVariable[] = "GDR_WATCH_LEDGER";

using Word = std::atomic<std::uint64_t>;
using Half = std::atomic<std::uint32_t>;

inline constexpr std::uint64_t kMagic = 0x31676c2e74696b64;  // "dkit.lg1"
inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

inline constexpr std::uint32_t kMostDevices = 64, kMostProcesses = 512, kMostQueuePairs = 4096,
                               kMostRegions = 4096;
inline constexpr std::size_t kNameBytes = 64, kAddressBytes = 16;

// kOther: memory of no region that was seen (device memory of the NIC, a key of a provider's own).
enum class Memory : std::uint32_t { kHost, kGpu, kOther };
inline constexpr std::uint32_t kMemories = 3;

// Bytes are counted by memory; the others by themselves.
enum BytesOf : std::uint32_t { kBytesOut, kBytesRead, kBytesReceived, kBytesOf };
enum Operation : std::uint32_t {
  kSends,
  kWrites,
  kReads,
  kAtomics,
  kReceives,
  kFailures,  // completions with an error
  kOperations
};

struct Counts {
  Word bytes[kBytesOf][kMemories];
  Word operations[kOperations];

  void add(BytesOf kind, Memory memory, std::uint64_t count) {
    bytes[kind][static_cast<std::uint32_t>(memory)].fetch_add(count, std::memory_order_relaxed);
  }
  void add(Operation kind, std::uint64_t count) {
    operations[kind].fetch_add(count, std::memory_order_relaxed);
  }
};

enum State : std::uint32_t { kFree, kBusy, kReady };

struct alignas(64) Device {
  Half state;
  Half opened;  // times
  char name[kNameBytes];
  alignas(64) Counts rest;  // of queue pairs without a record
};

// By which call a region was registered.
enum class Way : std::uint32_t { kAddress, kDmaBuf };

struct alignas(64) Region {
  Half state;
  Half process, device;  // numbers of records
  Half way, memory;
  Half managed;   // GPU memory that the driver moves by itself
  Half error;     // the errno where the registration failed
  Half released;  // 1: deregistered
  Half remote;    // peers may write it, read it, or change it by atomics
  Word address, bytes;
  char gpu[kAddressBytes];  // "0000:17:00.0"; empty: not known
};

struct alignas(64) QueuePair {
  Half state;
  Half process, device;
  Half type, number;
  Half now;          // ibv_qp_state, as the program set it
  Half extended;     // posted to by ibv_wr_*
  Half by_provider;  // made by a provider's own call: what is posted to it is not seen
  Half gone;         // destroyed
  Half peer_number;  // kNone: never connected
  Half peer_lid;     // InfiniBand
  Word peer_gid[2];  // as its bytes lie in memory
  alignas(64) Counts counts;
};

// Libraries that say what a program could have used, seen in it at its end.
enum Library : std::uint64_t {
  kVerbs = 1,
  kManager = 2,
  kMlx5 = 4,
  kUcx = 8,
  kUcxIb = 16,
  kFabric = 32,
  kMpi = 64,
  kNccl = 128,
  kNvshmem = 256,
  kCuda = 512,
  kSoftNic = 1024,
  kSoftGpu = 2048
};

// A process, or what it became by exec.
struct alignas(64) Process {
  Half state;
  Half pid;
  char program[kNameBytes];
  Word libraries;
  Word to_host, to_gpu;                // bytes of CUDA's copies between host and GPU
  Word copies_to_host, copies_to_gpu;  // their number
  Half capture_error;  // errno, where the file of GDR_SOFT_PCAP took no more packets
};

struct Ledger {
  Word magic, bytes;
  // As many were claimed; those beyond the array have no record.
  Half processes, devices, regions, queue_pairs;
  Process process[kMostProcesses];
  Device device[kMostDevices];
  Region region[kMostRegions];
  QueuePair queue_pair[kMostQueuePairs];
};
static_assert(Word::is_always_lock_free && Half::is_always_lock_free);

// The ledger that a variable's value names, "PATH:DESCRIPTOR": a path through /proc of the process
// that made it, or, where that may not be opened (a namespace), a descriptor that was inherited.
// Null where it is neither, or no ledger; what is sealed cannot be cut off under us.
Ledger* attach(const char* value);

// Null where there are no more. A device has one record for all processes, more only where two
// claim it at once; a process that has become another program has one for each.
Process* claim_process(Ledger& ledger, std::uint32_t pid, const char* program);
Device* claim_device(Ledger& ledger, const char* name);
Region* claim_region(Ledger& ledger);
QueuePair* claim_queue_pair(Ledger& ledger);
// From here on readers see it.
void publish(Half& state);

// Its number, or kNone for null.
template <typename Record>
std::uint32_t number_of(const Record* first, const Record* one) {
  return one == nullptr ? kNone : static_cast<std::uint32_t>(one - first);
}

}  // namespace gdr::ledger
