// What `gdr run` tells NCCL about software NICs beside real GPUs, which NCCL cannot find out: where
// they are, how fast, and how to cut its transfers. Functions of their inputs alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gdr::cli {

// An NCCL_TOPO_FILE: every NIC beside every GPU, below one PCI switch. `gpus`: PCI addresses.
std::string nccl_topology(const std::vector<std::string>& gpus,
                          const std::vector<std::string>& nics);

// The names in GDR_SOFT_DEVICES, or the default's for "".
std::vector<std::string> soft_nic_names(std::string_view devices);

// Whether GDR_SOFT_DEVICES gives each one a place in the PCI tree. NCCL does not expect some with
// and some without.
bool every_soft_nic_has_place(std::string_view devices);

struct Default {
  const char* name;
  const char* value;
};

// Without a PCI path NCCL takes a software NIC to be too far from the GPU for GPUDirect.
inline constexpr Default kNoPlaceDefault = {"NCCL_NET_GDR_LEVEL", "SYS"};

// NCCL 2.28.9 crashes on any RDMA device that is not an mlx5 unless its GIN is off (NVIDIA/nccl PR
// 1881). Without an index NCCL reads the types of a port's GIDs in sysfs, and fails where there are
// none; 3 is a software NIC's address as RoCE v2.
inline constexpr Default kSoftNicDefaults[] = {{"NCCL_GIN_TYPE", "0"}, {"NCCL_IB_GID_INDEX", "3"}};

// For copies between GPUs: fewer and larger ones than a NIC wants.
inline constexpr Default kRealGpuDefaults[] = {
    {"NCCL_MIN_NCHANNELS", "16"},
    // Bytes a thread has to have before another channel is used, of LL, LL128 and Simple in
    // trees, then in rings: a message of 1 MiB in sixteen parts would be sixteen short copies.
    {"NCCL_THREAD_THRESHOLDS", "512 512 4096 512 512 4096"},
    {"NCCL_MIN_P2P_NCHANNELS", "16"},
    {"NCCL_MAX_P2P_NCHANNELS", "16"},
    {"NCCL_NCHANNELS_PER_NET_PEER", "16"},
    {"NCCL_BUFFSIZE", "33554432"},
};

// For the same by packets, where a message in few parts is in few copies, and one channel is as
// fast as the network: measured in docs/performance.md.
inline constexpr Default kByPacketsDefaults[] = {
    {"NCCL_MIN_NCHANNELS", "4"},
    {"NCCL_MAX_NCHANNELS", "4"},
    {"NCCL_THREAD_THRESHOLDS", "512 512 4096 512 512 4096"},
    {"NCCL_MIN_P2P_NCHANNELS", "4"},
    {"NCCL_MAX_P2P_NCHANNELS", "4"},
    {"NCCL_NCHANNELS_PER_NET_PEER", "4"},
    {"NCCL_BUFFSIZE", "8388608"},
};

// NCCL_P2P_NET_CHUNKSIZE for this many channels of sends and receives: copies between GPUs become
// efficient at some MiB, but NCCL counts the bytes of 16 chunks of every channel in an int.
std::uint64_t nccl_chunk_bytes(std::uint64_t channels);

}  // namespace gdr::cli
