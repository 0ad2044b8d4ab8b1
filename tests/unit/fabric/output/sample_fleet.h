// A made-up run: a fleet with Gaussian noise, one slow host, one slow NIC, a transfer with wrong
// bytes, one that failed, and a host that died.
#pragma once

#include <cstdint>
#include <string>

#include "fabric/report.h"

namespace gdr::fabric {

struct SampleFleet {
  std::uint32_t hosts = 16;
  std::uint32_t rails = 2;
  std::uint32_t rounds = 0;  // 0: every pair meets
  std::uint32_t hosts_of_leaf = 8;
  std::uint32_t seed = 1;
  bool is_healthy = false;   // nothing is wrong
  bool is_software = false;  // the rails are stand-ins
};
Report sample_fleet(const SampleFleet& fleet = {});

// What a host may call itself to harm whoever shows it.
constexpr const char* kEvilName =
    "</script><script>document.title='taken over'</script>\"'\\\n\x1b[2J&<b>";

// Every text of the report that comes from a host.
void spoil(Report& report);

}  // namespace gdr::fabric
