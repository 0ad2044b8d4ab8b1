// The software NICs and GPUs that gdr uses here in place of what this machine lacks, as gdr prove
// does.
//
//   const StandIns found = find_stand_ins(stand_in_libraries(false));
//   for (const host::Nic& nic : found.nics) puts(nic.name.c_str());
#pragma once

#include <string>
#include <vector>

#include "host/inventory.h"

namespace gdr::topo {

// By path; empty: no stand-in takes part.
struct StandInLibraries {
  std::string verbs, cuda;
};
// `soft`: both, whatever hardware there is.
StandInLibraries stand_in_libraries(bool soft);

// In the words of sysfs, without PCI functions.
struct StandIns {
  std::vector<host::Nic> nics;
  std::vector<host::Gpu> gpus;
  std::vector<std::string> problems;  // each in a sentence
};
StandIns find_stand_ins(const StandInLibraries& libraries);

}  // namespace gdr::topo
