#include "nccl/json_report.h"

#include <nlohmann/json.hpp>

#include "nccl/text_report.h"
#include "text/json_text.h"

namespace gdr::nccl {
namespace {

using nlohmann::ordered_json;

ordered_json of(const Evidence& evidence) {
  return {{"line", evidence.line}, {"text", evidence.text}, {"times", evidence.times}};
}

ordered_json of(const std::vector<Cause>& causes) {
  ordered_json list = ordered_json::array();
  for (const Cause& cause : causes) {
    ordered_json entry = {{"id", cause.id}, {"what", cause.what}};
    entry["evidence"] = cause.evidence ? of(*cause.evidence) : ordered_json();
    entry["next"] = cause.next.text();
    entry["note"] = cause.note;
    list.push_back(std::move(entry));
  }
  return list;
}

ordered_json of(const Counts& counts) {
  return {{"connections", counts.connections},
          {"network", counts.network},
          {"gdrdma", counts.gdrdma},
          {"plain", counts.plain},
          {"uncertain", counts.uncertain},
          {"p2p", counts.p2p},
          {"shared_memory", counts.shared_memory},
          {"other", counts.other}};
}

ordered_json of(const Connection& connection, std::uint64_t times) {
  constexpr const char* kTransports[] = {"NET", "COLLNET", "P2P", "SHM", "other"};
  constexpr const char* kDirections[] = {"send", "receive", "both"};
  ordered_json entry = {
      {"channel", connection.channel},
      {"index", connection.index},
      {"from", connection.from},
      {"to", connection.to < 0 ? ordered_json() : ordered_json(connection.to)},
      {"direction", kDirections[static_cast<std::size_t>(connection.direction)]},
      {"transport", kTransports[static_cast<std::size_t>(connection.transport)]},
      {"kind", connection.kind},
      {"device", connection.device < 0 ? ordered_json() : ordered_json(connection.device)}};
  // Whether it is there is not known where the message's end is missing.
  entry["gdrdma"] =
      connection.certain || connection.gdrdma ? ordered_json(connection.gdrdma) : ordered_json();
  entry["times"] = times;
  return entry;
}

ordered_json log_json(const Log& log) {
  ordered_json settings = ordered_json::object();
  for (const auto& [name, setting] : log.settings) settings[name] = setting.value;
  ordered_json devices = ordered_json::array();
  for (const auto& [key, device] : log.devices) {
    devices.push_back({{"host", device.host},
                       {"plugin", device.plugin},
                       {"name", device.name},
                       {"gdr", device.enabled},
                       {"evidence", of(device.evidence)}});
  }
  return {{"lines", log.lines},
          {"messages", log.messages},
          {"warnings", log.warnings},
          {"version", log.version.known() ? ordered_json(log.version.text) : ordered_json()},
          {"ranks", log.ranks > 0 ? ordered_json(log.ranks) : ordered_json()},
          {"hosts", log.hosts},
          {"processes", log.processes.size()},
          {"networks", log.networks},
          {"settings", settings},
          {"devices", devices}};
}

}  // namespace

std::string to_json(const Report& report, std::string_view tool,
                    const text::Provenance& provenance) {
  ordered_json document = text::envelope(tool, 1, provenance);
  document.update({{"verdict", name_of(report.verdict)},
                   {"expected", name_of(report.expectation)},
                   {"met", report.met},
                   {"exit_status", report.met ? 0 : 1},
                   {"counts", of(report.counts)},
                   {"causes", of(report.causes)},
                   {"also", of(report.also)},
                   {"log", log_json(report.log)}});
  ordered_json connections = ordered_json::array();
  for (const auto& [connection, times] : report.log.connections) {
    connections.push_back(of(connection, times));
  }
  document["connections"] = std::move(connections);
  document["connections_left_out"] = report.log.connections_left_out;
  return text::json_text(document, 2) + "\n";
}

}  // namespace gdr::nccl
