#include "explain/symptom.h"

#include "explain/symptoms/tables.h"

namespace gdr::explain {
namespace {

constexpr std::string_view kBetween = "; ";

// "; " outside of backticks parts two of them.
std::vector<std::string_view> parts_of(std::string_view fix) {
  std::vector<std::string_view> parts;
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < fix.size(); ++at) {
    if (fix[at] == '`') quoted = !quoted;
    if (quoted || !fix.substr(at).starts_with(kBetween)) continue;
    parts.push_back(fix.substr(begin, at - begin));
    begin = at + kBetween.size();
  }
  parts.push_back(fix.substr(begin));
  return parts;
}

// Empty: it is prose.
std::string_view command_in(std::string_view part) {
  if (part.size() < 3 || part.front() != '`' || part.find('`', 1) != part.size() - 1) return {};
  return part.substr(1, part.size() - 2);
}

}  // namespace

std::vector<Step> steps_of(std::string_view fix) {
  std::vector<Step> steps;
  for (const std::string_view part : parts_of(fix)) {
    if (part.empty()) continue;
    const std::string_view command = command_in(part);
    steps.push_back(command.empty() ? Step{part, false} : Step{command, true});
  }
  return steps;
}

std::vector<text::Command> commands_of(text::Literal fix) {
  std::vector<text::Command> commands;
  for (const Step& step : steps_of(fix)) {
    if (step.is_command) commands.push_back(text::Command::within(fix, step.text));
  }
  return commands;
}

const char* name_of(Program program) {
  constexpr const char* kNames[] = {"NCCL",
                                    "perftest, rdma-core",
                                    "UCX, Open MPI",
                                    "NVSHMEM, GDRCopy",
                                    "modprobe, dkms",
                                    "dmesg",
                                    "nvidia-smi, CUDA",
                                    "lspci, setpci",
                                    "containers, Kubernetes",
                                    "Mooncake, NIXL, libfabric",
                                    "not GPUDirect RDMA"};
  return kNames[static_cast<std::size_t>(program)];
}

const char* name_of(Certainty certainty) {
  constexpr const char* kNames[] = {"certain", "likely", "possible"};
  return kNames[static_cast<std::size_t>(certainty)];
}

const char* name_of(Stated stated) {
  constexpr const char* kNames[] = {"states cause and fix", "states the cause", "states the fix",
                                    "shows the text; the diagnosis is ours"};
  return kNames[static_cast<std::size_t>(stated)];
}

const std::vector<const Symptom*>& all_symptoms() {
  static const std::vector<const Symptom*> all = [] {
    std::vector<const Symptom*> list;
    for (const Symptoms* table : {&nccl_symptoms(),
                                  &nccl_network_symptoms(),
                                  &registration_symptoms(),
                                  &rdma_device_symptoms(),
                                  &mpi_symptoms(),
                                  &shmem_symptoms(),
                                  &module_symptoms(),
                                  &stack_symptoms(),
                                  &pcie_symptoms(),
                                  &gpu_symptoms(),
                                  &container_symptoms(),
                                  &queue_symptoms(),
                                  &completion_symptoms(),
                                  &command_symptoms(),
                                  &transfer_symptoms(),
                                  &library_symptoms(),
                                  &build_symptoms(),
                                  &host_symptoms(),
                                  &kernel_nic_symptoms(),
                                  &kernel_gpu_symptoms(),
                                  &kernel_pci_symptoms(),
                                  &kernel_host_symptoms(),
                                  &topic_symptoms(),
                                  &job_symptoms(),
                                  &container_start_symptoms(),
                                  &kubernetes_symptoms(),
                                  &install_symptoms(),
                                  &operator_symptoms(),
                                  &other_symptoms(),
                                  &ofi_symptoms(),
                                  &perftest_symptoms(),
                                  &port_symptoms(),
                                  &rdma_cm_symptoms(),
                                  &storage_symptoms(),
                                  &ucx_symptoms(),
                                  &connection_symptoms(),
                                  &mooncake_symptoms(),
                                  &engine_symptoms(),
                                  &expert_symptoms(),
                                  &nccl_setup_symptoms(),
                                  &nvlink_domain_symptoms(),
                                  &cloud_symptoms(),
                                  &engine_setup_symptoms(),
                                  &cluster_pod_symptoms(),
                                  &misuse_symptoms(),
                                  &fabric_symptoms(),
                                  &file_symptoms(),
                                  &slowness_symptoms(),
                                  &program_symptoms(),
                                  &compile_symptoms(),
                                  &link_symptoms(),
                                  &feature_symptoms(),
                                  &firmware_tool_symptoms(),
                                  &visibility_symptoms(),
                                  &system_symptoms()}) {
      for (const Symptom& symptom : *table) list.push_back(&symptom);
    }
    return list;
  }();
  return all;
}

const Symptom* find_symptom(std::string_view id) {
  for (const Symptom* symptom : all_symptoms()) {
    if (id == symptom->id) return symptom;
  }
  return nullptr;
}

}  // namespace gdr::explain
