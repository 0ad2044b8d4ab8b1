// What gdr, beside each rank, tells the rank's program of its host's NICs and of its own requests:
// one line of JSON, which rank 0 prints and the first gdr reads again.
//
//   const std::string line = counters_line(host, ports, watching::take_snapshot(file.ledger()));
//   Result<RankCounters> counters = read_counters(nlohmann::json::parse(line));
//   const Moved moved = difference(before, after);
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "mpi/run/report.h"
#include "watching/ports.h"
#include "watching/snapshot.h"

namespace gdr::mpi_run {

// The variable by which the program learns of the descriptor to ask: a byte is the question.
inline constexpr char kCountersVariable[] = "GDR_MPI_COUNTERS_FD";

// `host`: a name that no other host, and no other network namespace, has.
std::string counters_line(const std::string& host, const watching::PortCounts& ports,
                          const watching::Snapshot& calls);

Result<RankCounters> read_counters(const nlohmann::json& line);

// One element for each rank. What a NIC counted is taken once for each host.
Moved difference(const std::vector<RankCounters>& before, const std::vector<RankCounters>& after);

}  // namespace gdr::mpi_run
