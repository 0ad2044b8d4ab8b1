// What programs that ask by netlink are told, from a tree of files.
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "ports/port_file.h"
#include "presence/netlink/answer.h"

namespace gdr::test {
namespace {

namespace fs = std::filesystem;
using presence::netlink::answer;
using presence::netlink::Receiver;

constexpr std::uint32_t kPortId = 4711;

struct Received {
  nlmsghdr header{};
  std::string body;

  // Attributes by their number.
  std::map<int, std::string> attributes() const {
    std::map<int, std::string> found;
    std::size_t at = 0;
    while (at + sizeof(nlattr) <= body.size()) {
      nlattr attribute;
      std::memcpy(&attribute, body.data() + at, sizeof attribute);
      found[attribute.nla_type] = body.substr(at + NLA_HDRLEN, attribute.nla_len - NLA_HDRLEN);
      at += NLA_ALIGN(attribute.nla_len);
    }
    return found;
  }
  std::string text(int type) const { return attributes()[type].c_str(); }
  template <typename Number>
  Number number(int type) const {
    Number value{};
    const std::string bytes = attributes()[type];
    if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  int error() const {
    int value = 0;
    std::memcpy(&value, body.data(), sizeof value);
    return value;
  }
};

class NetlinkAnswer : public testing::Test {
 protected:
  NetlinkAnswer() {
    char folder[] = "/tmp/gdr-netlink-XXXXXX";
    root_ = mkdtemp(folder);
    add_device("soft1", "lo");
    add_device("soft0", "");
  }
  ~NetlinkAnswer() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& line) {
    const fs::path file = root_ + "/sys/class/infiniband/" + path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << line << '\n';
  }
  void add_device(const std::string& name, const std::string& interface) {
    write(name + "/node_type", "1: CA");
    write(name + "/fw_ver", "gdrkit 1");
    write(name + "/node_guid", "0067:64ff:fe72:0001");
    write(name + "/sys_image_guid", "0067:64ff:fe72:0002");
    write(name + "/ports/1/state", "4: ACTIVE");
    write(name + "/ports/1/phys_state", "5: LinkUp");
    write(name + "/ports/1/gid_attrs/types/0", "RoCE v2");
    if (!interface.empty()) write(name + "/ports/1/gid_attrs/ndevs/3", interface);
  }

  std::vector<Received> ask(unsigned command, std::uint16_t flags,
                            const std::vector<std::pair<int, std::uint32_t>>& attributes = {}) {
    std::string request(NLMSG_HDRLEN, '\0');
    for (const auto& [type, value] : attributes) {
      const nlattr attribute{NLA_HDRLEN + sizeof value, static_cast<std::uint16_t>(type)};
      request.append(reinterpret_cast<const char*>(&attribute), sizeof attribute);
      request.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    nlmsghdr header{};
    header.nlmsg_len = static_cast<std::uint32_t>(request.size());
    header.nlmsg_type = static_cast<std::uint16_t>(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command));
    header.nlmsg_flags = flags | NLM_F_REQUEST;
    header.nlmsg_seq = 99;
    std::memcpy(request.data(), &header, sizeof header);
    return ask(request);
  }
  std::vector<Received> ask(const std::string& request) {
    std::vector<Received> all;
    answer(request.data(), request.size(), root_.c_str(), {kPortId, &receive, &all});
    return all;
  }
  static void receive(void* context, const void* datagram, std::size_t length) {
    Received one;
    ASSERT_GE(length, sizeof one.header);
    std::memcpy(&one.header, datagram, sizeof one.header);
    ASSERT_EQ(one.header.nlmsg_len, length);
    one.body.assign(static_cast<const char*>(datagram) + NLMSG_HDRLEN, length - NLMSG_HDRLEN);
    static_cast<std::vector<Received>*>(context)->push_back(one);
  }

