// Measures bare copies by the CUDA driver: a row's messages, from the same kind of memory to the
// same kind, on the GPU that the client uses. Host memory is pinned.
//
// A process of its own makes them: with one more context, the client's software NIC would carry
// later rows by another path.
//
//   Result<GpuCopier> copier = GpuCopier::start("/proc/self/exe");
//   Result<double> bytes_per_second = copier->measure("libcuda.so.1", load);
#pragma once

#include <string>

#include "perf/load.h"
#include "process/conversation.h"
#include "process/worker.h"

namespace gdr::perf {

struct CopyOrder {
  std::string cuda;  // library
  Load load;
  GDR_FIELDS(cuda, load)
  struct Reply {
    double bytes_per_second = 0;
    GDR_FIELDS(bytes_per_second)
  };
};

// GPU memory on at least one side, not staged, in one direction.
bool has_bare_copies(const Load& load);

class GpuCopier {
 public:
  static Result<GpuCopier> start(const std::string& program);

  Result<double> measure(const std::string& cuda, const Load& load);

  // What the started process does. Returns its exit status.
  static constexpr const char* kCommand = "perf-copier";
  static int main();

 private:
  using Talk = process::Conversation<
      std::tuple<process::Failure, process::Nothing, CopyOrder, CopyOrder::Reply>>;

  GpuCopier(process::Worker worker, Talk talk)
      : worker_(std::move(worker)), talk_(std::move(talk)) {}

  process::Worker worker_;
  Talk talk_;  // goes first, which asks the process to end
};

}  // namespace gdr::perf
