// What `gdr run` tells NCCL about software NICs beside real GPUs, which NCCL cannot find out: where
// they are, how fast, and how to cut its transfers. Functions of their inputs alone.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gdr::cli {

// An NCCL_TOPO_FILE: every NIC beside every GPU, below one PCI switch. `gpus`: PCI addresses.
std::string nccl_topology(const std::vector<std::string>& gpus,
                          const std::vector<std::string>& nics);

// The names in GDR_SOFT_DEVICES, or the default's for "".
std::vector<std::string> soft_nic_names(std::string_view devices);

// Variables that NCCL reads, for copies between GPUs: fewer and larger ones than a NIC wants.
const std::vector<std::pair<const char*, const char*>>& nccl_variables();

}  // namespace gdr::cli
