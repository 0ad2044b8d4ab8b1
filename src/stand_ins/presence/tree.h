// Tree: the files that the kernel would show of the software NIC's devices, as data.
//
//   for (const Entry& entry : make_tree(devices)) write(folder, entry);
//
// Counters are left out: no file here changes, and a counter that stands still would be read as a
// measurement.
#pragma once

#include <string>
#include <vector>

#include "presence/facts.h"

namespace gdr::presence {

struct Entry {
  enum class Kind { kFile, kDevice };  // a device: a character device, made by whoever shows it
  Kind kind = Kind::kFile;
  std::string path;  // from "/sys/..." or "/dev/..." on; its folders follow from it
  std::string text;  // of a file
};

// Sorted by path.
std::vector<Entry> make_tree(const std::vector<DeviceFacts>& devices);

}  // namespace gdr::presence
