// Where and when a report was made, for its head.
#pragma once

#include <string>

#include "text/envelope.h"

namespace gdr::cli {

std::string name_of_this_host();
// "2026-11-26 10:12 UTC"
std::string time_now();
// What the JSON documents of this process begin with: all of them with the time at which it began.
text::Provenance provenance();

}  // namespace gdr::cli
