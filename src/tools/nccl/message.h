// NCCL's own messages in a line: what launchers put in front is skipped, and where two processes
// wrote into one line both messages are found.
//
//   "[1,0]<stdout>:host7:123:456 [0] NCCL INFO Connected all rings"
//   -> Message{.level = Level::kInfo, .host = "host7", .process = 123, .text = "Connected all
//   rings"}
//
// The text in front of the level changed between versions (2.4 to 2.30): "host:pid:tid [dev]", for
// a warning also "file:line" and, since 2.30, "(function)", and since 2.26 a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "nccl/lines.h"

namespace gdr::nccl {

enum class Level { kVersion, kWarning, kInfo, kTrace };

// All views are into the line.
struct Message {
  Level level = Level::kInfo;
  std::uint64_t line = 0;
  std::string_view host;  // empty where the line does not say it
  std::int64_t process = -1;
  std::string_view text;
  bool whole = true;  // false: the end of the text is missing or not its own
};

void for_each_message(const Line& line, const std::function<void(const Message&)>& sink);

}  // namespace gdr::nccl
