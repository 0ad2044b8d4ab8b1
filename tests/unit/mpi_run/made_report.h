// Reports as a run would leave them, for tests of the answer and of the documents.
#pragma once

#include "mpi/run/report.h"

namespace gdr::mpi_run {

inline constexpr std::uint64_t kMiB = 1 << 20;

// A row of which `left` bytes left the NIC soft0, by requests of the same number.
inline Row made_row(Measure measure, Memory from, Memory to, std::uint64_t sent,
                    std::uint64_t left) {
  Row row;
  row.measure = measure;
  row.size = kMiB;
  row.from = from;
  row.to = to;
  row.repetitions = {1e9, 2e9, 4e9};
  row.seconds = 1;
  row.sent = sent;
  row.compared = sent;
  row.moved = Moved{};
  row.moved->nics["soft0"] = {left, left};
  row.moved->posted = left;
  return row;
}

inline Report made_report() {
  Report report;
  report.soft_nic = true;
  report.launcher = "/usr/bin/mpirun";
  report.compiler = "/usr/bin/mpicc";
  report.program.library = "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4";
  report.program.standard = "3.1";
  report.program.ranks = 2;
  report.program.hosts = {"node7"};
  report.program.cuda_support = false;
  report.program.idle_seconds = 0.1;
  report.program.idle = Moved{};
  report.program.done = true;
  return report;
}

inline Report made_report(std::uint64_t sent, std::uint64_t left) {
  Report report = made_report();
  report.program.rows.push_back(
      made_row(Measure::kBandwidth, Memory::kHost, Memory::kHost, sent, left));
  return report;
}

// With a GPU whose memory the MPI takes, of which `left` bytes left the NIC.
inline Report made_gpu_report(std::uint64_t sent, std::uint64_t left) {
  Report report = made_report(sent, sent);
  report.wants_gpu = true;
  report.program.gpus = true;
  report.program.cuda_support = true;
  report.program.rows.push_back(
      made_row(Measure::kBandwidth, Memory::kGpu, Memory::kGpu, sent, left));
  Row staged = made_row(Measure::kBandwidth, Memory::kStaged, Memory::kStaged, sent, sent);
  staged.repetitions = {5e8};
  report.program.rows.push_back(staged);
  return report;
}

}  // namespace gdr::mpi_run
