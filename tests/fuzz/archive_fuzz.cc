// A stranger's archive of a machine: read into memory or refused in bounded time. What is read
// holds no more than its limits, has names that stay below its root, and every link in it leads to
// something that is in it too, or nowhere.
//
// Input: the archive's bytes.
#include <cstdint>
#include <cstdlib>

#include "host/archive.h"
#include "input.h"

namespace {

using gdr::host::ArchiveTree;
using gdr::host::FileKind;
using gdr::test::require;

struct Seen {
  std::size_t nodes = 0, bytes = 0;
};

void look_at(const ArchiveTree& tree, const ArchiveTree::Node& node, const std::string& path,
             Seen& seen) {
  ++seen.nodes;
  seen.bytes += node.content.size();
  require(node.kind == FileKind::kFolder || node.entries.empty());
  for (const auto& [name, entry] : node.entries) {
    require(!name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos);
    const std::string below = path.empty() ? name : path + "/" + name;
    require(tree.find(below, false) == entry.get());
    const auto real = tree.real_path(below);
    if (real) {
      std::string place;
      for (const std::string& part : *real) place += "/" + part;
      const ArchiveTree::Node* led_to = tree.find(place, false);
      require(led_to != nullptr && led_to->kind != FileKind::kLink);
    }
    look_at(tree, *entry, below, seen);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gdr::host::ArchiveLimits limits;
  limits.entries = 1000;
  limits.kept = std::size_t{1} << 20;
  limits.file = std::size_t{1} << 18;
  limits.unpacked = std::size_t{1} << 22;
  limits.seconds = 2;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto tree = gdr::host::parse_archive(bytes, limits);
  if (!tree) {
    require(!tree.error().message.empty());
    require(tree.error().message.find('\n') == std::string::npos);
    return 0;
  }
  const ArchiveTree::Node* root = (*tree)->find("", true);
  require(root != nullptr);
  Seen seen;
  look_at(**tree, *root, "", seen);
  require(seen.bytes <= limits.kept);
  return 0;
}
