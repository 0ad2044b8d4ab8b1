#include <nlohmann/json.hpp>

#include "text/json_text.h"
#include "watching/report.h"

namespace gdr::watching {
namespace {

using Json = nlohmann::ordered_json;

const char* memory_name(std::size_t memory) {
  constexpr const char* kNames[] = {"host", "gpu", "other"};
  return kNames[memory];
}

Json bytes_json(const Counts& counts, ledger::BytesOf kind) {
  Json bytes = Json::object();
  for (std::size_t memory = 0; memory < ledger::kMemories; ++memory) {
    bytes[memory_name(memory)] = counts.bytes[kind][memory];
  }
  return bytes;
}

Json counts_json(const Counts& counts) {
  return {{"bytes_out", bytes_json(counts, ledger::kBytesOut)},
          {"bytes_read", bytes_json(counts, ledger::kBytesRead)},
          {"bytes_received", bytes_json(counts, ledger::kBytesReceived)},
          {"sends", counts.operations[ledger::kSends]},
          {"writes", counts.operations[ledger::kWrites]},
          {"reads", counts.operations[ledger::kReads]},
          {"atomics", counts.operations[ledger::kAtomics]},
          {"receives", counts.operations[ledger::kReceives]},
          {"failures", counts.operations[ledger::kFailures]}};
}

Json nics_json(const Report& report) {
  Json nics = Json::array();
  for (const Device& one : report.seen.calls.devices) {
    Json nic = {{"name", one.name}, {"opened", one.opened}};
    nic.update(counts_json(one.all));
    if (const auto port = report.seen.ports.find(one.name); port != report.seen.ports.end()) {
      nic["port"] = {{"bytes_out", port->second.out}, {"bytes_in", port->second.in}};
    }
    nics.push_back(std::move(nic));
  }
  return nics;
}

Json regions_json(const Report& report) {
  Json regions = Json::array();
  for (const Region& one : report.seen.calls.regions) {
    Json region = {{"nic", one.device},
                   {"process", one.pid},
                   {"memory", one.memory == ledger::Memory::kGpu ? "gpu" : "host"},
                   {"way", one.way == ledger::Way::kDmaBuf      ? "dma-buf"
                           : one.memory == ledger::Memory::kGpu ? "peer-memory"
                                                                : "host"},
                   {"bytes", one.bytes},
                   {"remote_access", one.remote},
                   {"deregistered", one.released}};
    if (!one.gpu.empty()) region["gpu"] = one.gpu;
    if (one.managed) region["managed"] = true;
    if (one.error != 0) region["errno"] = one.error;
    const auto grade = report.seen.grades.find({one.gpu, one.device});
    if (grade != report.seen.grades.end()) region["gpu_to_nic"] = grade->second;
    regions.push_back(std::move(region));
  }
  return regions;
}

Json queue_pairs_json(const Report& report) {
  Json pairs = Json::array();
  for (const QueuePair& one : report.seen.calls.queue_pairs) {
    Json pair = {{"nic", one.device},
                 {"process", one.pid},
                 {"number", one.number},
                 {"type", type_name(one.type)},
                 {"extended_posting", one.extended},
                 {"made_by_provider", one.by_provider}};
    if (one.peer_number) pair["peer"] = {{"number", *one.peer_number}};
    if (one.peer_number && !one.peer_gid.empty()) pair["peer"]["gid"] = one.peer_gid;
    if (one.peer_number && one.peer_lid != 0) pair["peer"]["lid"] = one.peer_lid;
    pair.update(counts_json(one.counts));
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

}  // namespace

std::string to_json(const Report& report, const text::Provenance& provenance) {
  const Snapshot& calls = report.seen.calls;
  Json processes = Json::array();
  for (const Process& one : calls.processes) {
    processes.push_back({{"pid", one.pid},
                         {"program", one.program},
                         {"copied_to_host", one.to_host},
                         {"copied_to_gpu", one.to_gpu}});
  }
  Json document = text::envelope("gdr watch", 1, provenance);
  document.update({{"verdict", name_of(report.verdict)},
                   {"headline", report.headline},
                   {"reasons", report.reasons},
                   {"program", report.seen.program.name},
                   {"exit_status", report.seen.status},
                   {"seconds", report.seen.seconds},
                   {"software_nic", report.seen.soft_nic},
                   {"software_gpu", report.seen.soft_gpu},
                   {"nics", nics_json(report)},
                   {"registrations", regions_json(report)},
                   {"queue_pairs", queue_pairs_json(report)},
                   {"processes", std::move(processes)},
                   {"copied_to_host", report.to_host},
                   {"copied_to_gpu", report.to_gpu},
                   {"not_listed",
                    {{"registrations", calls.more_regions},
                     {"queue_pairs", calls.more_queue_pairs},
                     {"processes", calls.more_processes}}}});
  return text::json_text(document, 2) + "\n";
}

}  // namespace gdr::watching
