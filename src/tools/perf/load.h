// Load: what one row of `gdr perf` carries out, the same on both sides: the client decides, the
// server is told.
//
//   Load load;
//   load.operation = Operation::kRead;
//   load.size = 64 << 10;
//   load.far = {Place::Kind::kGpu, 0};
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "process/codec.h"

namespace gdr::perf {

enum class Operation : std::uint8_t {
  kWrite,
  kWriteWithImmediate,
  kRead,
  kSend,
  kFetchAndAdd,
  kCompareAndSwap
};
enum class Transport : std::uint8_t { kRc, kUc, kUd, kXrc };
enum class Measure : std::uint8_t { kBandwidth, kLatency, kRate };
// How GPU memory is registered. kAny: what works, dma-buf first.
enum class Way : std::uint8_t { kAny, kDmaBuf, kPeerMemory };

// Where the data of one side lies.
struct Place {
  enum class Kind : std::uint8_t {
    kHost,
    kGpu,     // cuMemAlloc
    kGpuVmm,  // cuMemCreate
    kStaged,  // in a GPU's memory, and copied through host memory, as without GPUDirect
    kPinned   // in host memory that the GPU's driver has pinned
  };
  Kind kind = Kind::kHost;
  std::int32_t gpu = 0;  // ordinal; not of kHost

  bool names_gpu() const { return kind != Kind::kHost; }
  bool is_gpu() const { return names_gpu() && kind != Kind::kPinned; }
  // NICs reach the GPU's own memory.
  bool is_direct() const { return kind == Kind::kGpu || kind == Kind::kGpuVmm; }
  bool operator==(const Place&) const = default;
  GDR_FIELDS(kind, gpu)
};

struct Load {
  Operation operation = Operation::kWrite;
  Transport transport = Transport::kRc;
  Measure measure = Measure::kBandwidth;
  std::uint64_t size = 0;  // bytes of a message
  Place near, far;         // of the client, which starts the transfers, and of the server
  Way way = Way::kAny;
  bool both_ways = false;
  bool shared_receives = false;  // one shared receive queue for all queue pairs of a thread
  bool events = false;           // sleeps until a completion is told, instead of polling
  bool check = false;
  bool huge_pages = false;
  bool rdma_cm = false;     // connected by the kernel's connection manager
  std::uint32_t ports = 1;  // of each side at once; thread i uses port i modulo this many
  std::uint32_t queue_pairs = 1;
  std::uint32_t threads = 1;
  std::uint32_t depth = 128;       // requests under way on one queue pair
  std::uint32_t batch = 1;         // requests given to the NIC by one call
  std::uint32_t signal_every = 0;  // requests for one completion; 0: as suits the size
  std::uint32_t inline_bytes = 0;  // messages up to this size are copied into the request
  std::uint32_t path_mtu = 0;      // bytes; 0: the largest of both ports
  std::uint8_t service_level = 0;
  std::uint8_t traffic_class = 0;
  bool operator==(const Load&) const = default;

