#include "presence/netlink/answer.h"

#include <linux/netlink.h>
#include <net/if.h>
#include <rdma/rdma_netlink.h>

#include <cerrno>
#include <cstring>

#include "presence/netlink/message.h"
#include "presence/netlink/statistics.h"
#include "presence/netlink/tree_reader.h"

namespace gdr::presence::netlink {
namespace {

constexpr std::uint16_t type_of(unsigned command) {
  return static_cast<std::uint16_t>(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command));
}

void add_device(Message& message, const TreeReader& tree, std::uint32_t device) {
  message.add_number(RDMA_NLDEV_ATTR_DEV_INDEX, device);
  message.add_text(RDMA_NLDEV_ATTR_DEV_NAME, tree.name(device));
  message.add_number(RDMA_NLDEV_ATTR_PORT_INDEX, tree.ports(device));
  if (const Text firmware = tree.firmware(device); firmware.bytes[0] != '\0') {
    message.add_text(RDMA_NLDEV_ATTR_FW_VERSION, firmware.bytes);
  }
  message.add_number(RDMA_NLDEV_ATTR_NODE_GUID, tree.guid(device, "node_guid"));
  message.add_number(RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, tree.guid(device, "sys_image_guid"));
  message.add_number(RDMA_NLDEV_ATTR_DEV_NODE_TYPE, tree.node_type(device));
  message.add_text(RDMA_NLDEV_ATTR_DEV_PROTOCOL, "roce");
}

void add_port(Message& message, const TreeReader& tree, std::uint32_t device, std::uint32_t port) {
  message.add_number(RDMA_NLDEV_ATTR_DEV_INDEX, device);
  message.add_text(RDMA_NLDEV_ATTR_DEV_NAME, tree.name(device));
  message.add_number(RDMA_NLDEV_ATTR_PORT_INDEX, port);
  message.add_number(RDMA_NLDEV_ATTR_PORT_STATE, tree.port_number(device, port, "state"));
  message.add_number(RDMA_NLDEV_ATTR_PORT_PHYS_STATE, tree.port_number(device, port, "phys_state"));
  const Text interface = tree.interface(device, port);
  if (const unsigned index = if_nametoindex(interface.bytes); index != 0) {
    message.add_number(RDMA_NLDEV_ATTR_NDEV_INDEX, static_cast<std::uint32_t>(index));
    message.add_text(RDMA_NLDEV_ATTR_NDEV_NAME, interface.bytes);
  }
}

// The kernel's acknowledgement, or its error: with the request's header.
void acknowledge(const nlmsghdr& request, int error, const Receiver& to) {
  Message message(NLMSG_ERROR, 0, request, to);
  const nlmsgerr body{-error, request};
  std::memcpy(message.add_body(sizeof body), &body, sizeof body);
  message.send(to);
}

void finish_dump(const nlmsghdr& request, const Receiver& to) {
  Message message(NLMSG_DONE, NLM_F_MULTI, request, to);
  const int error = 0;
  std::memcpy(message.add_body(sizeof error), &error, sizeof error);
  message.send(to);
}

// What a request asks for.
struct Asked {
  bool has_device = false, has_port = false;
  bool has_resource = false;  // what is counted by its own counter: a queue pair, a region
  std::uint32_t device = 0, port = 0;
};

Asked read_request(const nlmsghdr& request) {
  Asked asked;
  const char* at = reinterpret_cast<const char*>(&request) + NLMSG_HDRLEN;
  std::size_t left = request.nlmsg_len - NLMSG_HDRLEN;
  while (left >= sizeof(nlattr)) {
    nlattr attribute;
    std::memcpy(&attribute, at, sizeof attribute);
    if (attribute.nla_len < NLA_HDRLEN || attribute.nla_len > left) break;
    const bool is_number = attribute.nla_len >= NLA_HDRLEN + sizeof(std::uint32_t);
    std::uint32_t number = 0;
    if (is_number) std::memcpy(&number, at + NLA_HDRLEN, sizeof number);
    const int type = attribute.nla_type & NLA_TYPE_MASK;
    if (is_number && type == RDMA_NLDEV_ATTR_DEV_INDEX) {
      asked.has_device = true;
      asked.device = number;
    } else if (is_number && type == RDMA_NLDEV_ATTR_PORT_INDEX) {
      asked.has_port = true;
      asked.port = number;
    } else if (type == RDMA_NLDEV_ATTR_STAT_RES) {
      asked.has_resource = true;
    }
    const std::size_t step = NLA_ALIGN(attribute.nla_len);
    if (step >= left) break;
    at += step;
    left -= step;
  }
  return asked;
}

void dump(const nlmsghdr& request, const TreeReader& tree, const Receiver& to) {
  const unsigned command = RDMA_NL_GET_OP(request.nlmsg_type);
  const Asked asked = read_request(request);
  for (std::uint32_t device = 0; device < tree.devices(); ++device) {
    if (command == RDMA_NLDEV_CMD_GET) {
      Message message(request.nlmsg_type, NLM_F_MULTI, request, to);
      add_device(message, tree, device);
      message.send(to);
      continue;
    }
    // No queue pair has a counter of its own.
    if (command == RDMA_NLDEV_CMD_STAT_GET) break;
    if (asked.has_device && asked.device != device) continue;
    for (std::uint32_t port = 1; port <= tree.ports(device); ++port) {
      Message message(request.nlmsg_type, NLM_F_MULTI, request, to);
      add_port(message, tree, device, port);
      message.send(to);
    }
  }
  finish_dump(request, to);
}

// 0 or errno.
int get(const nlmsghdr& request, const TreeReader& tree, const Receiver& to) {
  const unsigned command = RDMA_NL_GET_OP(request.nlmsg_type);
  const Asked asked = read_request(request);
  Message message(request.nlmsg_type, 0, request, to);
  if (command == RDMA_NLDEV_CMD_SYS_GET) {
    message.add_number(RDMA_NLDEV_SYS_ATTR_NETNS_MODE, std::uint8_t{1});  // shared
  } else {
    const bool counts = command == RDMA_NLDEV_CMD_STAT_GET;
    const bool of_port = command == RDMA_NLDEV_CMD_PORT_GET || counts;
    if (!asked.has_device || (of_port && !asked.has_port)) return EINVAL;
    if (asked.device >= tree.devices()) return ENODEV;
    if (of_port && (asked.port == 0 || asked.port > tree.ports(asked.device))) return EINVAL;
    if (counts) {
      if (asked.has_resource || !add_statistics(message, tree, asked.device, asked.port)) {
        return EOPNOTSUPP;
      }
    } else if (of_port) {
      add_port(message, tree, asked.device, asked.port);
    } else {
      add_device(message, tree, asked.device);
    }
  }
  message.send(to);
  return 0;
}

bool is_known(const nlmsghdr& request) {
  return request.nlmsg_type == type_of(RDMA_NLDEV_CMD_GET) ||
         request.nlmsg_type == type_of(RDMA_NLDEV_CMD_PORT_GET) ||
         request.nlmsg_type == type_of(RDMA_NLDEV_CMD_STAT_GET) ||
         request.nlmsg_type == type_of(RDMA_NLDEV_CMD_SYS_GET);
}

void answer_one(const nlmsghdr& request, const char* root, const Receiver& to) {
  if ((request.nlmsg_flags & NLM_F_REQUEST) == 0 || request.nlmsg_type < NLMSG_MIN_TYPE) return;
  if (!is_known(request)) return acknowledge(request, EOPNOTSUPP, to);
  const TreeReader tree(root);
  const bool has_dump = request.nlmsg_type != type_of(RDMA_NLDEV_CMD_SYS_GET);
  if (has_dump && (request.nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP) return dump(request, tree, to);
  const int error = get(request, tree, to);
  if (error != 0 || (request.nlmsg_flags & NLM_F_ACK) != 0) acknowledge(request, error, to);
}

}  // namespace

void answer(const void* bytes, std::size_t length, const char* root, const Receiver& to) {
  const char* at = static_cast<const char*>(bytes);
  alignas(nlmsghdr) char copy[4096];
  while (length >= NLMSG_HDRLEN) {
    nlmsghdr header;
    std::memcpy(&header, at, sizeof header);
    if (header.nlmsg_len < NLMSG_HDRLEN || header.nlmsg_len > length) return;
    // Aligned, and out of the reach of other threads of the program.
    const std::size_t kept = header.nlmsg_len < sizeof copy ? header.nlmsg_len : sizeof copy;
    std::memcpy(copy, at, kept);
    auto& request = *reinterpret_cast<nlmsghdr*>(copy);
    request.nlmsg_len = static_cast<std::uint32_t>(kept);
    answer_one(request, root, to);
    const std::size_t step = NLMSG_ALIGN(header.nlmsg_len);
    if (step >= length) return;
    at += step;
    length -= step;
  }
}

}  // namespace gdr::presence::netlink
