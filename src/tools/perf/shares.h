// Shares: what each thread of a side gets of that side's plan, and what all of them together take
// of the host's memory. Stations are made of these shares and of nothing else, so that what was
// judged is what is taken.
//
//   const std::vector<StationPlan> shares = shares_of(plan, is_client);
//   check_host_memory(host_memory_of(shares), available_memory());
//   for (const StationPlan& share : shares) Station::create(devices, share);
#pragma once

#include <span>
#include <vector>

#include "perf/station.h"

namespace gdr::perf {

// `whole`: with the queue pairs of all threads together.
std::vector<StationPlan> shares_of(const StationPlan& whole, bool is_client);

// At most: messages, what --check compares them with, requests and completions. Not what lies in a
// GPU's memory.
std::uint64_t host_memory_of(std::span<const StationPlan> shares);

}  // namespace gdr::perf
