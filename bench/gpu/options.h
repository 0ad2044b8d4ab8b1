// The command line.
#pragma once

#include <cstddef>
#include <vector>

namespace gdr::bench {

struct Options {
  int gpus[2] = {-1, -1};  // this process's and the peer's; -1: 0 and 1, or 0 for both
  bool vmm = false;        // GPU memory by cuMemCreate, not by cuMemAlloc
  std::vector<std::size_t> sizes = {4 << 10, 64 << 10, 256 << 10, 1 << 20,
                                    4 << 20, 16 << 20, 64 << 20,  256 << 20};
  int in_flight = 4;
  int seconds = 90;

  std::size_t largest() const;
};

// Ends the program after --help (status 0) and when it is used wrongly (2).
Options parse_options(int argc, char** argv);

}  // namespace gdr::bench
