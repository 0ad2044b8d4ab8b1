// Everything that gdr topo has to say of a machine, as data; text, drawings and the JSON document
// are written from it.
//
//   Result<Report> report = make_report(*std::move(inventory), {"this machine", true}, {});
//   if (report) fmt::print("{}", to_text(*report, style));
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "host/inventory.h"
#include "topo/best.h"
#include "topo/devices.h"
#include "topo/matrix.h"
#include "topo/nccl_view.h"
#include "topo/verdict.h"

namespace gdr::topo {

// Which machine it is: "this machine", or the files it was described by.
struct Origin {
  std::string text;
  bool live = false;
  std::vector<std::string> looked_at;  // said where nothing was found
};

struct Report {
  host::Inventory inventory;
  Origin origin;
  std::vector<Device> devices;
  Matrix matrix;
  std::vector<Choice> choices;  // one for each GPU
  std::vector<NcclDifference> nccl_differences;
  std::vector<std::string> nccl_advice;
  std::vector<std::string> warnings;  // why grades may be wrong, each with what to do
  std::vector<std::string> notes;     // what was passed over in the source
  Verdict verdict;
};

// `others`: PCI addresses of further devices. Fails as list_devices does.
Result<Report> make_report(host::Inventory inventory, Origin origin,
                           const std::vector<std::string>& others);

// Why grades are not reliable in a virtual machine: "virtual machine (QEMU): …".
std::string unreliable_because(const host::Inventory& inventory);

// "GPU", "NIC": how many there are.
std::size_t count_of(const Report& report, Device::Kind kind);

}  // namespace gdr::topo
