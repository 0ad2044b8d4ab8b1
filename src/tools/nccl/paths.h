// How far a NIC is from a GPU, in NCCL's own numbers. NCCL inserted levels from version to version,
// so that the same number means another path: 5 is PHB in 2.8, PXN in 2.12 and PXB in 2.26.
#pragma once

#include <cstdint>
#include <string>

#include "nccl/log.h"

namespace gdr::nccl {

// "PHB"; empty where the version is not known or has no such number.
std::string path_name(const Version& version, std::int64_t distance);

// "6 (PHB)" or "6"
std::string distance_name(const Version& version, std::int64_t distance);

// The value of NCCL_NET_GDR_LEVEL with which a NIC at `distance` is near enough.
std::string level_for(const Version& version, std::int64_t distance);

// Up to here NCCL uses GPUDirect RDMA when nobody says anything else; -1: not known.
std::int64_t default_limit(const Version& version);

}  // namespace gdr::nccl
