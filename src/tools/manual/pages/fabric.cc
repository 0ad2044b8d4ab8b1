#include "manual/pages/pages.h"

namespace gdr::manual {
namespace {

Page fabric() {
  return {
      .name = "gdr fabric",
      .usages = {{"gdr fabric [OPTIONS]", "on each host, by srun or mpirun"},
                 {"gdr fabric --hosts LIST [OPTIONS]", "over ssh"},
                 {"gdr fabric --local N [OPTIONS]", "N processes of this host, to try it"},
                 {"gdr fabric compare BASE OTHER"}},
      .description =
          {"gdr fabric sends known bytes between the hosts of a cluster, from GPU memory to GPU "
           "memory, compares every byte where it arrived, and measures latency and bandwidth of "
           "each rail: a NIC with the GPU that is nearest to it. It says which host, NIC, cable, "
           "leaf switch or spine stands out, why it says so, and what to type next.",
           "It needs no MPI. Start it once on each host with srun (with or without --mpi=pmix) or "
           "with mpirun, or name the hosts with --hosts. With Open MPI give mpirun "
           "--enable-recovery: without it, mpirun ends the run when one host dies. Rank 0 "
           "collects, and prints the report.",
           "In each round, every host has a partner, and all pairs work at the same time. Up to "
           "128 hosts every pair meets; with more, 8 rounds are chosen at random, which is enough "
           "to find a bad host. What stands out is measured again, with good hosts and with "
           "nothing else on the fabric, and gdr doctor is asked on those hosts.",
           "A host that never joins, dies or stops answering is named, and the others go on. "
           "Missing hardware is replaced by a stand-in only on a host that has neither RDMA NIC "
           "nor GPU, and the report says so; with --require-hardware such a host is left out.",
           "--lines FILE keeps what was measured even if the run is killed."},
      .exit_status = {{"0",
                       "every planned transfer was right, and nothing stands out; on hardware or "
                       "on stand-ins: the first line says which"},
                      {"1",
                       "at least one finding, also a host that did not take part; or the run "
                       "could not begin, or a file could not be written"},
                      {"2", "wrong use, or no launcher and no --hosts"},
                      {"3", "no finding, but the run was interrupted, or nothing was compared"}},
      .variables = {"GDR_SOFT_DEVICES", "GDR_SOFT_GPUS", "NO_COLOR"},
      .examples = {{"srun -N16 gdr fabric --report fabric.html", "also a page with a heatmap"},
                   {"mpirun --enable-recovery -n 16 --map-by node gdr fabric"},
                   {"gdr fabric --hosts n[01-16] --report today.json"},
                   {"gdr fabric --local 4", "try it on this host"}},
      .see_also = {"gdr-fabric-compare(1)", "gdr-prove(1)", "gdr-perf(1)", "gdr-doctor(1)",
                   "gdr-soft(7)", "srun(1)", "ibnetdiscover(8)"}};
}

Page compare() {
  return {
      .name = "gdr fabric compare",
      .usages = {{"gdr fabric compare [OPTIONS] BASE OTHER"}},
      .description =
          {"gdr fabric compare reads two documents that gdr fabric wrote with --report FILE.json "
           "or "
           "--lines FILE, and says what changed from the first to the second: hosts that came and "
           "went, findings that are new or gone, and rails and hosts whose bandwidth or latency "
           "changed by more than the measurements scatter.",
           "Runs of different patterns, memories or message sizes are compared, too; the "
           "difference is named first."},
      .exit_status = {{"0", "compared"},
                      {"1",
                       "with --fail-if-worse: a speed is worse by that much, or there is a new "
                       "finding"},
                      {"2", "wrong use, or an unusable file"}},
      .examples = {{"gdr fabric compare last-month.json today.json"},
                   {"gdr fabric compare --fail-if-worse 5 accepted.json today.json",
                    "for a script: exit status 1 if it is worse"},
                   {"gdr fabric compare --json killed.jsonl today.json"}},
      .see_also = {"gdr-fabric(1)", "gdr-perf-compare(1)"}};
}

}  // namespace

Pages fabric_pages() { return {fabric(), compare()}; }

}  // namespace gdr::manual
