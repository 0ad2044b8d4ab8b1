// ib_umad for Kubernetes' plugin for shared RDMA devices.
#include <algorithm>

#include "doctor/checks/all.h"
#include "doctor/checks/process/limits.h"
#include "doctor/evidence.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace ib_umad_check {

constexpr const char* kExplanation =
    "Mellanox/k8s-rdma-shared-dev-plugin gives a NIC to pods only if all its device files exist: "
    "rdma_cm, umad and uverbs (older releases: also issm). The module ib_umad creates umad and "
    "issm. If one is missing, the plugin logs 'missing RDMA device spec for device …, RDMA device "
    "\"umad\" not found' (or \"issm\"), and the node offers none of the resource "
    "(pkg/resources/rdma_device_spec.go; issues 44 and 94 name other causes: NICs without RDMA, "
    "and issm on Ethernet ports, which newer kernels do not create). Fabric Manager on B200 needs "
    "ib_umad too (spectrocloud/CanvOS pull request 700). The check applies to Kubernetes nodes "
    "only.";

constexpr const char* kModule = "sys/module/ib_umad";
constexpr const char* kClass = "sys/class/infiniband_mad";

bool is_node(const Host& host) {
  if (host.files.exists("var/lib/kubelet")) return true;
  const std::vector<Service> services = find_services(host.files);
  return std::any_of(services.begin(), services.end(),
                     [](const Service& service) { return service.name == "kubelet"; });
}

Findings find(const Host& host) {
  const bool real = std::any_of(host.inventory.nics.begin(), host.inventory.nics.end(),
                                [](const host::Nic& nic) { return nic.pci.has_value(); });
  if (!real) return no_nic();
  if (!is_node(host)) return does_not_apply("not a Kubernetes node");
  if (!shows(host.files, "sys/module")) {
    return {not_shown(host.files, "sys/module", "whether ib_umad is loaded")};
  }
  const Evidence evidence{std::string("/") + kModule,
                          host.files.exists(kModule) ? "there" : "not there"};
  // Built into the kernel it is no module, and has its class.
  if (host.files.exists(kModule) || host.files.exists(kClass)) {
    return {ok("", "ib_umad is loaded", {evidence})};
  }
  return {warn("", "ib_umad is not loaded on this Kubernetes node", {evidence},
               "The shared RDMA device plugin offers no NIC: RDMA device \"umad\" not found.",
               {to_type("sudo modprobe ib_umad"),
                to_type("echo ib_umad | sudo tee /etc/modules-load.d/ib_umad.conf")})};
}

}  // namespace ib_umad_check

const Check kIbUmad{"ib-umad",
                    Area::kNic,
                    "ib_umad on Kubernetes nodes",
                    ib_umad_check::kExplanation,
                    52,
                    Cost::kPassive,
                    ib_umad_check::find};

}  // namespace gdr::doctor
