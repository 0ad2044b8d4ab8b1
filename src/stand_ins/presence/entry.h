// One file of the tree that the software NIC's devices are shown in.
#pragma once

#include <string>

namespace gdr::presence {

struct Entry {
  // A device: a character device, made by whoever shows it. A link: a symbolic one.
  enum class Kind { kFile, kDevice, kLink };
  Kind kind = Kind::kFile;
  std::string path;  // from "/sys/..." or "/dev/..." on; its folders follow from it
  std::string text;  // of a file; a link's target
};

// A link at `path`, as the kernel writes them: up to what both have in common, and down again.
Entry relative_link(const std::string& path, const std::string& target);

}  // namespace gdr::presence
