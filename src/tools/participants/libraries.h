// Libraries: which libibverbs and which CUDA driver a tool takes: the machine's, or a stand-in for
// what the machine lacks.
//
//   Libraries chosen = choose_libraries(look_at_machine("/"), {}, /*gpus=*/true);
#pragma once

#include <string>

namespace gdr::participants {

// What a machine shows of the parts that GPUDirect RDMA needs, from below a root folder.
struct MachineFacts {
  bool nic = false;         // the kernel knows an RDMA device
  bool nic_nodes = false;   // in /dev/infiniband, through which programs reach it
  bool gpu = false;         // an NVIDIA GPU on the PCI bus
  bool gpu_module = false;  // the NVIDIA driver's kernel module is loaded
  bool gpu_nodes = false;   // /dev/nvidiactl
  bool nic_card = false;    // an RDMA NIC on the PCI bus, whether or not its driver is loaded
};
MachineFacts look_at_machine(const std::string& root);

// Where the stand-ins lie beside the running program.
std::string soft_verbs_path();
std::string soft_cuda_path();

struct LibraryWishes {
  bool soft = false;              // stand-ins, whatever hardware there is
  bool require_hardware = false;  // never a stand-in
  std::string soft_verbs = soft_verbs_path();
  std::string soft_cuda = soft_cuda_path();
};

struct Libraries {
  std::string verbs, cuda;  // by path or name; no CUDA: GPUs were not asked for
  bool soft_nic = false, soft_gpu = false;
};

// A device that is there and cannot be used is never replaced: a stand-in would hide it.
Libraries choose_libraries(const MachineFacts& machine, const LibraryWishes& wishes, bool gpus);

// A real NIC reaches the software GPU's memory only through dma-bufs of the kernel's own. Where it
// can make them, the software GPU is told to, for this process and its children, unless the
// environment says otherwise.
void let_real_nic_reach_soft_gpu(const Libraries& chosen);

}  // namespace gdr::participants
