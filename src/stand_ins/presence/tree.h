// Tree: the files that the kernel would show of the software NIC's devices, as data.
//
//   for (const Entry& entry : make_tree(devices)) write(folder, entry);
//
#pragma once

#include <string>
#include <vector>

#include "presence/entry.h"
#include "presence/facts.h"

namespace gdr::presence {

// Counters only where somebody keeps them up to date: one that stands still would be read as a
// measurement. Here they are all 0.
enum class Counters { kNo, kYes };

// Sorted by path, each path once.
std::vector<Entry> make_tree(const std::vector<DeviceFacts>& devices, Counters counters);

// What belongs to the tree besides its own folders (folders.h), for the preloaded library: a line
// each, "all PATH" for everything at and below a path, "list PATH" for a folder's list of entries.
// In the file kPlacesFile of the folder that the tree is written to.
std::string make_places(const std::vector<DeviceFacts>& devices);

}  // namespace gdr::presence
