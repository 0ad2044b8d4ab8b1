// A tar archive, as POSIX has it (IEEE 1003.1, pax): long names in a record of their own. A few
// dozen lines instead of a library, since nothing is compressed and nothing read.
//
//   std::string archive;
//   add_to_tar(archive, "sys/class/net/eth0/mtu", {Captured::Kind::kFile, false, "9000\n"});
//   end_tar(archive);
#pragma once

#include <string>

#include "doctor/capture/capture.h"

namespace gdr::doctor {

// All of them belong to root and to the epoch: two captures of the same are the same.
void add_to_tar(std::string& archive, const std::string& path, const Captured& captured);
void end_tar(std::string& archive);

}  // namespace gdr::doctor
