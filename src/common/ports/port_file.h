// Port: the counters of one port of the software NIC, in a file that every process of this account
// with that port adds to. They live as a NIC's do: longer than the programs.
//
//   PortFiles files("/run/user/1000/gdrkit/ports-4026531840");   // see port_folder.h
//   Port& port = files.port("soft0", guid);                      // never null
//   port.add(PortCount::kXmitPackets);                           // any thread; hot
//
// The numbers are in stripes, one for some processors each: two programs that count at a time
// seldom write to one cache line. Each is an atomic by itself; the reader adds them up.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "ports/port_count.h"

namespace gdr::ports {

inline constexpr std::uint32_t kStripes = 16, kStripeCounts = 64;
static_assert(kPortCounts <= kStripeCounts);

struct alignas(64) Stripe {
  std::atomic<std::uint64_t> counts[kStripeCounts];
};

struct alignas(64) PortFileHeader {
  char magic[24];
  std::uint32_t counts, stripes;
};
inline constexpr char kPortMagic[24] = "gdrkit port counters 1";

struct PortFile {
  PortFileHeader header;
  Stripe stripes[kStripes];
};

class Port {
 public:
  explicit Port(PortFile* file) : file_(file) {}  // null: nothing is counted

  bool counts() const { return file_ != nullptr; }
  void add(PortCount count, std::uint64_t n = 1) { add(static_cast<std::uint32_t>(count), n); }
  void add(std::uint32_t count, std::uint64_t n = 1) {
    if (file_ != nullptr) add_in(stripe_now(), count, n);
  }

  // The same for several numbers, perhaps of several ports, each of which counts().
  static std::uint32_t stripe_now() {
    return static_cast<std::uint32_t>(sched_getcpu()) % kStripes;
  }
  void add_in(std::uint32_t stripe, PortCount count, std::uint64_t n) {
    add_in(stripe, static_cast<std::uint32_t>(count), n);
  }
  void add_in(std::uint32_t stripe, std::uint32_t count, std::uint64_t n) {
    file_->stripes[stripe].counts[count].fetch_add(n, std::memory_order_relaxed);
  }

 private:
  PortFile* const file_;
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
