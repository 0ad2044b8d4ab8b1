// Logs of a few lines, written where they are used.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nccl/judge.h"

namespace gdr::nccl {

inline Log read_log(std::string_view text) {
  LogReader reader;
  reader.feed(text);
  return reader.finish();
}

// Each text as an INFO message of one process, behind the line that says the version.
inline Report report_of(const std::string& version, const std::vector<std::string>& messages,
                        Expectation expectation = Expectation::kGdrdma) {
  std::string text = version.empty() ? "" : "NCCL version " + version + "\n";
  for (const std::string& message : messages) {
    text += "host:1:10 [0] NCCL INFO " + message + "\n";
  }
  return judge(read_log(text), expectation);
}

inline constexpr const char* kSend = "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0";
inline constexpr const char* kReceive = "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0";

}  // namespace gdr::nccl
