// Many devices, of which most are well: one finding for all that are, and one for those that are
// wrong in the same way, so that a host with sixteen NICs does not say the same thing sixteen
// times.
//
//   Gathered gathered("NICs");
//   for (const host::Nic& nic : nics) gathered.add(judge(nic), nic.name);
//   return gathered.take();
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "doctor/check.h"

namespace gdr::doctor {

class Gathered {
 public:
  // What several subjects are: "NIC ports".
  explicit Gathered(std::string nouns) : nouns_(std::move(nouns)) {}

  // Findings that are the same but for their subject and evidence become one. `devices`: what
  // stand for "{}" in their fixes, and a few of them in their summary.
  void add(Finding finding, const std::vector<std::string>& devices);
  void add(Finding finding, const std::string& device) {
    add(std::move(finding), std::vector<std::string>{device});
  }
  // In the order in which they came. `why_none`: why the check does not apply where none came.
  Findings take(const std::string& why_none = {}) const;

 private:
  struct Group {
    Finding finding;  // with the fixes as they were given
    std::vector<std::string> subjects, devices;
  };
  Finding merged(const Group& group) const;

  std::string nouns_;
  std::vector<Group> groups_;
  std::size_t left_out_ = 0;
};

// The same but for their subjects and evidence.
bool alike(const Finding& a, const Finding& b);

// Whom a finding about several is told of: their names where something is wrong with them, else, or
// where they are many, "8 GPUs".
std::string subject_of(const std::vector<std::string>& subjects, const std::string& nouns,
                       Outcome outcome);

// A sentence about all of them: "MTU 4200 for ens1, ens2". Names come from captures of others too,
// and a sentence quotes nothing: "DEVICE" stands for a name that is not plain.
std::string note_for(const std::string& note, const std::vector<std::string>& devices);

}  // namespace gdr::doctor
