// The machines of tests/support/machines, each in the forms in which programs show it; its README
// lists them.
//
//   source.lspci = {test::machine_file("hgx-h100-dell.lspci-vvv.txt")};
#pragma once

#include <string>

namespace gdr::test {

inline std::string machine_file(const std::string& name) {
  return std::string(GDR_MACHINES) + "/" + name;
}

}  // namespace gdr::test
