// The files of counters that `gdr run` shows (/sys/class/infiniband/NAME/ports/1/counters and
// others), kept up to date while it waits beside the program.
//
//   PortRefresher ports("", folder);   // in front of /sys; see ports/port_folder.h
//   ports.refresh();                   // now and then, and at the program's end
//
// A refresh reads what the ports have counted, and writes only the files whose number has changed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace gdr::cli {

class PortRefresher {
 public:
  // The ports of all devices that are shown there.
  PortRefresher(const std::string& root, std::string folder);
  void refresh();

 private:
  struct Shown {
    std::string file;  // of the port's counts
    UniqueFd port;     // the folder ports/1
    std::vector<std::uint64_t> values;
  };

  const std::string folder_;
  std::vector<Shown> shown_;
};

}  // namespace gdr::cli
