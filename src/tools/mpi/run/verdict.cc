#include "mpi/run/verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/format.h"

namespace gdr::mpi_run {
namespace {

using Kind = Verdict::Kind;

// Of what the program sent. Headers add to what leaves a NIC, and resent packets, too.
constexpr double kAll = 0.9, kNothing = 0.05;
// Of what the program sent in GPU memory: so much was posted there, or copied by the MPI.
constexpr double kMost = 0.5;

// What rows have in common that are judged together.
struct Sums {
  std::uint64_t rows = 0, sent = 0, posted = 0, posted_gpu = 0, regions = 0;
  double left = 0;                     // NICs, without what leaves them in any case
  std::uint64_t copied = 0;            // by CUDA, and not by the program itself
  std::map<std::string, double> nics;  // what left each
  bool has_counters = true;
  std::string refused;

  double carried() const { return std::max(left, static_cast<double>(posted)); }
  double share() const { return sent == 0 ? 0 : carried() / static_cast<double>(sent); }
};

double idle_rate(const Program& program, const std::string& nic) {
  if (!program.idle || program.idle_seconds <= 0) return 0;
  const auto port = program.idle->nics.find(nic);
  if (port == program.idle->nics.end()) return 0;
  return static_cast<double>(port->second.out) / program.idle_seconds;
}

std::uint64_t less(std::uint64_t all, std::uint64_t part) { return all > part ? all - part : 0; }

void add(const Row& row, const Program& program, Sums& sums) {
  ++sums.rows;
  sums.sent += row.sent;
  if (!row.moved) {
    sums.has_counters = false;
    return;
  }
  const Moved& moved = *row.moved;
  sums.posted += moved.posted;
  sums.posted_gpu += moved.posted_gpu;
  sums.regions = std::max(sums.regions, moved.gpu_regions);
  sums.copied +=
      less(moved.copied_to_host, row.copied_to_host) + less(moved.copied_to_gpu, row.copied_to_gpu);
  if (!moved.gpu_refused.empty()) sums.refused = moved.gpu_refused;
  for (const auto& [name, port] : moved.nics) {
    const double own =
        std::max(0.0, static_cast<double>(port.out) - idle_rate(program, name) * row.seconds);
    sums.nics[name] += own;
    sums.left += own;
  }
}

// Rows between two ranks: of these alone it is known what has to leave a NIC.
Sums sums_of(const Program& program, Memory from, Memory to) {
  Sums sums;
  for (const Row& row : program.rows) {
    if (is_of_one_pair(row.measure) && row.from == from && row.to == to) add(row, program, sums);
  }
  return sums;
}

Way way_of(const Sums& sums) {
  if (sums.rows == 0) return Way::kNotTried;
  if (!sums.has_counters) return Way::kUnknown;
  const double share = sums.share();
  return share >= kAll ? Way::kNic : share < kNothing ? Way::kOther : Way::kPart;
}

GpuWay gpu_way_of(const Report& report, const Sums& sums) {
  if (!report.wants_gpu) return GpuWay::kNotAsked;
  if (!report.program.gpus) return GpuWay::kNoGpu;
  if (sums.rows == 0) return GpuWay::kRefused;
  if (!sums.has_counters) return GpuWay::kUnexplained;
  const double sent = static_cast<double>(sums.sent);
  if (sums.share() < kNothing) return GpuWay::kNotByNic;
  if (static_cast<double>(sums.posted_gpu) >= kMost * sent) return GpuWay::kDirect;
  if (static_cast<double>(sums.copied) >= kMost * sent) return GpuWay::kStaged;
  // A library that writes requests into the NIC's queues itself posts none that show.
  return sums.regions > 0 && sums.posted == 0 ? GpuWay::kDirect : GpuWay::kUnexplained;
}

std::string nic_words(const Report& report) {
  return report.soft_nic ? "software NIC (STAND-IN)" : "NIC";
}

std::string bytes_text(double bytes) {
  return text::size_text(static_cast<std::uint64_t>(std::max(0.0, bytes)));
}

// "1.3 GiB left soft0" or "0 B left the NICs".
std::string left_words(const Sums& sums) {
  std::string names;
  for (const auto& [name, bytes] : sums.nics) {
    if (bytes < kNothing * sums.left || bytes <= 0) continue;
    names += (names.empty() ? "" : ", ") + name;
  }
  return fmt::format("{} left {}", bytes_text(sums.left),
                     names.empty() || sums.share() < kNothing ? "the NICs" : names);
}

std::string counters_line(const char* what, const Sums& sums) {
  return fmt::format("{}: the program sent {}; {}; requests for {} were posted", what,
                     bytes_text(static_cast<double>(sums.sent)), left_words(sums),
                     bytes_text(static_cast<double>(sums.posted)));
}

std::string gpu_counters_line(const Sums& sums) {
  return fmt::format(
      "{}; {} of them in GPU memory; the MPI copied {} of GPU memory; {} registered",
      counters_line("GPU memory", sums), bytes_text(static_cast<double>(sums.posted_gpu)),
      bytes_text(static_cast<double>(sums.copied)), text::plural(sums.regions, "GPU region"));
}

// What makes an MPI use the NIC on one host, where shared memory is nearer.
std::string how_to_use_the_nic(const Report& report) {
  const bool one_host = report.program.hosts.size() < 2;
  std::string words = one_host ? "ranks of one host use shared memory unless told otherwise; "
                               : "the MPI chose another network; ";
  if (report.program.library.starts_with("Open MPI")) {
    return words + "type: gdr mpi run -- --mca pml ucx -x UCX_TLS=rc" +
           (report.wants_gpu ? ",cuda_copy" : "");
  }
  if (report.program.library.starts_with("MPICH")) {
    return words + "type: gdr mpi run -- -env UCX_TLS rc -env MPIR_CVAR_NOLOCAL 1";
  }
  return words + "see its manual for the choice of a network";
}

std::string refused_words(const Report& report) {
  return report.program.cuda_support.has_value()
             ? "it was built without CUDA (MPIX_Query_cuda_support says 0)"
             : "it has no MPIX_Query_cuda_support";
}

// "Open MPI 4.1.4 moves GPU memory at 0.93 of what the NIC can, 3.1 x staging"
std::string moves_words(const Report& report, Memory memory, const Verdict& verdict) {
  std::string words = fmt::format("{} moves {} memory", report.program.short_name(),
                                  memory == Memory::kHost ? "host" : "GPU");
  if (verdict.share_of_nic) {
    words += fmt::format(" at {:.2f} of what the {} can", *verdict.share_of_nic, nic_words(report));
  }
  if (memory == Memory::kGpu && verdict.times_staging) {
    words += fmt::format(", {:.2g} x staging", *verdict.times_staging);
  }
  return words;
}

std::string host_headline(const Report& report, const Verdict& verdict) {
  const std::string name = report.program.short_name(), nic = nic_words(report);
  switch (verdict.host) {
    case Way::kNic:
      return fmt::format("{}: it used the {}", moves_words(report, Memory::kHost, verdict), nic);
    case Way::kPart:
      return fmt::format("{} used the {} in part", name, nic);
    case Way::kOther:
      return fmt::format("{} did not use the {}", name, nic);
    case Way::kNotTried:
    case Way::kUnknown:
      break;
  }
  return fmt::format("{}: no counters, so that nobody knows whether it used the {}", name, nic);
}

std::string gpu_headline(const Report& report, const Verdict& verdict) {
  const std::string name = report.program.short_name();
  const std::string end = report.soft_nic || report.soft_gpu ? " (STAND-INS)" : "";
  const std::string moves = moves_words(report, Memory::kGpu, verdict);
  switch (verdict.gpu) {
    case GpuWay::kDirect:
      return moves + ": GPUDirect RDMA is used" + end;
    case GpuWay::kStaged:
      return moves + ": GPUDirect RDMA is not used, it copies through host memory" + end;
    case GpuWay::kNotByNic:
      return fmt::format("{} did not use the {} for GPU memory: GPUDirect RDMA is not used{}", name,
                         nic_words(report), end);
    case GpuWay::kRefused:
      if (!report.wants_host) {
        return fmt::format("GPU memory cannot be passed to {}: GPUDirect RDMA is not used", name);
      }
      return host_headline(report, verdict) +
             "; GPU memory cannot be passed to it: GPUDirect RDMA is not used";
    case GpuWay::kUnexplained:
      return moves + ": the counters do not tell whether GPUDirect RDMA is used";
    case GpuWay::kNotAsked:
    case GpuWay::kNoGpu:
      break;
  }
  return host_headline(report, verdict);
}

void add_reasons(const Report& report, const Sums& host, const Sums& gpu, Verdict& verdict) {
  std::vector<std::string>& reasons = verdict.reasons;
  if (host.rows > 0 && host.has_counters) reasons.push_back(counters_line("host memory", host));
  if (gpu.rows > 0 && gpu.has_counters) reasons.push_back(gpu_counters_line(gpu));
  if (verdict.gpu == GpuWay::kRefused) {
    reasons.push_back(refused_words(report) + "; type: gdr mpi check");
  }
  if (verdict.gpu == GpuWay::kNoGpu) {
    reasons.push_back("not every rank has a GPU: " + report.program.why_no_gpu);
  }
  if (!gpu.refused.empty()) {
    reasons.push_back("GPU memory was refused by the NIC: " + gpu.refused + "; type: gdr doctor");
  }
  if (report.hangs_at_end) {
    reasons.emplace_back(
        "behind the last row the ranks did not come out of MPI_Finalize, and were "
        "ended");
  }
  if (verdict.host == Way::kOther || verdict.gpu == GpuWay::kNotByNic) {
    reasons.push_back(how_to_use_the_nic(report));
    if (!report.soft_nic && report.program.hosts.size() < 2) {
      reasons.emplace_back(
          "some NICs do not count what they loop back: two hosts (--hosts) give the sure answer");
    }
  }
}

Kind kind_of(const Report& report, const Verdict& verdict) {
  if (verdict.host == Way::kUnknown) return Kind::kUnknown;
  const bool host_used = verdict.host == Way::kNic, gpu_used = verdict.gpu == GpuWay::kDirect;
  const bool any_host = host_used || verdict.host == Way::kPart;
  if (!report.wants_gpu) return host_used ? Kind::kUsed : any_host ? Kind::kInPart : Kind::kNotUsed;
  if (gpu_used && (host_used || !report.wants_host)) return Kind::kUsed;
  const bool gpu_over_nic = verdict.gpu == GpuWay::kStaged || verdict.gpu == GpuWay::kUnexplained;
  return any_host || gpu_used || gpu_over_nic ? Kind::kInPart : Kind::kNotUsed;
}

std::string wrong_headline(const Report& report) {
  std::uint64_t wrong = 0, compared = 0;
  const Row* first = nullptr;
  for (const Row& row : report.program.rows) {
    wrong += row.wrong;
    compared += row.compared;
    if (first == nullptr && row.first_wrong) first = &row;
  }
  std::string words = fmt::format("{} delivered wrong values: {} of {} bytes",
                                  report.program.short_name(), wrong, compared);
  if (first == nullptr) return words;
  const WrongValue& value = *first->first_wrong;
  return words + fmt::format(
                     "; first: {} of {} B, {} to {}, rank {}: byte {} of {} is {:#04x}, "
                     "expected {:#04x}",
                     name_of(first->measure), first->size, name_of(first->from), name_of(first->to),
                     value.rank, value.place, value.size, value.found, value.expected);
}

bool has_wrong_values(const Program& program) {
  return std::any_of(program.rows.begin(), program.rows.end(),
                     [](const Row& row) { return row.wrong > 0; });
}

}  // namespace

std::optional<double> times_staging(const Program& program, Measure measure) {
  std::optional<double> times;
  std::uint64_t largest = 0;
  for (const Row& direct : program.rows) {
    if (direct.measure != measure || direct.from != Memory::kGpu || direct.to != Memory::kGpu) {
      continue;
    }
    for (const Row& staged : program.rows) {
      if (staged.measure != measure || staged.from != Memory::kStaged ||
          staged.to != Memory::kStaged || staged.size != direct.size || staged.median() <= 0 ||
          direct.median() <= 0 || direct.size < largest) {
        continue;
      }
      largest = direct.size;
      times =
          is_rate(measure) ? direct.median() / staged.median() : staged.median() / direct.median();
    }
  }
  return times;
}

std::optional<double> share_of_nic(const Program& program, const Baseline& baseline,
                                   Memory memory) {
  std::optional<double> share;
  std::uint64_t largest = 0;
  for (const Row& row : program.rows) {
    if (row.measure != Measure::kBandwidth || row.from != memory || row.to != memory) continue;
    const std::optional<double> can = baseline.find(Measure::kBandwidth, memory, row.size);
    if (!can || *can <= 0 || row.size < largest) continue;
    largest = row.size;
    share = row.median() / *can;
  }
  return share;
}

Verdict judge(const Report& report) {
  Verdict verdict;
  const Sums host = sums_of(report.program, Memory::kHost, Memory::kHost),
             gpu = sums_of(report.program, Memory::kGpu, Memory::kGpu);
  verdict.host = way_of(host);
  verdict.gpu = gpu_way_of(report, gpu);
  if (has_wrong_values(report.program)) {
    verdict.kind = Kind::kWrongValues;
    verdict.headline = wrong_headline(report);
    return verdict;
  }
  if (!report.failure.empty() || !report.program.done) {
    verdict.kind = Kind::kFailed;
    verdict.headline =
        report.failure.empty() ? "the program did not come to its end" : report.failure;
    return verdict;
  }
  const bool by_gpu = verdict.gpu == GpuWay::kDirect || verdict.gpu == GpuWay::kStaged ||
                      verdict.gpu == GpuWay::kUnexplained;
  verdict.share_of_nic =
      share_of_nic(report.program, report.baseline, by_gpu ? Memory::kGpu : Memory::kHost);
  if (by_gpu) verdict.times_staging = times_staging(report.program, Measure::kBandwidth);
  verdict.kind = kind_of(report, verdict);
  verdict.headline =
      report.wants_gpu ? gpu_headline(report, verdict) : host_headline(report, verdict);
  add_reasons(report, host, gpu, verdict);
  return verdict;
}

}  // namespace gdr::mpi_run
