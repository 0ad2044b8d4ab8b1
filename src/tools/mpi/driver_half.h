// Reads what this host's kernel and drivers have for GPUDirect RDMA. No MPI can do without it: the
// other half of the answer. It is read as gdr doctor reads it; a host without a GPU has none, and
// its MPIs are judged for hosts that have one.
#pragma once

#include <string>
#include <vector>

#include "host/files.h"
#include "host/inventory.h"
#include "host/tri.h"

namespace gdr::mpi {

struct DriverHalf {
  bool gpu = false;            // a GPU of NVIDIA's is here
  bool driver_loaded = false;  // and its driver
  bool rdma_nic = false;
  bool mellanox_nic = false;  // one that UCX calls mlx*
  host::Tri dma_buf = host::Tri::kUnknown;
  std::string peer_module;    // the peer-memory module that is loaded, with its version
  bool memory_peers = false;  // /sys/kernel/mm/memory_peers/nv_mem/version, where older ones look
  bool gdrdrv = false;        // GDRCopy's module
  std::string why_no_dma_buf;
  std::string remedy;  // what makes a way; empty: one is there

  // A GPU is here, and its memory cannot be registered with a NIC by any way.
  bool is_missing() const {
    return driver_loaded && dma_buf == host::Tri::kNo && peer_module.empty();
  }
  // One sentence.
  std::string text() const;
};

DriverHalf read_driver_half(const host::Files& files, const host::Inventory& inventory);

}  // namespace gdr::mpi
