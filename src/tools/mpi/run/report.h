// What a run of `gdr mpi run` found, as data: what the program beside each rank counted, what the
// NICs counted meanwhile, what `gdr perf` measures between the same NICs, and the answer.
//
// Units: times in seconds, rates in bytes a second.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gdr::mpi_run {

// What one rank's host and process have counted until now (counters.h).
struct RankCounters {
  std::string host;  // its name and its network namespace
  struct Port {
    std::uint64_t out = 0, in = 0;  // bytes on the wire
  };
  std::map<std::string, Port> nics;  // of the whole host
  // Bytes of work requests that this rank posted (sends, writes and reads), and those of them in
  // GPU memory, sends that arrived in GPU memory included.
  std::uint64_t posted = 0, posted_gpu = 0;
  std::uint64_t copied_to_host = 0, copied_to_gpu = 0;  // by CUDA
  std::uint64_t gpu_regions = 0;                        // registered with a NIC
  std::string gpu_refused;  // why GPU memory could not be registered; empty: it was not refused
};

// The same during one row, of all hosts and ranks together.
struct Moved {
  std::map<std::string, RankCounters::Port> nics;  // by name; on several hosts "host: name"
  std::uint64_t posted = 0, posted_gpu = 0, copied_to_host = 0, copied_to_gpu = 0;
  std::uint64_t gpu_regions = 0;  // at its end
  std::string gpu_refused;
  std::uint64_t out() const;
};

struct WrongValue {
  int rank = 0;
  std::uint64_t place = 0, size = 0;  // byte `place` of a message of `size` bytes
  int found = 0, expected = 0;
};

enum class Measure { kLatency, kBandwidth, kBidirectional, kMultiPair, kAllReduce, kAllToAll };
inline constexpr int kMeasures = 6;
const char* name_of(Measure measure);
std::optional<Measure> measure_named(const std::string& name);
// Whether its figures are bytes a second, and more is better.
bool is_rate(Measure measure);
// Between two ranks alone, one of them on another host where there is one.
bool is_of_one_pair(Measure measure);

enum class Memory { kHost, kGpu, kStaged };
const char* name_of(Memory memory);
std::optional<Memory> memory_named(const std::string& name);

struct Row {
  Measure measure = Measure::kLatency;
  std::uint64_t size = 0;
  Memory from = Memory::kHost, to = Memory::kHost;
  std::vector<double> repetitions;  // seconds, or bytes a second
  double seconds = 0;               // everything of the row
  std::uint64_t sent = 0;           // bytes that the program gave MPI for other ranks
  std::uint64_t compared = 0, wrong = 0;
  std::optional<WrongValue> first_wrong;
  std::uint64_t copied_to_host = 0, copied_to_gpu = 0;  // by the program itself
  std::optional<Moved> moved;                           // nothing: there were no counters

  double median() const;
};

// What rank 0 printed.
struct Program {
  std::string library, standard;  // "Open MPI v4.1.4, …", "3.1"
  int ranks = 0;
  std::vector<std::string> hosts;  // of the ranks, each once, in their order
  bool gpus = false;               // every rank has one
  std::string gpu_name, why_no_gpu;
  std::optional<bool> cuda_support;  // what the MPI says; nothing: it has no such function
  double idle_seconds = 0;
  std::optional<Moved> idle;  // while no message moved
  std::vector<Row> rows;
  bool done = false;
  std::string problem;  // why it ended itself; empty: it did not

  std::string short_name() const;  // "Open MPI 4.1.4"
};

// What `gdr perf` measures between the same NICs.
struct Baseline {
  struct Row {
    Measure measure = Measure::kLatency;
    Memory memory = Memory::kHost;
    std::uint64_t size = 0;
    double value = 0;
  };
  std::string near, far;  // the NICs
  std::vector<Row> rows;
  std::string problem;  // why there are none; empty: there are

  std::optional<double> find(Measure measure, Memory memory, std::uint64_t size) const;
};

// Whether the NICs carried it.
enum class Way { kNotTried, kNic, kPart, kOther, kUnknown };
// What became of GPU memory.
enum class GpuWay {
  kNotAsked,
  kNoGpu,
  kRefused,     // the MPI takes no GPU pointers
  kDirect,      // the NIC read and wrote it
  kStaged,      // the MPI copied it through host memory
  kNotByNic,    // no NIC carried it
  kUnexplained  // a NIC carried it, and neither shows
};
const char* name_of(Way way);
const char* name_of(GpuWay way);

struct Verdict {
  enum class Kind { kUsed, kInPart, kNotUsed, kUnknown, kWrongValues, kFailed };
  Kind kind = Kind::kFailed;
  Way host = Way::kNotTried;
  GpuWay gpu = GpuWay::kNotAsked;
  std::string headline;              // one sentence
  std::vector<std::string> reasons;  // the counters behind it, and what to type next
  std::optional<double> share_of_nic, times_staging;

  int exit_status() const;
};
const char* name_of(Verdict::Kind kind);

struct Report {
  std::string date, version, command;  // command: the launcher's, as it was started
  std::string launcher, compiler;      // files
  bool soft_nic = false, soft_gpu = false;
  bool wants_host = true, wants_gpu = false;
  Program program;
  Baseline baseline;
  Verdict verdict;
  std::string failure;        // how the launcher ended where it should not have; empty: well
  bool hangs_at_end = false;  // the launcher did not end behind the last row, and was ended
  double seconds = 0;
};

}  // namespace gdr::mpi_run