  // The one description of a load: messages, documents, CSV, titles and comparisons are made from
  // it, and the build fails where a field is missing (load.cc). Each field has its name in
  // documents and its words in a title, where "{}" stands for its value; no words: all titles tell
  // it, or none.
  template <typename Visitor>
  static constexpr void each_field(Visitor visit) {
    visit("operation", &Load::operation, "");
    visit("transport", &Load::transport, "");
    visit("measure", &Load::measure, "");
    visit("size_bytes", &Load::size, "");
    visit("near", &Load::near, "");
    visit("far", &Load::far, "");
    visit("way", &Load::way, "{}");
    visit("both_ways", &Load::both_ways, "both directions");
    visit("shared_receives", &Load::shared_receives, "shared receive queue");
    visit("events", &Load::events, "events");
    visit("check", &Load::check, "every byte checked");
    visit("huge_pages", &Load::huge_pages, "huge pages");
    visit("rdma_cm", &Load::rdma_cm, "by rdma_cm");
    visit("ports", &Load::ports, "{} ports");
    visit("queue_pairs", &Load::queue_pairs, "{} queue pairs");
    visit("threads", &Load::threads, "{} threads");
    visit("depth", &Load::depth, "depth {}");
    visit("batch", &Load::batch, "batches of {}");
    visit("signal_every", &Load::signal_every, "a completion every {}");
    visit("inline_bytes", &Load::inline_bytes, "inline to {} B");
    visit("path_mtu_bytes", &Load::path_mtu, "path MTU {} B");
    visit("service_level", &Load::service_level, "service level {}");
    visit("traffic_class", &Load::traffic_class, "traffic class {}");
  }
  // As GDR_FIELDS.
  template <typename Visitor>
  void visit(Visitor& visitor) {
    each_field([&](const char*, auto field, const char*) { visitor(this->*field); });
  }
  template <typename Visitor>
  void visit(Visitor& visitor) const {
    each_field([&](const char*, auto field, const char*) { visitor(this->*field); });
  }
};

// The last value of an enumeration, whose first is 0.
template <typename Enum>
constexpr Enum kLast{};
template <>
inline constexpr Operation kLast<Operation> = Operation::kCompareAndSwap;
template <>
inline constexpr Transport kLast<Transport> = Transport::kXrc;
template <>
inline constexpr Measure kLast<Measure> = Measure::kRate;
template <>
inline constexpr Way kLast<Way> = Way::kPeerMemory;
template <>
inline constexpr Place::Kind kLast<Place::Kind> = Place::Kind::kPinned;

constexpr bool is_atomic(Operation operation) {
  return operation == Operation::kFetchAndAdd || operation == Operation::kCompareAndSwap;
}
// Nothing repeats what is lost.
constexpr bool may_lose(Transport transport) {
  return transport == Transport::kUc || transport == Transport::kUd;
}
// The server's program takes part: it posts receives, and sees what arrives.
constexpr bool is_received(Operation operation) {
  return operation == Operation::kSend || operation == Operation::kWriteWithImmediate;
}

// For --check: whether each message is compared when its completion comes, or only when all of a
// window have moved.
bool is_compared_on_arrival(const Load& load);
// A write's answer is seen in memory by the CPU; elsewhere by a completion.
bool is_polled_in_memory(const Load& load);
bool is_staged(const Load& load);
// Something arrives that takes a receive request.
bool needs_receives(const Load& load);
// Neither the sender's completion nor the target's tells that a message has come.
bool arrives_unannounced(const Load& load);

// Copies of GPU memory are work for further threads of the two processes where NIC or GPU is
// software. Where the threads of both sides of a loopback take all processors by polling, each copy
// would wait for the scheduler's next tick, milliseconds long.
bool must_give_way(const Load& load, std::uint32_t processors);

// Queue pairs of one thread, and of one port.
std::uint32_t queue_pairs_of(const Load& load, std::uint32_t thread);
std::uint32_t queue_pairs_on(const Load& load, std::uint32_t port);

// What a queue pair has room for: `depth`; and for latency no more than are ever there, one under
// way and those before it that asked for no completion. A longer queue goes through more of the
// cache, message by message.
std::uint32_t requests_queued(const Load& load);
// Requests in flight on one queue pair of a stream: `depth`, but fewer if messages are large, since
// a row lasts until all have arrived, which takes long on a slow network.
std::uint32_t requests_under_way(const Load& load, std::uint64_t size);
// Requests for one completion: what was asked for, or what suits the size.
std::uint32_t requests_for_completion(const Load& load, std::uint64_t size);

// As on the command line and in documents: "write-imm", "RC", "bandwidth", "gpu:0", "staged:1".
const char* name_of(Operation operation);
const char* name_of(Transport transport);
const char* name_of(Measure measure);
const char* name_of(Way way);
std::string text_of(const Place& place);
// The same of any field of a load; of numbers and flags: "4096", "true".
template <typename Field>
std::string field_text(const Field& field) {
  if constexpr (std::is_enum_v<Field>) {
    return name_of(field);
  } else if constexpr (std::is_same_v<Field, Place>) {
    return text_of(field);
  } else if constexpr (std::is_same_v<Field, bool>) {
    return field ? "true" : "false";
  } else {
    return std::to_string(field);
  }
}

}  // namespace gdr::perf
