// Where the files are from which a peer-memory module is judged and built: in the system's own tree
// of modules, in the root of a driver that lives in a container, in the folders of MLNX_OFED,
// DOCA-OFED and the distributions.
//
//   for (const Place& place : driver_files(files, where)) read_module(files, place.path);
#pragma once

#include <string>
#include <vector>

#include "host/files.h"

namespace gdr::peermem {

// Whose files.
struct Where {
  std::string kernel;              // "6.8.0-45-generic"
  std::vector<std::string> roots;  // "" is the system itself; else "run/nvidia/driver"
};

struct Place {
  std::string path;    // below the root of `files`
  std::string origin;  // "this host", "the driver's root /run/nvidia/driver"
};

// Empty: it is none, or not one component of a path. `given`: --kernel.
std::string kernel_release(const host::Files& files, const std::string& given);

// `driver_root`: an absolute path that was given; empty: none.
Where where_to_look(const host::Files& files, const std::string& kernel,
                    const std::string& driver_release, const std::string& driver_root);

// nvidia.ko under all its names, the peer-memory modules, and ib_core and ib_uverbs. Within a root
// those first that modprobe would take.
std::vector<Place> driver_files(const host::Files& files, const Where& where);
std::vector<Place> candidate_files(const host::Files& files, const Where& where);
std::vector<Place> rdma_files(const host::Files& files, const Where& where);

// Module.symvers of MLNX_OFED and DOCA-OFED for this kernel, and of the kernel itself.
std::vector<Place> rdma_symvers_files(const host::Files& files, const Where& where);
std::vector<Place> kernel_symvers_files(const host::Files& files, const Where& where);
// Folders that a module of this kernel is built in.
std::vector<Place> header_folders(const host::Files& files, const Where& where);

}  // namespace gdr::peermem
