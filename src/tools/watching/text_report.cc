#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "text/format.h"
#include "text/table.h"
#include "watching/report.h"

namespace gdr::watching {
namespace {

using ledger::Memory;
using text::plural;
using text::size_text;
using Rows = std::vector<std::vector<std::string>>;

constexpr std::size_t kIndent = 2;
constexpr std::size_t kMostQueuePairs = 16;  // JSON has all

std::string amount(std::uint64_t bytes) { return bytes == 0 ? "" : size_text(bytes); }

std::string rate(std::uint64_t bytes, double seconds) {
  if (bytes == 0 || seconds <= 0) return "";
  return fmt::format("{:.3g} MB/s", static_cast<double>(bytes) / seconds / 1e6);
}

std::string operations_text(const Counts& counts) {
  static constexpr std::pair<ledger::Operation, const char*> kNames[] = {
      {ledger::kWrites, "write"},   {ledger::kReads, "read"},       {ledger::kSends, "send"},
      {ledger::kAtomics, "atomic"}, {ledger::kReceives, "receive"}, {ledger::kFailures, "failure"}};
  std::string words;
  for (const auto& [kind, name] : kNames) {
    if (counts.operations[kind] == 0) continue;
    words += (words.empty() ? "" : ", ") + plural(counts.operations[kind], name);
  }
  return words;
}

// Out: sent and written. In: read and received.
std::uint64_t out_of(const Counts& counts) { return counts.all_of(ledger::kBytesOut); }
std::uint64_t in_of(const Counts& counts) { return counts.all() - out_of(counts); }

std::string nics(const Report& report) {
  Rows rows = {{"NIC", "out", "in", "of it GPU memory", "per second", "operations", "a second",
                "port out", "port in"}};
  const double seconds = report.seen.seconds;
  for (const Device& one : report.seen.calls.devices) {
    const auto port = report.seen.ports.find(one.name);
    const bool counted = port != report.seen.ports.end();
    const std::uint64_t posted = one.all.posted();
    rows.push_back(
        {one.name, size_text(out_of(one.all)), size_text(in_of(one.all)),
         amount(one.all.all_in(Memory::kGpu)), rate(one.all.all(), seconds),
         operations_text(one.all),
         posted == 0 || seconds <= 0 ? ""
                                     : fmt::format("{:.3g}", static_cast<double>(posted) / seconds),
         counted ? size_text(port->second.out) : "", counted ? size_text(port->second.in) : ""});
  }
  return rows.size() == 1 ? "" : text::table(rows, kIndent);
}

std::string memory_text(const RegionGroup& one) {
  if (one.memory != Memory::kGpu) return one.way == ledger::Way::kDmaBuf ? "dma-buf" : "host";
  return fmt::format("GPU{}{}{}", one.gpu.empty() ? "" : " " + one.gpu,
                     one.way == ledger::Way::kDmaBuf ? ", dma-buf" : ", peer memory",
                     one.managed ? ", managed" : "");
}

std::string regions(const Report& report) {
  Rows rows = {{"registered with", "memory", "way", "count", "bytes", "largest", ""}};
  for (const RegionGroup& one : report.regions) {
    rows.push_back({one.device, memory_text(one), one.grade, std::to_string(one.count),
                    size_text(one.bytes), size_text(one.largest),
                    one.error == 0 ? "" : fmt::format("failed: {}", std::strerror(one.error))});
  }
  return rows.size() == 1 ? "" : text::table(rows, kIndent);
}

std::string peer_text(const QueuePair& one) {
  if (!one.peer_number) return "";
  std::string words = std::to_string(*one.peer_number);
  if (!one.peer_gid.empty()) return words + " at " + one.peer_gid;
  return one.peer_lid != 0 ? fmt::format("{} at LID {}", words, one.peer_lid) : words;
}

std::string queue_pairs(const Report& report) {
  Rows rows = {{"queue pair", "type", "process", "peer", "out", "in", "operations"}};
  std::vector<const QueuePair*> busiest;
  for (const QueuePair& one : report.seen.calls.queue_pairs) busiest.push_back(&one);
  std::stable_sort(busiest.begin(), busiest.end(), [](const QueuePair* a, const QueuePair* b) {
    return a->counts.all() > b->counts.all();
  });
  for (std::size_t i = 0; i < std::min(busiest.size(), kMostQueuePairs); ++i) {
    const QueuePair& one = *busiest[i];
    rows.push_back({fmt::format("{} {}", one.device, one.number), type_name(one.type),
                    std::to_string(one.pid), peer_text(one), amount(out_of(one.counts)),
                    amount(in_of(one.counts)), operations_text(one.counts)});
  }
  if (rows.size() == 1) return "";
  std::string lines = text::table(rows, kIndent);
  if (busiest.size() > kMostQueuePairs) {
    lines +=
        fmt::format("  and {}\n", plural(busiest.size() - kMostQueuePairs, "other queue pair"));
  }
  return lines;
}

}  // namespace

std::string type_name(std::uint32_t type) {
  switch (type) {
    case 2:
      return "RC";
    case 3:
      return "UC";
    case 4:
      return "UD";
    case 8:
      return "raw packet";
    case 9:
      return "XRC send";
    case 10:
      return "XRC receive";
    case 0xff:
      return "driver's own";
    default:
      return std::to_string(type);
  }
}

std::string to_text(const Report& report) {
  std::string lines = fmt::format("gdr watch: {}\n", report.headline);
  for (const std::string& reason : report.reasons) lines += "  " + reason + "\n";
  lines += nics(report) + regions(report) + queue_pairs(report);
  if (report.to_host + report.to_gpu > 0) {
    lines += fmt::format("  CUDA copies: {} from GPU to host, {} from host to GPU\n",
                         size_text(report.to_host), size_text(report.to_gpu));
  }
  return lines;
}

}  // namespace gdr::watching
