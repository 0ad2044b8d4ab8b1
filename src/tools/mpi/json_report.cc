#include "mpi/json_report.h"

#include <nlohmann/json.hpp>

#include "text/json_text.h"

namespace gdr::mpi {
namespace {

using nlohmann::ordered_json;

ordered_json of(Tri value) {
  return value == Tri::kUnknown ? ordered_json() : ordered_json(value == Tri::kYes);
}

// An unknown text is null, and not an empty one.
ordered_json of(const std::string& text) {
  return text.empty() ? ordered_json() : ordered_json(text);
}

ordered_json of(const std::vector<Step>& steps) {
  ordered_json list = ordered_json::array();
  for (const Step& step : steps) {
    list.push_back({{"what", step.text}, {"command", of(step.command.text())}});
  }
  return list;
}

ordered_json of(const std::optional<Ucx>& ucx) {
  if (!ucx) return {};
  return {{"version", of(ucx->version)},   {"library", of(ucx->library)},
          {"asked", of(ucx->asked)},       {"cuda", of(ucx->cuda)},
          {"cuda_ipc", of(ucx->cuda_ipc)}, {"gdrcopy", of(ucx->gdrcopy)},
          {"rdma", of(ucx->network)},      {"dma_buf", of(ucx->dma_buf)}};
}

ordered_json of(const std::optional<Ofi>& ofi) {
  if (!ofi) return {};
  return {{"version", of(ofi->version)},
          {"library", of(ofi->library)},
          {"asked", of(ofi->asked)},
          {"cuda", of(ofi->cuda)},
          {"providers", ofi->providers}};
}

ordered_json parameters_of(const Installation& one) {
  ordered_json list = ordered_json::object();
  for (const auto& [name, parameter] : one.parameters) {
    if (name.starts_with("path:")) continue;
    list[name] = {{"value", parameter.value}, {"source", of(parameter.source)}};
  }
  return list;
}

ordered_json components_of(const Installation& one) {
  ordered_json list = ordered_json::object();
  for (const char* framework : {"accelerator", "pml", "mtl", "btl", "pmix"}) {
    const auto found = one.components.find(framework);
    if (found != one.components.end()) list[framework] = found->second;
  }
  return list;
}

ordered_json of(const Judged& judged) {
  const Installation& one = judged.installation;
  const Judgement& judgement = judged.judgement;
  return {
      {"mpi", name_of(one.family)},
      {"product", of(one.product)},
      {"version", of(one.version)},
      {"prefix", one.prefix},
      {"launcher", of(one.launcher)},
      {"origin", of(one.origin)},
      {"module", of(one.module)},
      {"found_by", one.found_by},
      {"in_use", one.in_use},
      {"verdict", name_of(judgement.verdict)},
      {"with_settings", name_of(judgement.with_settings)},
      {"transport", of(judgement.transport)},
      {"why", judgement.why},
      {"settings", of(judgement.settings)},
      {"missing", of(judgement.steps)},
      {"notes", judgement.notes},
      {"load_by", of(judgement.load.text())},
      {"start_by", of(judgement.launch)},
      {"cuda_built", of(one.cuda)},
      {"cuda_evidence", of(one.why_cuda)},
      {"query_cuda_support", of(one.query)},
      {"query_cuda_support_returns",
       one.query_answer.empty() ? ordered_json() : ordered_json(one.query_answer == "1" ? 1 : 0)},
      {"device", of(one.device)},
      {"configure", of(one.configure)},
      {"parameters", parameters_of(one)},
      {"components", components_of(one)},
      {"ucx", of(one.ucx)},
      {"libfabric", of(one.ofi)},
      {"did_not_answer", of(one.hung)},
      {"not_asked", of(one.not_asked)}};
}

ordered_json of(const DriverHalf& half) {
  return {{"gpu", half.gpu},
          {"driver_loaded", half.driver_loaded},
          {"rdma_nic", half.rdma_nic},
          {"dma_buf", half.driver_loaded ? of(half.dma_buf) : ordered_json()},
          {"peer_memory_module", of(half.peer_module)},
          {"memory_peers", half.memory_peers},
          {"gdrdrv", half.gdrdrv}};
}

}  // namespace

std::string to_json(const Report& report, const text::Provenance& provenance) {
  ordered_json mpis = ordered_json::array(), mixtures = ordered_json::array();
  for (const Judged& judged : report.mpis) mpis.push_back(of(judged));
  for (const Mixture& mixture : report.mixtures) {
    mixtures.push_back(
        {{"fails", mixture.fails}, {"what", mixture.what}, {"next", of(mixture.next)}});
  }
  ordered_json document = text::envelope("gdr mpi check", 1, provenance);
  document.update({{"exit_status", exit_status(report)},
                   {"driver_half", of(report.half)},
                   {"slurm_interfaces", report.slurm},
                   {"mpis", mpis},
                   {"mixtures", mixtures}});
  return text::json_text(document, 2) + "\n";
}

}  // namespace gdr::mpi
