// What the tests need to know of a shared object: its versioned exports, its imports and what it
// needs.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace gdr::test {

struct ElfFile {
  // "name version default|compat FUNC|OBJECT size": the form of rdma-core-44.symbols.
  std::set<std::string> exports;
  std::set<std::string> unversioned_exports;
  std::set<std::string> imports;  // names without versions
  std::vector<std::string> needed;
  std::vector<std::string> version_nodes;  // without the first, which is the file's own name
  std::string soname;
};

// Throws std::runtime_error with the reason when it cannot be read.
ElfFile read_elf_file(const std::string& path);

}  // namespace gdr::test
