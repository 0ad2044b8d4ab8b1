#include "mpi/run/report.h"

#include <algorithm>
#include <cctype>

namespace gdr::mpi_run {

const char* name_of(Measure measure) {
  switch (measure) {
    case Measure::kLatency:
      return "latency";
    case Measure::kBandwidth:
      return "bandwidth";
    case Measure::kBidirectional:
      return "bidirectional";
    case Measure::kMultiPair:
      return "multi-pair";
    case Measure::kAllReduce:
      return "all-reduce";
    case Measure::kAllToAll:
      return "all-to-all";
  }
  return "";
}

bool is_rate(Measure measure) {
  return measure == Measure::kBandwidth || measure == Measure::kBidirectional ||
         measure == Measure::kMultiPair;
}

bool is_of_one_pair(Measure measure) {
  return measure == Measure::kLatency || measure == Measure::kBandwidth ||
         measure == Measure::kBidirectional;
}

const char* name_of(Memory memory) {
  switch (memory) {
    case Memory::kHost:
      return "host";
    case Memory::kGpu:
      return "gpu";
    case Memory::kStaged:
      return "staged";
  }
  return "";
}

std::optional<Measure> measure_named(const std::string& name) {
  for (int i = 0; i < kMeasures; ++i) {
    if (name == name_of(static_cast<Measure>(i))) return static_cast<Measure>(i);
  }
  return std::nullopt;
}

std::optional<Memory> memory_named(const std::string& name) {
  for (const Memory memory : {Memory::kHost, Memory::kGpu, Memory::kStaged}) {
    if (name == name_of(memory)) return memory;
  }
  return std::nullopt;
}

const char* name_of(Way way) {
  switch (way) {
    case Way::kNotTried:
      return "not tried";
    case Way::kNic:
      return "nic";
    case Way::kPart:
      return "in part";
    case Way::kOther:
      return "other";
    case Way::kUnknown:
      return "unknown";
  }
  return "";
}

const char* name_of(GpuWay way) {
  switch (way) {
    case GpuWay::kNotAsked:
      return "not asked";
    case GpuWay::kNoGpu:
      return "no gpu";
    case GpuWay::kRefused:
      return "cannot be passed";
    case GpuWay::kDirect:
      return "direct";
    case GpuWay::kStaged:
      return "staged";
    case GpuWay::kNotByNic:
      return "not by a nic";
    case GpuWay::kUnexplained:
      return "unexplained";
  }
  return "";
}

const char* name_of(Verdict::Kind kind) {
  switch (kind) {
    case Verdict::Kind::kUsed:
      return "used";
    case Verdict::Kind::kInPart:
      return "in part";
    case Verdict::Kind::kNotUsed:
      return "not used";
    case Verdict::Kind::kUnknown:
      return "unknown";
    case Verdict::Kind::kWrongValues:
      return "wrong values";
    case Verdict::Kind::kFailed:
      return "failed";
  }
  return "";
}

int Verdict::exit_status() const {
  switch (kind) {
    case Kind::kUsed:
      return 0;
    case Kind::kInPart:
    case Kind::kNotUsed:
    case Kind::kUnknown:
      return 3;
    case Kind::kWrongValues:
    case Kind::kFailed:
      break;
  }
  return 1;
}

std::uint64_t Moved::out() const {
  std::uint64_t sum = 0;
  for (const auto& [name, port] : nics) sum += port.out;
  return sum;
}

double Row::median() const {
  if (repetitions.empty()) return 0;
  std::vector<double> sorted = repetitions;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

std::string Program::short_name() const {
  // "Open MPI v4.1.4, package: …", "MPICH Version:\t4.0.2", "Intel(R) MPI Library 2021.9 for
  // Linux".
  const std::string name = library.substr(0, library.find_first_of(",\n"));
  const std::size_t digit = name.find_first_of("0123456789");
  if (digit == std::string::npos) return name.empty() ? "the MPI" : name;
  std::string words = name.substr(0, digit);
  for (const char* ending : {"Version:", "version"}) {
    const std::size_t at = words.find(ending);
    if (at != std::string::npos) words.erase(at);
  }
  if (words.ends_with(" v")) words.pop_back();
  while (!words.empty() && std::isspace(static_cast<unsigned char>(words.back())) != 0) {
    words.pop_back();
  }
  const std::size_t end = name.find_first_not_of("0123456789.abrc", digit);
  return words + " " + name.substr(digit, end == std::string::npos ? end : end - digit);
}

std::optional<double> Baseline::find(Measure measure, Memory memory, std::uint64_t size) const {
  for (const Row& row : rows) {
    if (row.measure == measure && row.memory == memory && row.size == size) return row.value;
  }
  return std::nullopt;
}

}  // namespace gdr::mpi_run
