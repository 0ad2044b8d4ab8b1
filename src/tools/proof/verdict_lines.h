// What stands below a verdict's headline, as lines with a name each, for text and page alike.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "proof/report.h"

namespace gdr::proof {

struct VerdictLine {
  std::string name;  // "seen"; empty: it belongs to the line before
  std::string text;
  std::size_t more_indent = 0;  // of the text's second line, where it is broken: behind a number
};

std::vector<VerdictLine> lines_of(const Verdict& verdict);

// "RDMA NIC and GPU"; "RDMA NIC of node1, GPU of node1 and GPU of node2"
std::string listed(std::span<const std::string> parts);

}  // namespace gdr::proof