  std::string root_;
};

TEST_F(NetlinkAnswer, ListsDevicesByNameAndThenSaysThatItIsDone) {
  const auto all = ask(RDMA_NLDEV_CMD_GET, NLM_F_DUMP | NLM_F_ACK);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].text(RDMA_NLDEV_ATTR_DEV_NAME), "soft0");
  EXPECT_EQ(all[1].text(RDMA_NLDEV_ATTR_DEV_NAME), "soft1");
  EXPECT_EQ(all[1].number<std::uint32_t>(RDMA_NLDEV_ATTR_DEV_INDEX), 1u);
  EXPECT_EQ(all[1].number<std::uint32_t>(RDMA_NLDEV_ATTR_PORT_INDEX), 1u);
  EXPECT_EQ(all[1].text(RDMA_NLDEV_ATTR_FW_VERSION), "gdrkit 1");
  EXPECT_EQ(all[1].number<std::uint64_t>(RDMA_NLDEV_ATTR_NODE_GUID), 0x006764fffe720001u);
  EXPECT_EQ(all[1].number<std::uint64_t>(RDMA_NLDEV_ATTR_SYS_IMAGE_GUID), 0x006764fffe720002u);
  EXPECT_EQ(all[1].number<std::uint8_t>(RDMA_NLDEV_ATTR_DEV_NODE_TYPE), 1);
  EXPECT_EQ(all[1].header.nlmsg_flags, NLM_F_MULTI);
  EXPECT_EQ(all[2].header.nlmsg_type, NLMSG_DONE);
  for (const Received& one : all) {
    EXPECT_EQ(one.header.nlmsg_seq, 99u);
    EXPECT_EQ(one.header.nlmsg_pid, kPortId);
  }
}

// The names and values in a table of statistics.
std::map<std::string, std::uint64_t> counters_in(const std::string& table) {
  std::map<std::string, std::uint64_t> found;
  Received entries;
  entries.body = table;
  for (std::size_t at = 0; at + NLA_HDRLEN <= table.size();) {
    nlattr entry;
    std::memcpy(&entry, table.data() + at, sizeof entry);
    if (entry.nla_len < NLA_HDRLEN) break;
    EXPECT_EQ(entry.nla_type, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY | NLA_F_NESTED);
    Received line;
    line.body = table.substr(at + NLA_HDRLEN, entry.nla_len - NLA_HDRLEN);
    found[line.text(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME)] =
        line.number<std::uint64_t>(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE);
    at += NLA_ALIGN(entry.nla_len);
  }
  return found;
}

TEST_F(NetlinkAnswer, GivesAPortsStatisticsAsTheyAreNow) {
  ports::PortFiles files(root_);
  ports::Port& port = files.port("soft1", 0x006764fffe720001);
  port.add(ports::PortCount::kOutOfSequence, 5);
  setenv(ports::kPortsVariable, root_.c_str(), 1);
  const auto all = ask(RDMA_NLDEV_CMD_STAT_GET, NLM_F_ACK,
                       {{RDMA_NLDEV_ATTR_DEV_INDEX, 1}, {RDMA_NLDEV_ATTR_PORT_INDEX, 1}});
  unsetenv(ports::kPortsVariable);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].text(RDMA_NLDEV_ATTR_DEV_NAME), "soft1");
  EXPECT_EQ(all[0].number<std::uint32_t>(RDMA_NLDEV_ATTR_PORT_INDEX), 1u);
  auto counters = counters_in(all[0].attributes()[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS | NLA_F_NESTED]);
  EXPECT_EQ(counters["out_of_sequence"], 5u);
  EXPECT_EQ(counters["out_of_seq_request"], 5u);
  EXPECT_GT(counters.size(), 30u);
  EXPECT_EQ(counters.count("lifespan"), 0u);
  EXPECT_EQ(counters.count("port_xmit_data"), 0u);
  EXPECT_EQ(all[1].error(), 0);
}

TEST_F(NetlinkAnswer, HasNoStatisticsOfWhatIsNotCounted) {
  const std::vector<std::pair<int, std::uint32_t>> port = {{RDMA_NLDEV_ATTR_DEV_INDEX, 1},
                                                           {RDMA_NLDEV_ATTR_PORT_INDEX, 1}};
  unsetenv(ports::kPortsVariable);
  EXPECT_EQ(ask(RDMA_NLDEV_CMD_STAT_GET, NLM_F_ACK, port)[0].error(), -EOPNOTSUPP);
  ports::PortFiles files(root_);
  files.port("soft1", 0x006764fffe720001);
  setenv(ports::kPortsVariable, root_.c_str(), 1);
  // A queue pair's own: there are none, and a list of them is empty.
  auto of_queue_pairs = port;
  of_queue_pairs.emplace_back(RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_QP);
  EXPECT_EQ(ask(RDMA_NLDEV_CMD_STAT_GET, NLM_F_ACK, of_queue_pairs)[0].error(), -EOPNOTSUPP);
  const auto list = ask(RDMA_NLDEV_CMD_STAT_GET, NLM_F_DUMP, of_queue_pairs);
  unsetenv(ports::kPortsVariable);
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].header.nlmsg_type, NLMSG_DONE);
}

