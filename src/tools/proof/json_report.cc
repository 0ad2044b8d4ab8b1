#include "proof/json_report.h"

#include <nlohmann/json.hpp>

#include "proof/verdict.h"
#include "text/json_text.h"

namespace gdr::proof {
namespace {

using nlohmann::ordered_json;

const char* status_name(Status status) {
  switch (status) {
    case Status::kProved:
      return "proved";
    case Status::kFailed:
      return "failed";
    case Status::kNotProved:
      break;
  }
  return "not proved";
}

const char* memory_name(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kDevice:
      return "cuMemAlloc";
    case MemoryKind::kDeviceVmm:
      return "cuMemCreate";
    default:
      return "host";
  }
}

ordered_json nic_json(const NicEntry& nic, bool soft) {
  ordered_json ports = ordered_json::array();
  for (const NicPort& port : nic.survey.ports) {
    ordered_json entry{{"number", port.number},
                       {"active", port.active},
                       {"link_layer", port.ethernet ? "Ethernet" : "InfiniBand"},
                       {"speed_mbps", port.speed},
                       {"gid", port.gid},
                       {"ipv4", port.ipv4},
                       {"mac", port.mac}};
    if (!port.problem.empty()) entry["problem"] = port.problem;
    if (const host::Port* const known = find_known_port(nic, port.number)) {
      entry["netdev"] = known->netdev;
      if (!known->mac.empty()) entry["mac"] = known->mac;
    }
    ports.push_back(std::move(entry));
  }
  ordered_json json{{"name", nic.survey.name}, {"stand_in", soft}};
  if (nic.hardware) {
    json["pci_address"] = nic.hardware->pci_address;
    json["numa_node"] = nic.hardware->numa_node;
    json["firmware"] = nic.hardware->firmware;
  }
  if (!nic.survey.problem.empty()) json["problem"] = nic.survey.problem;
  json["ports"] = std::move(ports);
  return json;
}

ordered_json gpu_json(const GpuEntry& gpu, bool soft) {
  ordered_json json{{"ordinal", gpu.survey.ordinal},
                    {"name", gpu.survey.name},
                    {"pci_address", gpu.survey.pci_address},
                    {"uuid", gpu.survey.uuid},
                    {"memory_bytes", gpu.survey.memory},
                    {"dma_buf", gpu.survey.dma_buf},
                    {"gpu_direct_rdma", gpu.survey.gpu_direct},
                    {"stand_in", soft}};
  if (gpu.hardware) json["numa_node"] = gpu.hardware->numa_node;
  return json;
}

ordered_json inventory_json(const InventoryReport& inventory) {
  ordered_json json{{"libibverbs", inventory.verbs_path}, {"libcuda", inventory.cuda_path}};
  if (!inventory.verbs_problem.empty()) json["libibverbs_problem"] = inventory.verbs_problem;
  if (!inventory.cuda_problem.empty()) json["libcuda_problem"] = inventory.cuda_problem;
  json["gpus"] = ordered_json::array();
  for (const GpuEntry& gpu : inventory.gpus)
    json["gpus"].push_back(gpu_json(gpu, inventory.soft_gpu));
  json["nics"] = ordered_json::array();
  for (const NicEntry& nic : inventory.nics)
    json["nics"].push_back(nic_json(nic, inventory.soft_nic));
  json["peer_memory"] = inventory.peer_memory;
  json["locked_memory_limit"] =
      inventory.locked_memory_limit ? ordered_json(*inventory.locked_memory_limit) : ordered_json();
  return json;
}

ordered_json host_or_null(const std::string& host) {
  return host.empty() ? ordered_json() : ordered_json(host);
}

// `far`: B's, the same where both are on this host.
ordered_json participants_json(const InventoryReport& near, const InventoryReport& far,
                               const Participants& pair) {
  const auto gpu = [&](const InventoryReport& inventory,
                       const std::string& address) -> ordered_json {
    const GpuEntry* const entry = gpu_at(inventory, address);
    return entry != nullptr ? gpu_json(*entry, inventory.soft_gpu) : ordered_json();
  };
  const auto known = [](const std::string& grade) {
    return grade.empty() ? ordered_json() : ordered_json(grade);
  };
  return {{"from_nic", pair.from_nic},
          {"from_host", host_or_null(pair.from_host)},
          {"to_host", host_or_null(pair.to_host)},
          {"from_gpu", gpu(near, pair.from_gpu)},
          {"from_grade", known(pair.from_grade)},
          {"to_nic", pair.to_nic},
          {"gpu", gpu(far, pair.gpu)},
          {"grade", known(pair.grade)}};
}

ordered_json registration_json(const RegistrationResult& result) {
  ordered_json json{
      {"nic", result.nic},
      {"gpu", result.gpu},
      {"host", host_or_null(result.host)},
      {"memory", memory_name(result.memory)},
      {"registration", result.registration == Registration::kDmaBuf ? "dma-buf" : "peer-memory"},
      {"ok", result.ok},
      {"code", result.code},
      {"detail", result.detail},
      {"used", result.used}};
  json["modules"] = ordered_json::array();
  for (const host::LoadedModule& module : result.modules) {
    json["modules"].push_back({{"name", module.name}, {"version", module.version}});
  }
  return json;
}

ordered_json check_json(const Check& check) {
  ordered_json json{{"mode", check.mode},
                    {"gpu", check.gpu},
                    {"from_gpu", check.from_gpu},
                    {"from_nic", check.from_nic},
                    {"to_nic", check.to_nic},
                    {"from_host", host_or_null(check.from_host)},
                    {"to_host", host_or_null(check.to_host)},
                    {"from", memory_name(check.direction.from)},
                    {"to", memory_name(check.direction.to)},
                    {"source_gpu", check.source_gpu()},
                    {"target_gpu", check.target_gpu()},
                    {"status", status_name(check.status)},
                    {"transfers", check.transfers},
                    {"failed", check.failed},
                    {"bytes", check.bytes},
                    {"least_bytes", check.least},
                    {"most_bytes", check.most}};
  if (!check.reason.empty()) json["reason"] = check.reason;
  if (!check.transfer.empty()) json["transfer"] = check.transfer;
  return json;
}

// What was not measured has no number.
ordered_json measured(auto value) { return value > 0 ? ordered_json(value) : ordered_json(); }

ordered_json ratio(std::uint64_t staged, std::uint64_t direct) {
  if (staged == 0 || direct == 0) return {};
  return static_cast<double>(staged) / static_cast<double>(direct);
}

ordered_json measurement_json(const Measurement& m) {
  ordered_json json{
      {"from", memory_name(m.direction.from)},
      {"to", memory_name(m.direction.to)},
      {"from_nic", m.from_nic},
      {"to_nic", m.to_nic},
      {"from_host", host_or_null(m.from_host)},
      {"to_host", host_or_null(m.to_host)},
      {"gpu", m.gpu},
      {"from_gpu", m.from_gpu},
      {"source_gpu", m.source_gpu()},
      {"target_gpu", m.target_gpu()},
      {"write_8_bytes_ns", measured(m.small_nanoseconds)},
      {"large_bytes", m.size},
      {"direct_ns", measured(m.direct_nanoseconds)},
      {"in_flight", m.in_flight},
      {"in_flight_bytes_per_second", measured(m.bytes_per_second)},
      {"staged_serial_ns", measured(m.serial_nanoseconds)},
      {"staged_serial_ratio", ratio(m.serial_nanoseconds, m.direct_nanoseconds)},
      {"staged_double_buffered_ns", measured(m.double_nanoseconds)},
      {"staged_double_buffered_ratio", ratio(m.double_nanoseconds, m.direct_nanoseconds)}};
  if (!m.problem.empty()) json["problem"] = m.problem;
  return json;
}

template <typename T, typename Convert>
ordered_json list(const std::vector<T>& items, Convert convert) {
  ordered_json json = ordered_json::array();
  for (const T& item : items) json.push_back(convert(item));
  return json;
}

const char* verdict_name(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kProved:
      return "PROVED";
    case VerdictKind::kSimulated:
      return "SIMULATION PASSED";
    case VerdictKind::kIncomplete:
      return "INCOMPLETE";
    case VerdictKind::kInterrupted:
      return "INTERRUPTED";
    case VerdictKind::kFailed:
      break;
  }
  return "FAILED";
}

