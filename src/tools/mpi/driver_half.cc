#include "mpi/driver_half.h"

#include "host/registration/facts.h"
#include "host/registration/loaded_module.h"

namespace gdr::mpi {

using host::Tri;

std::string DriverHalf::text() const {
  if (!gpu && !driver_loaded) {
    return "no NVIDIA GPU on this host: judged as for a host that has one, with its driver";
  }
  if (!driver_loaded) return "the NVIDIA driver is not loaded";
  const std::string peer = peer_module.empty() ? std::string("no peer-memory module is loaded")
                                               : "peer-memory module " + peer_module + " is loaded";
  const std::string copy =
      gdrdrv ? ", gdrdrv (GDRCopy) is loaded" : ", gdrdrv (GDRCopy) is not loaded";
  if (dma_buf == Tri::kYes) return "dma-buf is possible, " + peer + copy;
  if (dma_buf == Tri::kNo) return "no dma-buf (" + why_no_dma_buf + "), " + peer + copy;
  return "whether dma-buf works is not known, " + peer + copy;
}

DriverHalf read_driver_half(const host::Files& files, const host::Inventory& inventory) {
  DriverHalf half;
  half.gpu = !inventory.gpus.empty();
  half.rdma_nic = !inventory.nics.empty();
  for (const host::Nic& nic : inventory.nics) {
    // Names may be by the PCI place or the address, ibp26s0: then the driver tells.
    half.mellanox_nic |= nic.name.starts_with("mlx") || nic.driver.starts_with("mlx");
  }
  const host::ReadFacts read = host::read_registration_facts(files, inventory);
  half.driver_loaded = read.driver_loaded;
  const host::RegistrationWays ways = host::ways_of(read.facts);
  half.dma_buf = ways.dma_buf;
  half.why_no_dma_buf = ways.why_no_dma_buf;
  half.remedy = ways.remedy;
  for (const host::LoadedModule& module : host::loaded_peer_memory(files)) {
    half.peer_module += (half.peer_module.empty() ? "" : " and ") + module.text();
  }
  half.memory_peers = files.exists("sys/kernel/mm/memory_peers/nv_mem/version");
  half.gdrdrv = host::is_module_loaded(files, "gdrdrv");
  return half;
}

}  // namespace gdr::mpi
