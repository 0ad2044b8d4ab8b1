#include "net/settings.h"

#include "base/environment.h"

namespace gdr::net {

Result<Settings> settings_from_environment() {
  Settings settings;
  const std::string path = environment("GDR_SOFT_PATH").value_or("auto");
  if (path != "auto" && path != "packets") {
    return Error{EINVAL, "GDR_SOFT_PATH='" + path + "': allowed are auto and packets"};
  }
  settings.takes_everything = path == "packets";
  settings.pcap_file = environment("GDR_SOFT_PCAP");
  if (const auto text = environment("GDR_SOFT_FAULTS")) {
    Result<Faults> faults = parse_faults(*text);
    if (!faults) return Error{EINVAL, "GDR_SOFT_FAULTS: " + faults.error().message};
    settings.faults = *faults;
  }
  return settings;
}

}  // namespace gdr::net
