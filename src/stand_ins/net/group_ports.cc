#include "net/group_ports.h"

#include <algorithm>

namespace gdr::net {

GroupPort* GroupPorts::find(const Wanted& wanted) {
  for (GroupPort& group : all()) {
    if (group.device == wanted.device && group.port->address() == wanted.group) return &group;
  }
  return nullptr;
}

GroupPort* GroupPorts::open(const Wanted& wanted, const Wrap& wrap) {
  const std::size_t count = count_.load();
  if (count == kMostGroups) return nullptr;
  Result<std::unique_ptr<UdpPort>> port = UdpPort::open_group(wanted.group, wanted.interface);
  if (!port) return nullptr;
  GroupPort& group = groups_[count];
  group.device = wanted.device;
  group.membership = port->get();
  Result<std::unique_ptr<Port>> wrapped = wrap(*std::move(port));
  if (!wrapped) return nullptr;
  group.port = *std::move(wrapped);
  count_.store(count + 1, std::memory_order_release);
  return &group;
}

std::vector<int> GroupPorts::update(std::span<const Wanted> wanted, const Wrap& wrap) {
  std::vector<int> opened;
  for (GroupPort& group : all()) {
    const bool has_members = std::ranges::any_of(wanted, [&](const Wanted& one) {
      return one.device == group.device && one.group == group.port->address();
    });
    if (group.is_member && !has_members) group.is_member = !group.membership->set_member(false);
  }
  for (const Wanted& one : wanted) {
    GroupPort* group = find(one);
    if (group == nullptr && (group = open(one, wrap)) != nullptr) {
      opened.push_back(group->port->descriptor());
    }
    if (group != nullptr && !group->is_member) {
      group->is_member = group->membership->set_member(true);
    }
  }
  return opened;
}

void GroupPorts::close_all() {
  count_.store(0);
  for (GroupPort& group : groups_) group.port.reset();
}

}  // namespace gdr::net
