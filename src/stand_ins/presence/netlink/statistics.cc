#include "presence/netlink/statistics.h"

#include <rdma/rdma_netlink.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "ports/attributes.h"
#include "ports/port_file.h"

namespace gdr::presence::netlink {
namespace {

void add_counter(Message& message, const char* name, std::uint64_t value) {
  if (!message.has_room(4 * NLA_HDRLEN + std::strlen(name) + sizeof value)) return;
  const std::size_t entry = message.begin_nested(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
  message.add_text(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name);
  message.add_number(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, value);
  message.end_nested(entry);
}

}  // namespace

bool add_statistics(Message& message, const TreeReader& tree, std::uint32_t device,
                    std::uint32_t port) {
  const char* folder = std::getenv(ports::kPortsVariable);
  char file[ports::kMostFileName];
  ports::PortValues values;
  if (folder == nullptr || folder[0] != '/' || port != 1 ||
      !ports::make_file_name(tree.name(device), tree.guid(device, "node_guid"), file) ||
      !ports::read_port(folder, file, &values)) {
    return false;
  }
  message.add_number(RDMA_NLDEV_ATTR_DEV_INDEX, device);
  message.add_text(RDMA_NLDEV_ATTR_DEV_NAME, tree.name(device));
  message.add_number(RDMA_NLDEV_ATTR_PORT_INDEX, port);
  const std::size_t table = message.begin_nested(RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
  for (const ports::Attribute& one : ports::attributes()) {
    const bool is_count = std::string_view(one.folder) == "hw_counters" &&
                          std::string_view(one.name) != ports::kLifespan;
    if (is_count) add_counter(message, one.name, one.value(values));
  }
  message.end_nested(table);
  return true;
}

}  // namespace gdr::presence::netlink