ordered_json other_json(const std::optional<OtherSide>& other) {
  if (!other) return {};
  const RunFacts& facts = other->facts;
  return {{"host", facts.host},
          {"version", facts.version},
          {"kernel", facts.kernel},
          {"gpu_driver", facts.gpu_driver},
          {"inventory", inventory_json(other->inventory)}};
}

}  // namespace

std::string to_json(const Report& report, const text::Provenance& provenance) {
  const Verdict& verdict = report.verdict;
  ordered_json participants = ordered_json::array();
  for (const Participants& pair : report.participants) {
    const bool two_hosts = report.other && !pair.to_host.empty();
    participants.push_back(participants_json(
        report.inventory, two_hosts ? report.other->inventory : report.inventory, pair));
  }
  const RunFacts& facts = report.facts;
  ordered_json json = text::envelope("gdr prove", 1, provenance);
  json.update({{"kernel", facts.kernel},
               {"gpu_driver", facts.gpu_driver},
               {"interrupted", report.interrupted},
               {"verdict", verdict_name(verdict.kind)},
               {"partial", verdict.partial},
               {"exit_status", verdict.exit_status()},
               {"stand_ins", verdict.replaced},
               {"real", verdict.real},
               {"on", verdict.on},
               {"ways", verdict.ways},
               {"not_proved", verdict.not_proved},
               {"seen", verdict.seen},
               {"causes", verdict.causes},
               {"next", verdict.next.text()},
               {"seconds", report.seconds},
               {"inventory", inventory_json(report.inventory)},
               {"other_host", other_json(report.other)},
               {"participants", participants},
               {"registrations", list(report.registrations, registration_json)},
               {"checks", list(report.checks, check_json)},
               {"measurements", list(report.measurements, measurement_json)}});
  return text::json_text(json, 2) + "\n";
}

}  // namespace gdr::proof
