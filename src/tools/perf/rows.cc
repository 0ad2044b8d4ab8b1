#include "perf/rows.h"

namespace gdr::perf {
namespace {

const std::atomic<bool> kNeverInterrupted{false};

}  // namespace

Rows::Rows(Control control, Ports ports)
    : control_(std::move(control)),
      ports_(std::move(ports)),
      client_(control_, ports_, {}, {}, kNeverInterrupted) {}

Result<std::unique_ptr<Rows>> Rows::open(Control control, const DeviceNames& near) {
  Result<Ports> ports = open_ports({near});
  if (!ports) return ports.error();
  std::unique_ptr<Rows> rows(new Rows(std::move(control), *std::move(ports)));
  if (Result<void> met = rows->client_.greet(); !met) return met.error();
  if (Result<void> begun = rows->client_.begin({}); !begun) return begun.error();
  return rows;
}

Result<Row> Rows::measure(const Load& load, const Timing& timing) {
  Row measured;
  Result<void> done = client_.run(
      {load, {load.size}, timing}, [&](Row row) { measured = std::move(row); }, [](const Load&) {});
  if (!done) return done.error();
  return measured;
}

}  // namespace gdr::perf
