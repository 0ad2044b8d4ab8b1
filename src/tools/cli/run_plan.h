// The decision of `gdr run`: which parts are replaced, which variables are set, and the one line
// that says so. A function of its inputs alone; nothing is read or changed here.
//
//   PlanInputs inputs;
//   inputs.hardware = {host::has_rdma_nic(), host::has_gpu()};
//   inputs.stand_ins = "/usr/local/lib/gdrkit";
//   inputs.program = *inspect_program("/usr/bin/ib_write_bw");
//   inputs.environment = [](const char* name) { return gdr::environment(name); };
//   Result<Plan> plan = make_plan(inputs);
//   if (plan) fmt::print(stderr, "gdr run: {}\n", plan->summary);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/given_variables.h"
#include "cli/run_devices.h"
#include "cli/run_program_file.h"

namespace gdr::cli {

// Whether the host has one at all, usable or not: a stand-in never hides by itself that real
// hardware does not work.
struct Hardware {
  bool nic = false;
  bool gpu = false;
};

// A variable of the software NIC that an option of the command line sets.
struct Setting {
  std::string option;  // "--pcap"
  std::string variable;
  std::string value;
};

struct PlanInputs {
  std::optional<bool> soft_nic;  // --soft-nic, --no-soft-nic; nothing: where there is no NIC
  std::optional<bool> soft_gpu;
  Hardware hardware;
  std::vector<std::string> gpus;  // PCI addresses of the real ones
  std::string stand_ins;          // the folder that holds soft-nic/, soft-gpu/ and observe/
  ProgramFile program;
  std::vector<Setting> settings;  // win over variables that are there
  ShownDevices devices;           // of the software NIC; no words: not decided yet
  Environment environment;
};

struct Plan {
  bool soft_nic = false;
  bool soft_gpu = false;
  bool observes = false;      // exports of dma-bufs
  bool has_places = false;    // every software NIC has one in the PCI tree, and is shown there
  Variables variables;        // to set, with their values
  std::string nccl_topology;  // for NCCL_TOPO_FILE; empty: none
  std::string summary;
};

// Why no library may be preloaded into the program; null if one may.
const char* reason_not_to_preload(const PlanInputs& inputs);

// EINVAL with the reason where the program cannot be run as asked.
Result<Plan> make_plan(const PlanInputs& inputs);

}  // namespace gdr::cli
