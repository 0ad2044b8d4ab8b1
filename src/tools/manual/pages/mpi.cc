#include "manual/pages/pages.h"

namespace gdr::manual {
namespace {

Page mpi() {
  return {
      .name = "gdr mpi",
      .usages = {{"gdr mpi run [OPTIONS] [-- LAUNCHER-OPTIONS]"}},
      .description =
          {"An MPI that cannot use GPUDirect RDMA does not say so: it copies through host memory, "
           "or through another network. gdr mpi run measures what it does."},
      .exit_note = "Each of them has a page of its own.",
      .exit_status = {{"0", "used"},
                      {"1", "failed, or wrong values"},
                      {"2", "wrong use"},
                      {"3", "not used, or in part"}},
      .examples = {{"gdr mpi run"}},
      .see_also = {"gdr-mpi-run(1)", "gdr-nccl(1)", "gdr-perf(1)", "gdr-watch(1)"}};
}

}  // namespace

Pages mpi_pages() { return {mpi()}; }

}  // namespace gdr::manual
