// The likely reasons behind a verdict, in sentences, likeliest first.
#pragma once

#include <string>
#include <vector>

#include "watching/report.h"

namespace gdr::watching {

std::vector<std::string> why_staged(const Report& report);
std::vector<std::string> why_host(const Report& report);
std::vector<std::string> why_not(const Report& report);

// Requests reach the NIC past libibverbs: connected queue pairs, nothing posted to them, a provider
// that offers it, and a port that moved.
bool posts_to_hardware(const Observations& seen);

// Processes that could not be watched, records that ran out.
void add_what_was_not_seen(Report& report);

}  // namespace gdr::watching
