// Examination: what a host says of itself when it is suspected: gdr doctor's first finding, and
// which of its ports' error counters have moved since the run began.
//
//   Examination examination(program, "/", rails);   // when the rails are open
//   Examined answer = examination.ask();
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fabric/messages.h"

namespace gdr::fabric {

class Examination {
 public:
  Examination(std::string program, std::string root, std::vector<MemberRail> rails);

  // Takes as long as gdr doctor does, and a minute at most.
  Examined ask() const;

 private:
  using Counters = std::map<std::string, std::int64_t>;
  Counters counters_of(const MemberRail& rail) const;
  std::string ask_doctor() const;

  const std::string program_, root_;
  const std::vector<MemberRail> rails_;
  std::vector<Counters> before_;  // of each rail
};

// "rdma-nics: no RDMA NIC on this host", of a document of `gdr doctor --json`. Empty: it found
// nothing, or it is none.
std::string first_finding(const std::string& document);

}  // namespace gdr::fabric
