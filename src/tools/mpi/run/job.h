// Job: a launcher with everything that it starts, followed line by line to its end, for a bounded
// time. Nothing of it on this host outlives the object's run(): neither what the launcher leaves
// behind nor what leaves its process group. Ranks on other hosts end with their own parents, which
// the launcher's end tells (rank.h).
//
//   Result<JobEnd> end = run_job({"mpirun", "-n", "2", "./gdr-mpi"}, 60 * kSecond,
//                                [&] { return interrupted.load(); }, [&](std::string_view line) {
//                                output.take(line); });
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace gdr::mpi_run {

struct JobEnd {
  enum class How { kItself, kTimedOut, kStopped } how = How::kItself;
  int status = 0;          // of waitpid, where it ended by itself
  std::size_t killed = 0;  // processes that had outlived the launcher
};

// `stop` is asked many times a second; once it says yes, the job is ended. `on_line`: of standard
// output; `on_words`: of standard error. The error is that of starting it.
Result<JobEnd> run_job(const std::vector<std::string>& command, Nanoseconds limit,
                       const std::function<bool()>& stop,
                       const std::function<void(std::string_view)>& on_line,
                       const std::function<void(std::string_view)>& on_words);

// Of all that launcher and ranks said besides rows, the line that tells most about a failure.
std::string telling_line(const std::vector<std::string>& said);

}  // namespace gdr::mpi_run
