// Which libraries tell what a program could have used, by their files' names.
//
//   flags |= ledger::libraries_of("/usr/lib/x86_64-linux-gnu/libuct_ib.so.0");   // kUcxIb
//
// Nothing is allocated: it lives in processes that others started.
#pragma once

#include <cstdint>
#include <string_view>

#include "ledger/ledger.h"

namespace gdr::ledger {

struct NamedLibrary {
  std::string_view file;  // the beginning of the file's name, or a folder in its path
  Library flag;
};

inline constexpr NamedLibrary kNamedLibraries[] = {
    {"/libibverbs.so", kVerbs}, {"/librdmacm.so", kManager},     {"/libmlx5", kMlx5},
    {"/libuct.so", kUcx},       {"/libuct_ib", kUcxIb},          {"/libfabric.so", kFabric},
    {"/libmpi", kMpi},          {"/libnccl.so", kNccl},          {"/libnvshmem", kNvshmem},
    {"/libcuda.so", kCuda},     {"/gdrkit/soft-nic/", kSoftNic}, {"/gdrkit/soft-gpu/", kSoftGpu},
};

// `paths`: one path, or a text with many (/proc/PID/maps).
inline std::uint64_t libraries_of(std::string_view paths) {
  std::uint64_t flags = 0;
  for (const NamedLibrary& known : kNamedLibraries) {
    if (paths.find(known.file) != std::string_view::npos) flags |= known.flag;
  }
  return flags;
}

}  // namespace gdr::ledger
