#include "nccl/connection.h"

#include <utility>

#include "nccl/text.h"

namespace gdr::nccl {
namespace {

// Names of kinds and networks are a few bytes; what is longer comes from no NCCL.
constexpr std::size_t kLongestName = 64;

// "0[1d000]" or "0"
std::optional<std::int64_t> read_rank(Words& words) {
  const auto rank = words.number();
  if (rank && words.skip("[")) {
    words.until("]");
    if (!words.skip("]")) return std::nullopt;
  }
  return rank;
}

// A name may hold a slash or a space, so it ends at the slash that a digit follows.
std::optional<std::string_view> read_network_name(Words& words) {
  const std::string_view text = words.rest().substr(0, kLongestName);
  for (std::size_t at = text.find('/'); at != std::string_view::npos; at = text.find('/', at + 1)) {
    if (at + 1 < text.size() && text[at + 1] >= '0' && text[at + 1] <= '9') {
      words.skip(text.substr(0, at + 1));
      return text.substr(0, at);
    }
  }
  return std::nullopt;
}

// What follows "NET/": "IB/0(1)/GDRDMA(PCI)/Shared"
bool read_network(Words& words, Connection& connection) {
  const auto name = read_network_name(words);
  const auto device = name ? words.number() : std::nullopt;
  if (!device) return false;
  connection.kind = *name;
  connection.device = *device;
  // The rank whose GPU is next to the NIC and sends for this one (PXN).
  if (words.skip("(")) {
    words.until(")");
    connection.certain = words.skip(")") && connection.certain;
  }
  connection.gdrdma = words.skip("/GDRDMA");
  if (connection.gdrdma || words.skip("/Shared") || words.skip(" ")) {
    connection.certain = true;  // nothing that follows here can be GDRDMA
  } else if (!words.at_end()) {
    connection.certain = false;  // "NET/IB/0/GDR", or "NET/IB/0" and what another process wrote
  }
  return true;
}

// "IPC/read comm 0x7f nRanks 02" -> "IPC/read". Of the names only two hold a space.
std::string_view read_kind(Words& words) {
  for (std::string_view name : {"direct pointer/read", "direct pointer", "common device"}) {
    if (words.skip(name)) return name;
  }
  return words.until(" ").substr(0, kLongestName);
}

bool read_way(Words& words, Connection& connection) {
  if (words.skip("NET/")) {
    connection.transport = Transport::kNet;
    return read_network(words, connection);
  }
  if (words.skip("COLLNET/")) {
    connection.transport = Transport::kCollNet;
    return read_network(words, connection);
  }
  const bool whole = std::exchange(connection.certain, true);  // no GDRDMA stands behind these
  if (words.skip("P2P/")) {
    connection.transport = Transport::kP2p;
  } else if (words.skip("SHM/")) {
    connection.transport = Transport::kSharedMemory;
  } else if (words.skip("direct shared memory")) {  // until 2.12
    connection.transport = Transport::kSharedMemory;
    connection.kind = "direct";
    return true;
  } else if (!whole) {
    return false;  // "NE" may be the beginning of anything
  }
  connection.kind = read_kind(words);
  return !connection.kind.empty();
}

}  // namespace

bool is_network(const Connection& connection) {
  return connection.transport == Transport::kNet || connection.transport == Transport::kCollNet;
}

std::string name_of(const Connection& connection) {
  const std::string end = connection.gdrdma ? "/GDRDMA" : connection.certain ? "" : "/?";
  switch (connection.transport) {
    case Transport::kNet:
      return "NET/" + connection.kind + "/" + std::to_string(connection.device) + end;
    case Transport::kCollNet:
      return "COLLNET/" + connection.kind + "/" + std::to_string(connection.device) + end;
    case Transport::kP2p:
      return "P2P/" + connection.kind;
    case Transport::kSharedMemory:
      return "SHM/" + connection.kind;
    case Transport::kOther:
      break;
  }
  return connection.kind;
}

std::optional<Connection> read_connection(const Message& message) {
  Words words(message.text);
  if (!words.skip("Channel ") && !words.skip("Ring ") && !words.skip("CollNet ") &&
      !words.skip("Coll ")) {
    return std::nullopt;
  }
  Connection connection;
  connection.certain = message.whole;
  const auto channel = words.number();
  if (!channel) return std::nullopt;
  connection.channel = *channel;
  if (words.skip("/")) connection.index = words.number().value_or(0);
  // "Channel 00/02 :    0   1" lists the ranks of a ring: no connection.
  if (!words.skip(" : ")) return std::nullopt;
  const auto from = read_rank(words);
  if (!from) return std::nullopt;
  connection.from = *from;
  if (words.skip(" -> ")) {
    const auto to = read_rank(words);
    if (!to) return std::nullopt;
    connection.to = *to;
  }
  if (words.skip(" [send]")) connection.direction = Direction::kSend;
  if (words.skip(" [receive]")) connection.direction = Direction::kReceive;
  if (!words.skip(" via ") || !read_way(words, connection)) return std::nullopt;
  return connection;
}

}  // namespace gdr::nccl
