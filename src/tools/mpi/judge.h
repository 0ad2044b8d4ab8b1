// Judges what an MPI does with GPU memory between hosts, why, and what would make it better.
//
//   const Judgement judgement = judge(installation, driver_half, variables);
//   if (judgement.verdict != Verdict::kDirect) show(judgement.steps);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpi/driver_half.h"
#include "mpi/installation.h"
#include "mpi/machine.h"
#include "text/command.h"

namespace gdr::mpi {

// From the worst to the best, but for the first.
enum class Verdict : std::uint8_t {
  kUnknown,
  kNone,     // a GPU pointer crashes
  kPartial,  // some functions take GPU memory, others crash
  kStaged,   // GPU memory is copied through host memory
  kDirect    // the NIC reads and writes GPU memory: GPUDirect RDMA
};
const char* name_of(Verdict verdict);     // "direct": for programs
const char* title_of(Verdict verdict);    // "GPUDIRECT RDMA"
const char* meaning_of(Verdict verdict);  // one sentence

// Something to do, and what to type for it; either may be empty.
struct Step {
  std::string text;
  text::Command command;
};

struct Judgement {
  Verdict verdict = Verdict::kUnknown;
  std::string transport;         // "pml ucx, UCX 1.17.0"; empty: not known
  std::vector<std::string> why;  // sentences, the deciding one first
  // Settings that can be made when a program is started, without building or installing anything,
  // and the verdict with them.
  std::vector<Step> settings;
  Verdict with_settings = Verdict::kUnknown;
  std::vector<Step> steps;         // what needs another build, package or module
  std::vector<std::string> notes;  // what to know besides
  text::Command load;              // makes it the one in use; none: it is, or not known
  std::string launch;              // launcher and PMI
};

Judgement judge(const Installation& one, const DriverHalf& half, const Variables& variables);

// What to type for an MPI that was not asked.
Step step_to_ask(const Installation& one);

// The parts of it, by family.
Judgement judge_open_mpi(const Installation& one, const Variables& variables);
Judgement judge_mpich(const Installation& one, const Variables& variables);
Judgement judge_vendor(const Installation& one,
                       const Variables& variables);  // MVAPICH, Intel, Cray

// Lowers a judgement by what this host lacks and what its variables switch off.
void apply_host(const Installation& one, const DriverHalf& half, const Variables& variables,
                Judgement& judgement);

// Says how its programs are started, and which PMI that takes.
std::string launch_of(const Installation& one);

// Judges what UCX makes of GPU memory, and adds what it lacks.
void judge_ucx(const Ucx& ucx, Judgement& judgement);
void add_ucx_steps(const Ucx& ucx, Judgement& judgement);
// The prefix of a UCX with CUDA, for configure lines: that which is there, or the one that
// add_ucx_steps() has people build.
std::string ucx_prefix(const Installation& one);

}  // namespace gdr::mpi
