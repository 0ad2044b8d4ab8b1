// How many mappings a process may have: vm.max_map_count.
#include "doctor/checks/all.h"
#include "doctor/checks/process/variables.h"

namespace gdr::doctor {
namespace max_map_count_check {

constexpr const char* kExplanation =
    "vm.max_map_count limits the mappings of a process: 65530 by default, 1048576 on some "
    "distributions. Each exported or opened piece of GPU memory is one, and with fork protection "
    "(ibv_fork_init) a registration may split one permanently. When they run out, registration "
    "fails with ENOMEM and the kernel logs nothing. Most programs stay far below; reports exist "
    "for mscclpp (Azure/azhpc-images issue 445) and Mooncake, which registers and releases often "
    "(kvcache-ai/Mooncake issue 3639). So the check warns below the default, and at the default "
    "only if variables of Mooncake are set.";

constexpr const char* kPath = "proc/sys/vm/max_map_count";
constexpr long kDefault = 65530;  // Documentation/admin-guide/sysctl/vm.rst

Finding too_few(const std::string& summary, Evidences evidence, const std::string& consequence) {
  return warn(
      "", summary, std::move(evidence), consequence,
      {to_type("sudo sysctl -w vm.max_map_count=1048576"),
       to_type("echo vm.max_map_count=1048576 | sudo tee /etc/sysctl.d/95-max-map-count.conf")});
}

Findings find(const Host& host) {
  if (host.inventory.nics.empty() && host.inventory.gpus.empty()) {
    return does_not_apply("neither NVIDIA GPU nor RDMA NIC");
  }
  const std::optional<long> count = host.files.number(kPath);
  if (!count) {
    return {unknown("", "cannot see vm.max_map_count", {read_line(host.files, kPath)},
                    to_type("sysctl vm.max_map_count"))};
  }
  Evidences evidence = {{std::string("/") + kPath, std::to_string(*count)}};
  const std::string summary = "vm.max_map_count is " + std::to_string(*count);
  if (*count < kDefault) {
    return {too_few(summary + ", less than the kernel's default of 65530", std::move(evidence),
                    "Programs with many allocations or registrations run out of mappings; "
                    "registration then fails with ENOMEM.")};
  }
  const Evidences mooncake = variables_with(host, "MC_");
  if (*count == kDefault && !mooncake.empty()) {
    evidence.push_back(mooncake.front());
    return {too_few(summary + ", the kernel's default, and variables of Mooncake are set",
                    std::move(evidence),
                    "Programs that register and release often may run out of mappings; "
                    "registration then fails with ENOMEM.")};
  }
  return {ok("", summary, std::move(evidence))};
}

}  // namespace max_map_count_check

const Check kMaxMapCount{"max-map-count",
                         Area::kProcess,
                         "Mappings per process (vm.max_map_count)",
                         max_map_count_check::kExplanation,
                         92,
                         Cost::kPassive,
                         max_map_count_check::find};

}  // namespace gdr::doctor
