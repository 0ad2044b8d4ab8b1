// The values of options and arguments that can be listed: one table. A test holds each row against
// what the parser says is allowed.
#pragma once

#include <string>
#include <vector>

namespace gdr::cli {

struct Candidate {
  std::string word;
  std::string text;  // what it means; may be empty
};

struct ListedValues {
  const char* command;  // "gdr prove"
  const char* option;   // "--modes", or an argument's name
  bool is_list;         // separated by commas
  std::vector<Candidate> (*values)();
};

// Null: the values cannot be listed.
const ListedValues* find_values(const std::string& command, const std::string& option);
const std::vector<ListedValues>& all_listed_values();

// Names of RDMA NICs, and of GPUs as ordinals and PCI addresses, on the machine below `root`; those
// of the software NIC and GPU where there are none.
std::vector<Candidate> nic_names(const std::string& root);
std::vector<Candidate> gpu_names(const std::string& root);

}  // namespace gdr::cli
