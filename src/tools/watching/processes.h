// What shows from outside of a program and all that it started: the libraries in their memory, and
// whether they talk TCP. For processes that the watch cannot be loaded into, and for those that end
// without a word.
//
//   Processes seen(pid_of_the_program);
//   seen.look();                       // now and then while it runs
//   if (seen.unwatched() > 0) ...
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace gdr::watching {

struct SeenProcess {
  std::string program;
  std::uint64_t libraries = 0;     // ledger::Library
  bool watched = false;            // libgdr-watch.so is in it
  bool readable = false;           // its memory map could be read
  std::uint32_t connections = 0;   // of TCP to other processes, most at a time
  bool shares_ucx_memory = false;  // it has attached memory of another process's UCX
  bool had_attached = false;       // as it seemed at the last look
  // Why no library could be loaded into what it was when it was seen last.
  bool is_static = false, gained_rights = false;
};

class Processes {
 public:
  // `proc`: the folder of processes, for tests.
  explicit Processes(pid_t first, std::string proc = "/proc")
      : first_(first), proc_(std::move(proc)) {}

  void look();
  // The same if it is time again: soon after the first time, then ever more seldom, since it reads
  // much where a program is large.
  void look_now_and_then();
  const std::map<pid_t, SeenProcess>& seen() const { return seen_; }

 private:
  void look_at(pid_t pid, int depth);

  const pid_t first_;
  const std::string proc_;
  std::map<pid_t, SeenProcess> seen_;
  std::chrono::steady_clock::time_point next_{};
  std::chrono::milliseconds pause_{10};
};

// The flags of the libraries that /proc/PID/maps names.
std::uint64_t libraries_in(const std::string& maps);

}  // namespace gdr::watching
