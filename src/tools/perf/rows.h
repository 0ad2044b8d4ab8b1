// Rows of `gdr perf`, measured one by one for another tool: this process is the client.
//
//   Result<std::unique_ptr<Rows>> rows = Rows::open(Control(std::move(socket)), near);
//   Result<Row> row = (*rows)->measure(load, timing);
#pragma once

#include <memory>

#include "perf/client.h"

namespace gdr::perf {

class Rows {
 public:
  // With the server at the other end of `control`. GPUs are those that the loads name.
  static Result<std::unique_ptr<Rows>> open(Control control, const DeviceNames& near);

  // The row says why it has no figures; an error: the server is lost.
  Result<Row> measure(const Load& load, const Timing& timing);

 private:
  Rows(Control control, Ports ports);

  Control control_;
  Ports ports_;
  Client client_;
};

}  // namespace gdr::perf