TEST_F(NetlinkAnswer, SaysThePortsStateAndInterface) {
  const auto all = ask(RDMA_NLDEV_CMD_PORT_GET, NLM_F_ACK,
                       {{RDMA_NLDEV_ATTR_DEV_INDEX, 1}, {RDMA_NLDEV_ATTR_PORT_INDEX, 1}});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].number<std::uint8_t>(RDMA_NLDEV_ATTR_PORT_STATE), 4);
  EXPECT_EQ(all[0].number<std::uint8_t>(RDMA_NLDEV_ATTR_PORT_PHYS_STATE), 5);
  EXPECT_EQ(all[0].text(RDMA_NLDEV_ATTR_NDEV_NAME), "lo");
  EXPECT_EQ(all[0].number<std::uint32_t>(RDMA_NLDEV_ATTR_NDEV_INDEX), 1u);
  EXPECT_EQ(all[1].header.nlmsg_type, NLMSG_ERROR);
  EXPECT_EQ(all[1].error(), 0);
}

TEST_F(NetlinkAnswer, SaysNoInterfaceWhereThereIsNone) {
  const auto all = ask(RDMA_NLDEV_CMD_PORT_GET, NLM_F_DUMP, {{RDMA_NLDEV_ATTR_DEV_INDEX, 0}});
  ASSERT_EQ(all.size(), 2u);  // one port of one device, and the end
  EXPECT_EQ(all[0].attributes().count(RDMA_NLDEV_ATTR_NDEV_INDEX), 0u);
  EXPECT_EQ(all[1].header.nlmsg_type, NLMSG_DONE);
}

TEST_F(NetlinkAnswer, SaysWithTheKernelsErrorWhatIsNotThere) {
  const auto error = [this](unsigned command,
                            const std::vector<std::pair<int, std::uint32_t>>& attributes) {
    const auto all = ask(command, 0, attributes);
    return all.size() == 1 && all[0].header.nlmsg_type == NLMSG_ERROR ? all[0].error() : 0;
  };
  EXPECT_EQ(error(RDMA_NLDEV_CMD_GET, {}), -EINVAL);
  EXPECT_EQ(error(RDMA_NLDEV_CMD_GET, {{RDMA_NLDEV_ATTR_DEV_INDEX, 2}}), -ENODEV);
  EXPECT_EQ(error(RDMA_NLDEV_CMD_PORT_GET,
                  {{RDMA_NLDEV_ATTR_DEV_INDEX, 0}, {RDMA_NLDEV_ATTR_PORT_INDEX, 2}}),
            -EINVAL);
  EXPECT_EQ(error(RDMA_NLDEV_CMD_RES_QP_GET, {}), -EOPNOTSUPP);
  EXPECT_EQ(error(RDMA_NLDEV_CMD_NEWLINK, {}), -EOPNOTSUPP);
}

TEST_F(NetlinkAnswer, HasNoDeviceWhereThereIsNoTree) {
  root_ += "/none";
  EXPECT_EQ(ask(RDMA_NLDEV_CMD_GET, NLM_F_DUMP).size(), 1u);  // the end
}

TEST_F(NetlinkAnswer, SurvivesRequestsOfAnyBytesAndLengths) {
  std::mt19937 random(7);
  std::string request(200, '\0');
  for (int i = 0; i < 3000; ++i) {
    for (char& byte : request) byte = static_cast<char>(random());
    nlmsghdr header{};
    header.nlmsg_len = random() % 220;
    header.nlmsg_type = static_cast<std::uint16_t>(RDMA_NL_GET_TYPE(
        RDMA_NL_NLDEV, random() % 2 ? RDMA_NLDEV_CMD_GET : RDMA_NLDEV_CMD_PORT_GET));
    header.nlmsg_flags = NLM_F_REQUEST | (random() % 2 ? NLM_F_DUMP : NLM_F_ACK);
    std::memcpy(request.data(), &header, sizeof header);
    const std::string exact = request.substr(0, random() % (request.size() + 1));
    ask(exact);  // `receive` checks what comes
  }
}

}  // namespace
}  // namespace gdr::test
