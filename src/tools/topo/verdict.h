// What counts most about a machine, in one sentence, and what to do first: how many GPUs have a
// good NIC, and the worst problem.
//
//   const Verdict verdict = judge(report);
//   fmt::print("{}  {}\n", verdict.word, verdict.text);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "text/command.h"
#include "topo/best.h"

namespace gdr::topo {

struct Report;

inline constexpr const char* kUnreliable = "UNRELIABLE";  // a verdict's word in a virtual machine

// Something to do; at least one of note and command is there.
struct Step {
  std::string when;  // "now", "or", "for good", "next"
  std::string note;  // what it does, or what to do by hand
  text::Command command;
};

struct Verdict {
  std::string word;  // "GOOD"; empty: the machine has neither GPU nor NIC
  std::string text;
  std::optional<Quality> quality;  // the worst of the best NICs; nothing: there are none
  std::vector<Step> steps;
};

// Reads everything else in the report.
Verdict judge(const Report& report);

}  // namespace gdr::topo
