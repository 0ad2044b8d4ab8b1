// What the CUDA driver alone reaches: bare copies of a row's messages, from the kind of memory
// where they begin into that where they end, on the GPU that the client uses. Host memory is
// pinned.
//
// They are made by a process of its own: a context that the client did not have before would change
// by which way the software NIC carries the rows to come.
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

// A GPU's memory on one side at least, no staging, one direction.
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
