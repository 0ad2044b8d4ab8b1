// perftest's options in gdr perf's words, for hands that know ib_write_bw.
//
//   Result<FromPerftest> read = from_perftest({"-d", "mlx5_0", "-s65536", "-F", "node7"});
//   // read->words == {"--sizes", "65536", "node7", "--nic", "mlx5_0"}
//   // read->notes == {"-s 65536 is --sizes 65536 here", ...}
//
// Which of them have nothing of ours, and why: docs/perf.md.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "manual/man_page.h"

namespace gdr::cli {

struct FromPerftest {
  std::vector<std::string> words;
  std::vector<std::string> notes;  // one line for each option that was perftest's
};

// `words` behind "perf". EINVAL for an option without its value, or one that gdr perf does not
// have. Values are judged where our own option reads them.
Result<FromPerftest> from_perftest(const std::vector<std::string>& words);

// For the manual page.
manual::Aliases perftest_aliases();

}  // namespace gdr::cli
