// Blocks: what a person reads of a report. Eight GPUs of which a check says the same are one block.
//
//   for (const Block& block : blocks_of(report)) puts(block.subject.c_str());
#pragma once

#include <string>
#include <vector>

#include "doctor/report.h"

namespace gdr::doctor {

struct Block {
  Line line;            // the first of those that are alike
  std::string subject;  // of all of them: "GPUs 0000:19:00.0, 0000:3b:00.0"
};

// In the order of in_order().
std::vector<Block> blocks_of(const Report& report);

}  // namespace gdr::doctor
