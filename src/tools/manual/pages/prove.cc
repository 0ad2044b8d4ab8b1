#include "manual/pages/pages.h"

namespace gdr::manual {

Pages prove_pages() {
  return {
      {.name = "gdr prove",
       .usages = {{"gdr prove [OPTIONS]", "both sides on this host"},
                  {"gdr prove --server [OPTIONS]", "wait for clients"},
                  {"gdr prove HOST [OPTIONS]", "prove the way to the server there"}},
       .description =
           {"gdr prove finds GPUs and NICs, registers GPU memory with a NIC in each way that the "
            "machine has, moves known patterns from one NIC port through another one into GPU "
            "memory and back, and checks every byte and the guard pages around them. Then it "
            "measures a short bandwidth and latency, direct and staged through host memory.",
            "It ends with a verdict. PROVED: every requested transfer was right, on real devices. "
            "PROVED IN PART: something could not be tried. INCOMPLETE: this machine has hardware, "
            "and a missing part was simulated. INTERRUPTED: a signal ended it, and nothing had "
            "failed. "
            "FAILED: a likely cause and the next command "
            "follow. SIMULATION PASSED: the machine has no hardware of either kind, or --soft was "
            "given; this says nothing about real devices.",
            "Between two hosts, start gdr prove --server on one of them; each host's own --nic and "
            "--gpu name its devices. Without --secret the server serves whoever reaches its port; "
            "without --listen only this host does.",
            "Whatever acts on the exit status, such as a Slurm prolog or a Kubernetes readiness "
            "gate, should use --require-hardware: only then 0 means PROVED and nothing else."},
       .exit_status =
           {{"0",
             "PROVED on hardware; or SIMULATION PASSED: --soft was given, or this machine has no "
             "hardware of either kind. With --require-hardware: PROVED only"},
            {"1", "FAILED; or no server answers on the other host"},
            {"2", "wrong use"},
            {"3",
             "only a part was proved; or this machine has hardware, and a missing part was "
             "simulated (a GPU host that has lost its NIC); or a signal ended it"}},
       .variables = {"GDR_SOFT_DEVICES", "GDR_SOFT_GPUS", "NO_COLOR"},
       .examples = {{"gdr prove", "this machine, one GPU"},
                    {"gdr prove --all --no-measure", "every GPU and port, no speeds"},
                    {"gdr prove --report proof.html", "also a page for a ticket"},
                    {"gdr prove node7 --secret perf.key", "between this host and node7"}},
       .see_also = {"gdr-doctor(1)", "gdr-perf(1)", "gdr-topo(1)", "gdr-soft(7)"}}};
}

}  // namespace gdr::manual
