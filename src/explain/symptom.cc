#include "explain/symptom.h"

#include "explain/symptoms/tables.h"

namespace gdr::explain {

const char* name_of(Program program) {
  constexpr const char* kNames[] = {
      "NCCL",  "perftest, rdma-core", "UCX, Open MPI", "NVSHMEM, GDRCopy",      "modprobe, dkms",
      "dmesg", "nvidia-smi, CUDA",    "lspci, setpci", "containers, Kubernetes"};
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
    for (const Symptoms* table :
         {&nccl_symptoms(), &nccl_network_symptoms(), &registration_symptoms(),
          &rdma_device_symptoms(), &mpi_symptoms(), &shmem_symptoms(), &module_symptoms(),
          &pcie_symptoms(), &gpu_symptoms(), &container_symptoms()}) {
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
