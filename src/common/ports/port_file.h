// Port: the counters of one port of the software NIC, in a file that every process of this account
// with that port adds to. They live as a NIC's do: longer than the programs.
//
//   PortFiles files("/run/user/1000/gdrkit/ports-4026531840");   // see port_folder.h
//   Port& port = files.port("soft0", guid);                      // never null
//   port.add(PortCount::kXmitPackets);                           // any thread; hot
//
// The numbers are in stripes, and the reader adds them up. Each processor has one that only what
// runs on it adds to, by a restartable sequence (base/restartable.h): no locked instruction, which
// would wait until all stores before it have reached their lines. Whoever has no such sequences, or
// a processor that the file has no stripe for, adds to one of a few shared stripes, with locked
// instructions. Each addition is whole or has not been made, wherever its program is killed.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/restartable.h"
#include "ports/port_count.h"

namespace gdr::ports {

inline constexpr std::uint32_t kSharedStripes = 16, kStripeCounts = 64;
inline constexpr std::uint32_t kMostProcessors = 4096;  // with a stripe of their own
static_assert(kPortCounts <= kStripeCounts);

struct alignas(64) Stripe {
  std::atomic<std::uint64_t> counts[kStripeCounts];
};

struct alignas(64) PortFileHeader {
  char magic[24];
  std::uint32_t counts, processors;
};
inline constexpr char kPortMagic[24] = "gdrkit port counters 2";

struct PortFile {
  PortFileHeader header;
  Stripe shared[kSharedStripes];
  Stripe own[];  // header.processors
};
constexpr std::size_t port_file_bytes(std::uint32_t processors) {
  return sizeof(PortFile) + processors * sizeof(Stripe);
}

class Port {
 public:
  // Null: nothing is counted. Of so many processors, whatever the file says later.
  explicit Port(PortFile* file, std::uint32_t processors = 0)
      : file_(file), processors_(processors) {}

  bool counts() const { return file_ != nullptr; }
  void add(PortCount count, std::uint64_t n = 1) { add(static_cast<std::uint32_t>(count), n); }
  void add(std::uint32_t count, std::uint64_t n = 1) {
    if (file_ == nullptr) return;
    const std::uint32_t processor = processor_now();
    if (processor < processors_ && add_on(processor, file_->own[processor].counts[count], n))
        [[likely]] {
      return;
    }
    add_shared(count, n);
  }

 private:
  void add_shared(std::uint32_t count, std::uint64_t n);

  PortFile* const file_;
  const std::uint32_t processors_;
};

// Never destroyed where threads count: a program's may do so until the process has ended.
class PortFiles {
 public:
  explicit PortFiles(std::string folder) : folder_(std::move(folder)) {}  // empty: nothing counts

  // What cannot be counted, since its file cannot be had, is a port that does not count. Cold.
  Port& port(const std::string& name, std::uint64_t guid);

 private:
  const std::string folder_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::uint64_t>, std::unique_ptr<Port>> known_;
};

// GDR_PORT_COUNTERS: the folder, set by `gdr run`.
inline constexpr char kPortsVariable[] = "GDR_PORT_COUNTERS";

}  // namespace gdr::ports
