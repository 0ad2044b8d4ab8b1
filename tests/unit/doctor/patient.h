// A machine with one GPU beside one NIC and a driver by which dma-bufs work, and answers in the
// place of its drivers. All is well on it until a test spoils something.
//
//   Patient patient;
//   patient.machine.write("proc/driver/nvidia/version", kProprietary);
//   EXPECT_EQ(outcomes(patient.find(kGpuDriver)), "warn");
#pragma once

#include <functional>
#include <map>
#include <string>

#include "doctor/probes.h"
#include "found.h"

namespace gdr::doctor::test {

constexpr const char* kOpen =
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\n";
constexpr const char* kProprietary =
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue Sep 23 2025\n";
constexpr const char* kGpu = "0000:19:00.0";
constexpr const char* kGpuFolder = "sys/bus/pci/devices/0000:19:00.0";

class FakeProbes : public Probes {
 public:
  FakeProbes() {
    CudaGpu gpu;
    gpu.name = "NVIDIA H100 80GB HBM3";
    gpu.pci_address = kGpu;
    gpu.gpu_direct = gpu.dma_buf = 1;
    gpu.memory = 80ull << 30;
    CudaFacts facts;
    facts.library = "/usr/lib/libcuda.so.1";
    facts.version = 13000;
    facts.gpus = {gpu};
    cuda_answer = facts;
    NvmlGpu told;
    told.pci_address = kGpu;
    told.bar1_total = 128ull << 30;
    told.bar1_free = 127ull << 30;
    told.persistence = Tri::kYes;
    told.mig = told.vgpu = Tri::kNo;
    NvmlFacts nvml_facts;
    nvml_facts.driver_version = "580.95.05";
    nvml_facts.gpus = {told};
    nvml_answer = nvml_facts;
    ExportTrial trial;
    trial.pci_address = kGpu;
    trial.allocated = trial.exported = true;
    export_answer = ExportTrials{{trial}};
  }
  const Result<CudaFacts>& cuda() override { return cuda_answer; }
  const Result<NvmlFacts>& nvml() override { return nvml_answer; }
  const Result<ExportTrials>& exports() override { return export_answer; }
  Result<proof::Report> prove(const Pairing& pairing) override {
    proved.push_back(pairing);
    return proof_answer;
  }
  CommandAnswer command(const std::vector<std::string>& words) override {
    const auto found = command_answers.find(words.front());
    return found == command_answers.end() ? CommandAnswer{} : found->second;
  }

  Result<CudaFacts> cuda_answer = CudaFacts{};
  Result<NvmlFacts> nvml_answer = NvmlFacts{};
  Result<ExportTrials> export_answer = ExportTrials{};
  Result<proof::Report> proof_answer = proof::Report{};
  std::map<std::string, CommandAnswer> command_answers;
  std::vector<Pairing> proved;
};

struct Patient {
  Patient() {
    machine.add_switch(1);
    machine.write("proc/sys/kernel/osrelease", "6.8.0-45-generic\n");
    machine.write("proc/driver/nvidia/version", kOpen);
    machine.write("sys/module/nvidia/version", "580.95.05\n");
    machine.write("sys/module/ib_core/parameters/netns_mode", "Y\n");
    machine.write("proc/kallsyms", "0000000000000000 T ib_register_client\t[ib_core]\n");
  }

  Findings find(const Check& check) {
    if (!written_) machine.write_all();
    written_ = true;
    const host::Files files(machine.root());
    const host::Inventory inventory = host::take_inventory(files);
    const Host host{files, inventory, environment, captured ? nullptr : &probes, kernel_log, {}};
    return with_reason_and_commands(check, check.find(host));
  }
  // Kernel, driver and RDMA stack by which peer memory is the only way.
  void take_proprietary_driver() { machine.write("proc/driver/nvidia/version", kProprietary); }
  void give_peer_interface() {
    machine.write("proc/kallsyms",
                  "0000000000000000 T ib_register_peer_memory_client\t[ib_core]\n");
  }
  void load_peer_memory(const std::string& version = "580.95.05") {
    machine.write("sys/module/nvidia_peermem/version", version + "\n");
    machine.write("sys/module/ib_core/holders/nvidia_peermem/x", "");
    give_peer_interface();
  }

  Machine machine;
  FakeProbes probes;
  Environment environment;
  std::optional<std::string> kernel_log;
  bool captured = false;  // nothing can be probed

 private:
  bool written_ = false;
};

// A host without GPU and NIC, of which everything can be read.
inline Findings find_on_bare_host(const Check& check) {
  Machine machine;
  std::filesystem::create_directories(machine.root() + "/sys/bus/pci/devices");
  return find(check, machine);
}

}  // namespace gdr::doctor::test
