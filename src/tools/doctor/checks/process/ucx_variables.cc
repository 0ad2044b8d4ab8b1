// UCX_TLS and UCX_NET_DEVICES: do they leave UCX an RDMA transport and GPU memory?
#include <algorithm>

#include "base/environment.h"
#include "doctor/checks/all.h"
#include "doctor/checks/process/variables.h"

namespace gdr::doctor {
namespace ucx_variables_check {

constexpr const char* kExplanation =
    "UCX_TLS lists the transports that UCX may use. Without rc, ud, dc, ib or srd it has no RDMA; "
    "without cuda or cuda_copy it treats GPU memory as host memory. UCX_NET_DEVICES lists the "
    "devices: with only network interfaces in it, UCX uses TCP. A list that begins with ^ names "
    "what to exclude. UCX's FAQ (docs/source/faq.md, 'Which transports does UCX use?') and "
    "ucp_tl_aliases in src/ucp/core/ucp_context.c explain each name. The check sees the "
    "environment of gdr itself, which may differ from a job's.";

// By the first letters, behind which _x, _v, _mlx5, _verbs may follow.
constexpr const char* kRdma[] = {"rc", "ud", "dc", "ib", "srd", "gga"};
constexpr const char* kGpu[] = {"cuda", "cuda_copy"};

struct Transports {
  bool excluding = false;
  std::vector<std::string> names;  // without ":aux"
  bool has(const std::string& name) const {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
};

Transports read_transports(std::string_view text) {
  Transports transports;
  if (!text.empty() && text[0] == '^') {
    transports.excluding = true;
    text.remove_prefix(1);
  }
  for (std::string_view name : split(text, ',')) {
    // A backslash asks for exactly this one.
    if (!name.empty() && name[0] == '\\') name.remove_prefix(1);
    if (name.find(':') == std::string_view::npos) transports.names.emplace_back(name);
  }
  return transports;
}

bool is_rdma(const std::string& name) {
  return std::any_of(std::begin(kRdma), std::end(kRdma), [&](const std::string& kind) {
    return name == kind || name.rfind(kind + "_", 0) == 0;
  });
}

bool leaves_rdma(const Transports& transports) {
  if (transports.excluding) {
    // A list of exceptions counts only if it excludes all of them.
    return !transports.has("ib") &&
           !(transports.has("rc") && transports.has("dc") && transports.has("ud"));
  }
  return transports.has("all") ||
         std::any_of(transports.names.begin(), transports.names.end(), is_rdma);
}

bool leaves_gpu(const Transports& transports) {
  const bool named = std::any_of(std::begin(kGpu), std::end(kGpu),
                                 [&](const char* name) { return transports.has(name); });
  return transports.excluding ? !named : named || transports.has("all");
}

void judge_transports(const Host& host, const std::string& value, Findings& findings) {
  const Transports transports = read_transports(value);
  if (!host.inventory.nics.empty() && !leaves_rdma(transports)) {
    findings.push_back(wrong_variable("UCX_TLS", value,
                                      "UCX_TLS=" + value + " has no RDMA transport",
                                      "UCX uses TCP or shared memory instead of RDMA."));
  }
  if (!host.inventory.gpus.empty() && !leaves_gpu(transports)) {
    findings.push_back(
        wrong_variable("UCX_TLS", value, "UCX_TLS=" + value + " has no CUDA transport",
                       "UCX treats GPU memory as host memory: programs crash or stage it."));
  }
}

void judge_devices(const Host& host, const std::string& value, Findings& findings) {
  if (host.inventory.nics.empty() || value.empty() || value[0] == '^') return;
  const std::vector<std::string> names = nics_in(value);
  const bool rdma = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return name == "all" || has_rdma_device(host, name);
  });
  if (rdma || names.empty()) return;
  findings.push_back(wrong_variable(
      "UCX_NET_DEVICES", value, "UCX_NET_DEVICES=" + value + " names no RDMA device of this host",
      "UCX finds no RDMA device, so it uses TCP or fails."));
}

Findings find(const Host& host) {
  const std::string* transports = value_of(host, "UCX_TLS");
  const std::string* devices = value_of(host, "UCX_NET_DEVICES");
  if (transports == nullptr && devices == nullptr) {
    return does_not_apply("neither UCX_TLS nor UCX_NET_DEVICES is set");
  }
  if (host.inventory.nics.empty() && host.inventory.gpus.empty()) {
    return does_not_apply("neither NVIDIA GPU nor RDMA NIC");
  }
  Findings findings;
  if (transports != nullptr && !transports->empty()) judge_transports(host, *transports, findings);
  if (devices != nullptr) judge_devices(host, *devices, findings);
  if (!findings.empty()) return findings;
  Evidences evidence;
  if (transports != nullptr) evidence.push_back({"UCX_TLS", *transports});
  if (devices != nullptr) evidence.push_back({"UCX_NET_DEVICES", *devices});
  return {ok("", "UCX_TLS and UCX_NET_DEVICES allow RDMA and GPU memory", std::move(evidence))};
}

}  // namespace ucx_variables_check

const Check kUcxVariables{"ucx-variables",
                          Area::kProcess,
                          "Transports and devices that UCX may use",
                          ucx_variables_check::kExplanation,
                          61,
                          Cost::kPassive,
                          ucx_variables_check::find};

}  // namespace gdr::doctor
