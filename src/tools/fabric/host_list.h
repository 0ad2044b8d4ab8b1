// Lists of hosts in Slurm's notation, both ways.
//
//   Result<std::vector<std::string>> names = expand_host_list("n[01-03,07],login1");
//   compress_host_list(*names)  // "login1,n[01-03,07]"
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gdr::fabric {

// As many as a range of Slurm's may have. A list that is longer is an error, as is one that no
// fabric has.
constexpr std::size_t kMostListedHosts = 65'536;

// Names in the order of the list; a name that is listed twice comes twice. Commas and white space
// separate; brackets may be several and anywhere in a name, with ranges ("01-08"), leading zeros
// and steps ("0-10:2").
Result<std::vector<std::string>> expand_host_list(std::string_view text);

// The usual short form, sorted, each name once. Only the digits at a name's end go into brackets,
// as with `scontrol show hostlist`: versions of Slurm that are still in use take no other form.
std::string compress_host_list(std::vector<std::string> names);

}  // namespace gdr::fabric
