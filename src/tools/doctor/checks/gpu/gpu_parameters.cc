// Parameters of the NVIDIA module that GPUDirect RDMA depends on.
#include <map>

#include "base/environment.h"
#include "doctor/checks/all.h"
#include "doctor/evidence.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace gpu_parameters_check {

constexpr const char* kExplanation =
    "/proc/driver/nvidia/params shows the module's parameters. GrdmaPciTopoCheckOverride 2 makes "
    "the driver refuse every NIC; 1 makes it accept pairs that it knows do not work. "
    "DmaRemapPeerMmio 0 gives NICs physical addresses, which a translating IOMMU rejects. "
    "EnableStreamMemOPs and PeerMappingOverride in RegistryDwords matter only for GPU-initiated "
    "communication (IBGDA of NVSHMEM and DeepEP), so the check ignores them.";

constexpr const char* kParameters = "proc/driver/nvidia/params";
constexpr const char* kAtLoading =
    "remove the option from /etc/modprobe.d, rebuild the initramfs and reboot";

// "EnableMSI: 1", one on each line.
std::map<std::string, std::string> read_parameters(const Host& host) {
  std::map<std::string, std::string> parameters;
  const std::string text = host.files.text(kParameters);
  for (std::string_view line : split(text, '\n')) {
    const auto colon = line.find(": ");
    if (colon == std::string_view::npos) continue;
    parameters.emplace(line.substr(0, colon), line.substr(colon + 2));
  }
  return parameters;
}

Findings find(const Host& host) {
  if (!host.files.exists("proc/driver/nvidia")) {
    if (host.inventory.gpus.empty()) return no_gpu();
    if (!host.is_live()) return {not_shown(host.files, kParameters, "the module's parameters")};
    return does_not_apply("the NVIDIA driver is not loaded");
  }
  const std::map<std::string, std::string> parameters = read_parameters(host);
  const std::string place = std::string("/") + kParameters;
  if (parameters.empty()) {
    return {
        unknown("", "cannot read the module's parameters", {read_line(host.files, kParameters)})};
  }
  const auto value = [&](const char* name) {
    const auto found = parameters.find(name);
    return found == parameters.end() ? std::string("not there") : found->second;
  };
  const auto read = [&](const char* name) -> Evidence {
    return {place + ", " + name, value(name)};
  };
  Findings findings;
  const std::string topology = value("GrdmaPciTopoCheckOverride");
  if (topology == "2") {
    findings.push_back(fail("", "GrdmaPciTopoCheckOverride is 2: the driver refuses every NIC",
                            {read("GrdmaPciTopoCheckOverride")}, "No GPU memory can be registered.",
                            {{}, to_do(kAtLoading)}));
  } else if (topology == "1") {
    findings.push_back(warn(
        "", "GrdmaPciTopoCheckOverride is 1: the driver's own check is off",
        {read("GrdmaPciTopoCheckOverride")},
        "The driver registers memory even for pairs of GPU and NIC that cannot reach each other.",
        {{}, to_do(kAtLoading)}));
  }
  if (value("DmaRemapPeerMmio") == "0") {
    findings.push_back(
        warn("", "DmaRemapPeerMmio is 0: addresses bypass the IOMMU", {read("DmaRemapPeerMmio")},
             "If an IOMMU translates, the NIC's accesses fault.", {{}, to_do(kAtLoading)}));
  }
  if (findings.empty()) {
    findings.push_back(ok("", "parameters of the NVIDIA module are right",
                          {read("GrdmaPciTopoCheckOverride"), read("DmaRemapPeerMmio"),
                           read("EnableStreamMemOPs"), read("RegistryDwords")}));
  }
  return findings;
}

}  // namespace gpu_parameters_check

const Check kGpuParameters{"gpu-parameters",
                           Area::kGpu,
                           "Parameters of the NVIDIA module that affect RDMA",
                           gpu_parameters_check::kExplanation,
                           30,
                           Cost::kPassive,
                           gpu_parameters_check::find};

}  // namespace gdr::doctor
