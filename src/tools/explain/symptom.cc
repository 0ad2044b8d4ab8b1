#include "explain/symptom.h"

namespace gdr::explain {

std::vector<text::Command> commands_of(const std::vector<Step>& fix) {
  std::vector<text::Command> commands;
  for (const Step& step : fix) {
    if (step.is_command) commands.push_back(text::Command::known(step.text));
  }
  return commands;
}

std::string line_of(const std::vector<Step>& fix) {
  std::string line;
  for (const Step& step : fix) {
    if (!line.empty()) line += "; ";
    line += step.is_command ? "`" + step.text + "`" : step.text;
  }
  return line;
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

const char* folder_of(Program program) {
  constexpr const char* kFolders[] = {"nccl", "verbs", "ucx-mpi",    "nvshmem",  "modules", "dmesg",
                                      "cuda", "pci",   "containers", "transfer", "not-gdr"};
  return kFolders[static_cast<std::size_t>(program)];
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

}  // namespace gdr::explain
