#include "mpi/run/counters.h"

#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "text/json_text.h"

namespace gdr::mpi_run {
namespace {

// A counter that was reset has not gone backwards.
std::uint64_t since(std::uint64_t before, std::uint64_t after) {
  return after >= before ? after - before : after;
}

std::uint64_t number(const nlohmann::json& object, const char* name) {
  return object.at(name).get<std::uint64_t>();
}

}  // namespace

std::string counters_line(const std::string& host, const watching::PortCounts& ports,
                          const watching::Snapshot& calls) {
  nlohmann::ordered_json line = {{"host", host}, {"nics", nlohmann::ordered_json::object()}};
  for (const auto& [name, bytes] : ports) line["nics"][name] = {bytes.out, bytes.in};
  const watching::Counts all = calls.all();
  const auto of_gpu = [&](ledger::BytesOf kind) {
    return all.bytes[kind][static_cast<std::size_t>(ledger::Memory::kGpu)];
  };
  line["posted"] = all.all_of(ledger::kBytesOut) + all.all_of(ledger::kBytesRead);
  line["posted_gpu"] =
      of_gpu(ledger::kBytesOut) + of_gpu(ledger::kBytesRead) + of_gpu(ledger::kBytesReceived);
  std::uint64_t to_host = 0, to_gpu = 0, regions = 0;
  for (const watching::Process& process : calls.processes) {
    to_host += process.to_host;
    to_gpu += process.to_gpu;
  }
  std::string refused;
  for (const watching::Region& region : calls.regions) {
    if (region.memory != ledger::Memory::kGpu) continue;
    if (region.error == 0) {
      ++regions;
    } else {
      refused = std::strerror(region.error);
    }
  }
  line["copied_to_host"] = to_host;
  line["copied_to_gpu"] = to_gpu;
  line["gpu_regions"] = regions;
  line["gpu_refused"] = refused;
  return text::json_text(line, -1);
}

Result<RankCounters> read_counters(const nlohmann::json& line) {
  try {
    RankCounters counters;
    counters.host = line.at("host").get<std::string>();
    for (const auto& [name, bytes] : line.at("nics").items()) {
      counters.nics[name] = {bytes.at(0).get<std::uint64_t>(), bytes.at(1).get<std::uint64_t>()};
    }
    counters.posted = number(line, "posted");
    counters.posted_gpu = number(line, "posted_gpu");
    counters.copied_to_host = number(line, "copied_to_host");
    counters.copied_to_gpu = number(line, "copied_to_gpu");
    counters.gpu_regions = number(line, "gpu_regions");
    counters.gpu_refused = line.at("gpu_refused").get<std::string>();
    return counters;
  } catch (const nlohmann::json::exception& error) {
    return Error{EBADMSG, std::string("counters of a rank: ") + error.what()};
  }
}

Moved difference(const std::vector<RankCounters>& before, const std::vector<RankCounters>& after) {
  Moved moved;
  std::set<std::string> hosts, counted;
  for (const RankCounters& rank : after) hosts.insert(rank.host);
  for (std::size_t i = 0; i < after.size() && i < before.size(); ++i) {
    const RankCounters &was = before[i], &is = after[i];
    moved.posted += since(was.posted, is.posted);
    moved.posted_gpu += since(was.posted_gpu, is.posted_gpu);
    moved.copied_to_host += since(was.copied_to_host, is.copied_to_host);
    moved.copied_to_gpu += since(was.copied_to_gpu, is.copied_to_gpu);
    moved.gpu_regions += is.gpu_regions;
    if (!is.gpu_refused.empty()) moved.gpu_refused = is.gpu_refused;
    if (!counted.insert(is.host).second) continue;
    for (const auto& [name, port] : is.nics) {
      // A NIC that had counted nothing yet had no counters either.
      const auto then = was.nics.find(name);
      const RankCounters::Port start = then == was.nics.end() ? RankCounters::Port{} : then->second;
      RankCounters::Port& sum = moved.nics[hosts.size() > 1 ? is.host + ": " + name : name];
      sum.out += since(start.out, port.out);
      sum.in += since(start.in, port.in);
    }
  }
  return moved;
}

}  // namespace gdr::mpi_run
