#include "participants/libraries.h"

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

#include "host/files.h"
#include "host/hardware.h"

namespace gdr::participants {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSystemVerbs = "libibverbs.so.1";
constexpr const char* kSystemCuda = "libcuda.so.1";

std::string beside_program(const std::string& path) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  return program.parent_path().parent_path() / "lib/gdrkit" / path;
}

}  // namespace

MachineFacts look_at_machine(const std::string& root) {
  const host::Files files(root);
  MachineFacts machine;
  machine.nic = host::has_rdma_nic(root);
  machine.nic_card = host::has_nic_card(root);
  machine.nic_nodes = !files.entries("dev/infiniband").empty();
  machine.gpu = host::has_gpu(root);
  machine.gpu_module = files.exists("sys/module/nvidia");
  machine.gpu_nodes = files.exists("dev/nvidiactl");
  return machine;
}

std::string soft_verbs_path() { return beside_program("soft-nic/libibverbs.so.1"); }
std::string soft_cuda_path() { return beside_program("soft-gpu/libcuda.so.1"); }

Libraries choose_libraries(const MachineFacts& machine, const LibraryWishes& wishes, bool gpus) {
  Libraries chosen;
  chosen.soft_nic = wishes.soft || (!machine.nic && !wishes.require_hardware);
  chosen.verbs = chosen.soft_nic ? wishes.soft_verbs : kSystemVerbs;
  if (!gpus) return chosen;
  chosen.soft_gpu = wishes.soft || (!machine.gpu && !wishes.require_hardware);
  chosen.cuda = chosen.soft_gpu ? wishes.soft_cuda : kSystemCuda;
  return chosen;
}

void let_real_nic_reach_soft_gpu(const Libraries& chosen) {
  if (!chosen.soft_gpu || chosen.soft_nic || access("/dev/udmabuf", R_OK | W_OK) != 0) return;
  setenv("GDR_SOFT_DMA_BUF", "udmabuf", 0);
}

}  // namespace gdr::participants
