#include <nlohmann/json.hpp>

#include "peermem/status.h"
#include "text/json_text.h"

namespace gdr::peermem {
namespace {

using nlohmann::ordered_json;

ordered_json of(host::Tri tri) {
  if (tri == host::Tri::kUnknown) return {};
  return tri == host::Tri::kYes;
}

ordered_json of(const std::optional<std::uint32_t>& crc) {
  return crc ? ordered_json(crc_text(crc)) : ordered_json();
}

ordered_json of(const Exports& exports) {
  ordered_json list = ordered_json::object();
  for (const auto& [name, symbol] : exports) {
    if (!is_interface_symbol(name)) continue;
    list[name] = {{"crc", of(symbol.crc)}, {"gpl_only", symbol.gpl_only}};
  }
  return list;
}

ordered_json of(const FoundModule& found) {
  const ModuleFile& module = found.module;
  return {{"file", "/" + found.place.path}, {"origin", found.place.origin},
          {"problem", found.problem},       {"name", module.name},
          {"version", module.version},      {"srcversion", module.srcversion},
          {"license", module.license},      {"vermagic", module.vermagic},
          {"signed", module.is_signed},     {"loaded", of(found.loaded)}};
}

ordered_json of(const Candidate& candidate) {
  ordered_json json = of(candidate.found);
  ordered_json wants = ordered_json::object(), refusals = ordered_json::array();
  for (const auto& [name, crc] : candidate.found.module.imports) {
    if (is_interface_symbol(name)) wants[name] = of(crc);
  }
  for (const Refusal& one : candidate.refusals) {
    refusals.push_back({{"reason", name_of(one.reason)},
                        {"symbol", one.symbol},
                        {"wanted", of(one.wanted)},
                        {"exported", of(one.exported)},
                        {"text", one.text},
                        {"modprobe", one.modprobe}});
  }
  json["wants"] = std::move(wants);
  json["refusals"] = std::move(refusals);
  return json;
}

}  // namespace

std::string to_json(const Survey& survey, const text::Provenance& provenance) {
  ordered_json drivers = ordered_json::array(), modules = ordered_json::array();
  for (const FoundModule& one : survey.drivers) {
    ordered_json json = of(one);
    json["exports"] = of(one.module.exports);
    drivers.push_back(std::move(json));
  }
  for (const Candidate& one : survey.candidates) modules.push_back(of(one));
  ordered_json document = text::envelope("gdr peermem status", 1, provenance);
  document.update({{"exit_status", exit_status(survey)},
                   {"verdict", name_of(verdict_of(survey))},
                   {"kernel", survey.kernel},
                   {"needed", of(survey.plan.needed)},
                   {"dma_buf", of(survey.plan.ways.dma_buf)},
                   {"loaded", survey.plan.loaded},
                   {"rdma",
                    {{"has_interface", of(survey.has_interface)},
                     {"source", survey.rdma.source},
                     {"exports", of(survey.rdma.exports)}}},
                   {"drivers", std::move(drivers)},
                   {"modules", std::move(modules)}});
  return text::json_text(document, 2) + "\n";
}

}  // namespace gdr::peermem
