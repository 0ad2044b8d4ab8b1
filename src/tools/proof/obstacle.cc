#include "proof/obstacle.h"

#include <filesystem>

#include "participants/stand_in_package.h"

namespace gdr::proof {
namespace {

using text::Command;

std::string with(const std::string& text, const std::string& problem) {
  return problem.empty() ? text : text + ": " + problem;
}

void add_gpu(Obstacle& obstacle, const MachineFacts& machine, bool library) {
  std::vector<std::string>& causes = obstacle.causes;
  if (!machine.gpu) {
    causes.emplace_back(
        "GPU: none is on the PCI bus, or it is not passed into this virtual machine");
  }
  if (!machine.gpu_module) {
    causes.emplace_back("GPU: the NVIDIA kernel module is not loaded (sudo modprobe nvidia)");
  }
  if (!machine.gpu_nodes) {
    causes.emplace_back(
        "GPU: /dev/nvidiactl is missing; start the container with the GPU (--gpus all)");
  }
  if (!library) {
    causes.emplace_back("GPU: the driver's user-space part (libcuda.so.1) is not installed");
  } else if (machine.gpu && machine.gpu_module && machine.gpu_nodes) {
    causes.emplace_back("GPU: libcuda.so.1 and the kernel module are of different releases");
  }
}

void add_nic(Obstacle& obstacle, const MachineFacts& machine, bool library) {
  std::vector<std::string>& causes = obstacle.causes;
  if (!machine.nic) {
    causes.emplace_back(
        std::string("NIC: its RDMA driver is not loaded (sudo modprobe mlx5_ib for ConnectX)") +
        (machine.nic_card ? "" : ", or there is no RDMA NIC"));
  }
  if (!machine.nic_nodes) {
    causes.emplace_back(
        "NIC: /dev/infiniband is missing or empty: ib_uverbs is not loaded (sudo modprobe "
        "ib_uverbs), or the container was started without it (--device /dev/infiniband)");
  }
  if (!library) {
    causes.emplace_back("NIC: libibverbs.so.1 is not installed (package libibverbs1)");
  } else if (machine.nic) {
    causes.emplace_back("NIC: libibverbs has no provider for it (package ibverbs-providers)");
  }
}

void add_command(Obstacle& obstacle, const Command& command) {
  obstacle.next = obstacle.next.empty() ? command : Command("{}; {}", obstacle.next, command);
}

void look_for_gpu(Obstacle& obstacle) {
  add_command(obstacle, Command("lspci -nnk -d 10de:; ls -l /dev/nvidia*; nvidia-smi"));
}

void look_for_nic(Obstacle& obstacle) {
  add_command(obstacle, Command("lspci -nnk -d 15b3:; ls -l /dev/infiniband; ibv_devinfo"));
}

}  // namespace

std::optional<Obstacle> missing_hardware(const MachineFacts& machine,
                                         const InventoryReport& inventory, bool required) {
  Obstacle obstacle;
  const auto judge = [&](const char* part, bool soft, bool there, bool found,
                         const std::string& problem) {
    if (soft || (there ? found && problem.empty() : !required)) return false;
    const std::string name(part);
    obstacle.seen.push_back(
        there ? with("this machine has a real " + name + ", but it cannot be used", problem)
              : "a real " + name + " is required, but this machine has none");
    return true;
  };
  if (!inventory.host_memory_only && judge("GPU", inventory.soft_gpu, machine.gpu,
                                           !inventory.gpus.empty(), inventory.cuda_problem)) {
    add_gpu(obstacle, machine, !inventory.cuda_path.empty());
    look_for_gpu(obstacle);
  }
  if (judge("RDMA NIC", inventory.soft_nic, machine.nic, !inventory.nics.empty(),
            inventory.verbs_problem)) {
    add_nic(obstacle, machine, !inventory.verbs_path.empty());
    look_for_nic(obstacle);
  }
  if (obstacle.seen.empty()) return std::nullopt;
  return obstacle;
}

std::optional<Obstacle> replaced_hardware(const MachineFacts& machine,
                                          const InventoryReport& inventory) {
  // The driver's kernel module is loaded only if the machine has, or had, a GPU.
  const bool lost_gpu = !machine.gpu && machine.gpu_module;
  const bool idle_nic = !machine.nic && machine.nic_card;
  if (!machine.gpu && !machine.nic && !lost_gpu && !idle_nic) return std::nullopt;
  Obstacle obstacle;
  if (inventory.soft_nic) {
    obstacle.seen.emplace_back(
        idle_nic ? "an RDMA NIC is on the PCI bus, but the kernel has no RDMA device"
                 : "this machine has no RDMA device");
    add_nic(obstacle, machine, true);
    look_for_nic(obstacle);
  }
  if (inventory.soft_gpu) {
    obstacle.seen.emplace_back(
        lost_gpu ? "the NVIDIA kernel module is loaded, but no GPU is on the PCI bus"
                 : "this machine has no NVIDIA GPU on the PCI bus");
    add_gpu(obstacle, machine, true);
    look_for_gpu(obstacle);
  }
  if (obstacle.seen.empty()) return std::nullopt;
  return obstacle;
}

std::optional<Obstacle> broken_stand_in(const InventoryReport& inventory) {
  Obstacle obstacle;
  if (inventory.soft_gpu && !inventory.cuda_problem.empty()) {
    obstacle.seen.push_back("the software GPU cannot be used: " + inventory.cuda_problem);
  }
  if (inventory.soft_nic && !inventory.verbs_problem.empty()) {
    obstacle.seen.push_back("the software NIC cannot be used: " + inventory.verbs_problem);
  }
  if (obstacle.seen.empty()) return std::nullopt;
  const Command command = participants::command_for_stand_ins();
  obstacle.causes = {command.empty() ? "gdrkit was built or installed only in part"
                                     : "the package gdrkit-standins is not installed"};
  obstacle.next = command.empty() ? Command("./gdr prove") : command;
  return obstacle;
}

std::optional<Obstacle> hidden_hardware(const InventoryReport& inventory,
                                        const std::string& soft_verbs,
                                        const std::string& soft_cuda) {
  Obstacle obstacle;
  const auto judge = [&](const char* part, bool soft, const std::string& found,
                         const std::string& stand_in) {
    std::error_code ignored;
    if (soft || !std::filesystem::equivalent(found, stand_in, ignored)) return;
    obstacle.seen.push_back(std::string("this machine has a real ") + part +
                            ", but the stand-in was loaded instead: " + found);
  };
  judge("GPU", inventory.soft_gpu, inventory.cuda_path, soft_cuda);
  judge("RDMA NIC", inventory.soft_nic, inventory.verbs_path, soft_verbs);
  if (obstacle.seen.empty()) return std::nullopt;
  obstacle.causes = {"LD_LIBRARY_PATH or LD_PRELOAD names the stand-in first, as under gdr run"};
  obstacle.next = Command("env -u LD_LIBRARY_PATH -u LD_PRELOAD gdr prove");
  return obstacle;
}

Obstacle refused_step(const Error& error, const InventoryReport& inventory) {
  Obstacle obstacle{{error.message}, {}, Command("gdr prove --soft")};
  if (inventory.soft_nic && inventory.soft_gpu) obstacle.next = Command("gdr prove");
  if (error.code == ENOSPC) {
    obstacle.causes = {
        inventory.soft_gpu
            ? "the software GPU is too small: use smaller --sizes, or a larger GPU, such as "
              "GDR_SOFT_GPUS=1:8G"
            : "the GPU is too small, or other programs hold its memory: use smaller --sizes"};
    obstacle.next = Command("gdr prove --sizes 1,64K,1M");
  } else if (error.code == ENOMEM) {
    obstacle.causes = {"the locked-memory limit (ulimit -l) is too small",
                       "the GPU's BAR1 window is too small for the buffers"};
    obstacle.next = Command("gdr prove --sizes 1,64K,1M");
  }
  return obstacle;
}

}  // namespace gdr::proof
