#include "cli/run_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "base/environment.h"
#include "cli/nccl_defaults.h"

namespace gdr::cli {
namespace {

Result<void> check_program(const ProgramFile& program, const Plan& plan) {
  if (!plan.soft_nic && !plan.soft_gpu) return {};
  const std::string& path = program.path;
  if (program.kind == ProgramKind::kForeign) {
    return Error{EINVAL, fmt::format("{} is built for another processor or for 32 bits; the "
                                     "stand-ins cannot be loaded into it",
                                     path)};
  }
  if (program.kind == ProgramKind::kStatic) {
    return Error{EINVAL,
                 fmt::format("{} is statically linked, so no library in it can be replaced; "
                             "link it dynamically",
                             path)};
  }
  if (program.privileged) {
    return Error{EINVAL, fmt::format("{} is set-user-ID, set-group-ID or has capabilities, so the "
                                     "loader ignores LD_LIBRARY_PATH; run a copy without them",
                                     path)};
  }
  if (plan.soft_gpu && program.static_cudart) {
    return Error{EINVAL,
                 fmt::format("{} has the CUDA runtime linked statically, which needs undocumented "
                             "tables of the driver that the software GPU does not have; link it "
                             "with -cudart shared, or use --no-soft-gpu",
                             path)};
  }
  return {};
}

// Joins `front`, `path` and `back` without duplicates. An empty part of LD_LIBRARY_PATH would mean
// the current folder, so empty parts are dropped.
std::string around(std::vector<std::string> front, const std::optional<std::string>& path,
                   const std::vector<std::string>& back = {}) {
  const auto add = [&front](std::string_view part) {
    if (!part.empty() && std::find(front.begin(), front.end(), part) == front.end()) {
      front.emplace_back(part);
    }
  };
  const std::string existing = path.value_or("");
  for (std::string_view part : split(existing, ':')) add(part);
  for (const std::string& part : back) add(part);
  return fmt::format("{}", fmt::join(front, ":"));
}

// DT_RPATH overrides LD_LIBRARY_PATH, so such a program needs the stand-ins preloaded.
std::vector<std::string> preloads(const PlanInputs& inputs, const Plan& plan) {
  std::vector<std::string> files;
  if (!inputs.program.has_rpath) return files;
  if (plan.soft_nic) files.push_back(inputs.stand_ins + "/soft-nic/libibverbs.so.1");
  if (plan.soft_gpu) {
    files.push_back(inputs.stand_ins + "/soft-gpu/libcuda.so.1");
    for (const std::string& name : inputs.program.needed) {
      if (name.rfind("libcudart.so", 0) == 0) {
        files.push_back(inputs.stand_ins + "/soft-gpu/" + name);
      }
    }
  }
  return files;
}

constexpr const char* kObserver = "/observe/libgdr-observe.so";

// A real driver hides which memory a dma-buf exports. The software GPU shows it, unless
// GDR_SOFT_DMA_BUF is set.
bool needs_observer(const PlanInputs& inputs, const Plan& plan) {
  if (!plan.soft_nic) return false;
  return plan.soft_gpu ? inputs.environment("GDR_SOFT_DMA_BUF").has_value() : inputs.hardware.gpu;
}

// Why the observer must not be preloaded; null if it may be.
const char* reason_not_to_observe(const PlanInputs& inputs) {
  if (inputs.environment("GDR_OBSERVE") == "0") return "GDR_OBSERVE=0";
  return reason_not_to_preload(inputs);
}

bool goes_by_packets(const PlanInputs& inputs) {
  const char* path = "GDR_SOFT_PATH";
  const auto set = std::find_if(inputs.settings.begin(), inputs.settings.end(),
                                [&](const Setting& one) { return one.variable == path; });
  return set != inputs.settings.end() || inputs.environment(path) == "packets";
}

// How many channels NCCL may use for sends and receives. It reads what is no number as if it were
// unset.
std::uint64_t p2p_channels(const GivenVariables& variables) {
  constexpr std::uint64_t kNcclsMost = 64;
  std::uint64_t most = 1;
  for (const char* name : {"NCCL_MIN_P2P_NCHANNELS", "NCCL_MAX_P2P_NCHANNELS"}) {
    const Result<std::uint64_t> number =
        parse_number(variables.value(name).value_or(""), 1, kNcclsMost);
    most = std::max(most, number ? *number : kNcclsMost);
  }
  return most;
}

// For software NICs. Where they are in the PCI tree NCCL sees for itself, if they are.
void prepare_nccl(const PlanInputs& inputs, Plan& plan, GivenVariables& variables) {
  const std::string devices = inputs.environment("GDR_SOFT_DEVICES").value_or("");
  plan.has_places = inputs.devices.are_shown && every_soft_nic_has_place(devices);
  if (!plan.has_places) variables.set_if_unset(kNoPlaceDefault.name, kNoPlaceDefault.value);
  for (const Default& one : kSoftNicDefaults) variables.set_if_unset(one.name, one.value);
  if (plan.soft_gpu || inputs.gpus.empty()) return;
  std::span<const Default> cut = kRealGpuDefaults;
  if (goes_by_packets(inputs)) cut = kByPacketsDefaults;
  for (const Default& one : cut) variables.set_if_unset(one.name, one.value);
  const std::uint64_t chunk = nccl_chunk_bytes(p2p_channels(variables));
  variables.set_if_unset("NCCL_P2P_NET_CHUNKSIZE", std::to_string(chunk));
  if (plan.has_places || variables.keeps("NCCL_TOPO_FILE")) return;
  plan.nccl_topology = nccl_topology(inputs.gpus, soft_nic_names(devices));
}

std::string describe(const char* part, bool soft, bool real, bool asked) {
  if (soft) {
    if (real) return fmt::format("software {} (the real one is hidden)", part);
    return fmt::format("software {} ({})", part, asked ? "asked for" : "no real one found");
  }
  return fmt::format("{} {}", real ? "real" : "no", part);
}

std::string words_for(const std::pair<std::string, std::string>& variable, const Plan& plan) {
  if (variable.first == "LD_PRELOAD" && plan.observes) return "LD_PRELOAD (observes dma-bufs)";
  // Search paths are long; their names are enough.
  return variable.first.starts_with("LD_") || variable.first == "GDR_PRESENCE_ROOT"
             ? variable.first
             : assignment(variable);
}

std::string summarize(const PlanInputs& inputs, const Plan& plan, const std::string& kept_words) {
  std::vector<std::string> set;
  if (!plan.nccl_topology.empty()) set.emplace_back("NCCL_TOPO_FILE (NICs beside the GPUs)");
  for (const auto& variable : plan.variables) {
    set.push_back(words_for(variable, plan));
  }
  std::string line = fmt::format(
      "{}, {}", describe("NIC", plan.soft_nic, inputs.hardware.nic, inputs.soft_nic.has_value()),
      describe("GPU", plan.soft_gpu, inputs.hardware.gpu, inputs.soft_gpu.has_value()));
  if (set.empty()) return line + "; nothing replaced, nothing set";
  line += fmt::format("; set {}{}", fmt::join(set, ", "), kept_words);
  if (!inputs.devices.words.empty()) line += "; devices " + inputs.devices.words;
  if (needs_observer(inputs, plan) && !plan.observes) {
    line += fmt::format("; dma-bufs not observed: {}", reason_not_to_observe(inputs));
  }
  return line;
}

}  // namespace

const char* reason_not_to_preload(const PlanInputs& inputs) {
  for (const std::string& name : inputs.program.needed) {
    if (name.starts_with("libasan.so")) return "the address sanitizer wants to be loaded first";
  }
  // Both separate files in LD_PRELOAD.
  return inputs.stand_ins.find_first_of(" :") != std::string::npos
             ? "the path of gdrkit has a space or a colon"
             : nullptr;
}

Result<Plan> make_plan(const PlanInputs& inputs) {
  Plan plan;
  plan.soft_nic = inputs.soft_nic.value_or(!inputs.hardware.nic);
  plan.soft_gpu = inputs.soft_gpu.value_or(!inputs.hardware.gpu);
  // The kernel's own dma-bufs a real NIC's driver may take; nothing else of the software GPU's.
  if (plan.soft_gpu && !plan.soft_nic && inputs.hardware.nic &&
      inputs.environment("GDR_SOFT_DMA_BUF") != "udmabuf") {
    return Error{EINVAL,
                 "a real RDMA NIC cannot reach the memory of the software GPU; use --soft-nic, or "
                 "--no-soft-gpu for a program that needs no GPU, or GDR_SOFT_DMA_BUF=udmabuf for "
                 "one that registers dma-bufs"};
  }
  if (!plan.soft_nic && !inputs.settings.empty()) {
    return Error{EINVAL, fmt::format("{} needs the software NIC, but the real one is used; add "
                                     "--soft-nic",
                                     inputs.settings.front().option)};
  }
  if (Result<void> fits = check_program(inputs.program, plan); !fits) return fits.error();

  plan.observes = needs_observer(inputs, plan) && reason_not_to_observe(inputs) == nullptr;
  std::vector<std::string> folders;
  if (plan.soft_nic) folders.push_back(inputs.stand_ins + "/soft-nic");
  if (plan.soft_gpu) folders.push_back(inputs.stand_ins + "/soft-gpu");
  GivenVariables variables(inputs.environment);
  if (!folders.empty()) {
    variables.set("LD_LIBRARY_PATH", around(folders, inputs.environment("LD_LIBRARY_PATH")));
  }
  const std::vector<std::string> files = preloads(inputs, plan);
  std::vector<std::string> observers;
  if (plan.observes) observers.push_back(inputs.stand_ins + kObserver);
  if (!inputs.devices.preload.empty()) {
    observers.push_back(inputs.devices.preload);
    variables.set("GDR_PRESENCE_ROOT", inputs.devices.root);
  }
  if (!files.empty() || !observers.empty()) {
    variables.set("LD_PRELOAD", around(files, inputs.environment("LD_PRELOAD"), observers));
  }
  for (const Setting& setting : inputs.settings) {
    variables.set(setting.variable, setting.value);
  }
  if (plan.soft_nic) prepare_nccl(inputs, plan, variables);
  plan.variables = variables.to_set();
  plan.summary = summarize(inputs, plan, variables.kept_words());
  return plan;
}

}  // namespace gdr::cli
