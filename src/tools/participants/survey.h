// Survey: which devices two libraries know, as they say it themselves. A library may crash or hang:
// who cannot afford that calls this in a process of its own, and has the answer sent (it is a
// message).
//
//   Survey found = survey("libibverbs.so.1", "libcuda.so.1");
//   for (const NicSurvey& nic : found.nics) puts(nic.name.c_str());
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "process/codec.h"

namespace gdr::participants {

struct NicPort {
  std::uint8_t number = 0;
  bool active = false;
  bool ethernet = false;
  std::uint32_t mtu = 0;    // payload of one UD message
  std::uint32_t speed = 0;  // Mb/s; 0: unknown
  std::string gid, ipv4, mac, problem;
  GDR_FIELDS(number, active, ethernet, mtu, speed, gid, ipv4, mac, problem)
};
struct NicSurvey {
  std::string name, problem;
  std::vector<NicPort> ports;
  GDR_FIELDS(name, problem, ports)
};
struct GpuSurvey {
  std::int32_t ordinal = 0;
  std::string name, pci_address, uuid;
  std::uint64_t memory = 0;
  bool dma_buf = false;
  bool gpu_direct = false;
  GDR_FIELDS(ordinal, name, pci_address, uuid, memory, dma_buf, gpu_direct)
};
struct Survey {
  std::string verbs_path, cuda_path;        // where they were found
  std::string verbs_problem, cuda_problem;  // why there are none; empty: all well
  std::vector<NicSurvey> nics;
  std::vector<GpuSurvey> gpus;
  GDR_FIELDS(verbs_path, cuda_path, verbs_problem, cuda_problem, nics, gpus)
};

// By path or name; no name of CUDA's library: nothing about GPUs.
Survey survey(const std::string& verbs, const std::string& cuda);

}  // namespace gdr::participants
