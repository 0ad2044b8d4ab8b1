// MADs of Linux 6.1's rdma_cm over rxe: golden/linux-6.1.txt. A line "# ..." names the program and
// the message that the next line holds in hexadecimal digits.
#include "cm/message.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

#include "cm/service.h"

namespace gdr::cm {
namespace {

std::map<std::string, Mad> golden() {
  std::map<std::string, Mad> mads;
  std::ifstream lines(GDR_GOLDEN_MADS "/linux-6.1.txt");
  std::string name;
  for (std::string line; std::getline(lines, line);) {
    if (line[0] == '#') {
      name = line.substr(2);
      continue;
    }
    Mad& mad = mads[name];
    for (std::size_t i = 0; i < mad.size(); ++i) {
      mad[i] = static_cast<std::uint8_t>(std::stoul(line.substr(2 * i, 2), nullptr, 16));
    }
  }
  return mads;
}

TEST(CmMessage, WritesEveryMadOfLinuxAsItWasRead) {
  const auto mads = golden();
  ASSERT_GE(mads.size(), 15U);
  for (const auto& [name, mad] : mads) {
    const auto message = read(mad);
    ASSERT_TRUE(message) << name;
    EXPECT_EQ(write(*message), mad) << name;
  }
}

TEST(CmMessage, ReadsTheRequestOfLinux) {
  const auto m = read(golden().at("rping4 REQ"));
  ASSERT_TRUE(m);
  EXPECT_EQ(m->kind, Kind::kReq);
  EXPECT_EQ(m->local_id, 0x022b60a6U);
  EXPECT_EQ(m->service_id, service_id(0x0106, 7174));
  EXPECT_EQ(m->offer.qp_number, 0x11U);
  EXPECT_EQ(m->offer.starting_psn, 0x81e5b0U);
  EXPECT_EQ(m->offer.retry_count, 7);
  EXPECT_EQ(m->offer.rnr_retry_count, 7);
  EXPECT_EQ(m->offer.path_mtu, 5);
  EXPECT_EQ(m->offer.max_cm_retries, 15);
  EXPECT_EQ(m->offer.local_ack_timeout, 19);
  EXPECT_EQ(m->offer.hop_limit, 64);
  const auto ip = read_ip_header(std::span(m->private_data).first<kIpHeaderBytes>());
  ASSERT_TRUE(ip);
  EXPECT_FALSE(ip->v6);
  EXPECT_EQ(ip->source_port, 0xc56d);
  EXPECT_EQ(ip->source[12], 10);
  EXPECT_EQ(ip->destination[15], 2);
}

TEST(CmMessage, ReadsTheDatagramReplyOfLinux) {
  const auto m = read(golden().at("udaddy SIDR_REP"));
  ASSERT_TRUE(m);
  EXPECT_EQ(m->remote_id, 0x0f2b60a6U);
  EXPECT_EQ(m->offer.qp_number, 0x14U);
  EXPECT_EQ(m->offer.qkey, 0x01234567U);
}

TEST(CmMessage, RefusesOtherClassesVersionsMethodsAndAttributes) {
  Mad mad = golden().at("rping4 RTU");
  for (const std::size_t at : {0, 1, 2, 3, 16, 17}) {
    Mad broken = mad;
    broken[at] ^= 0x80;
    EXPECT_FALSE(read(broken)) << at;
  }
}

TEST(CmMessage, KeepsTheEceVendorBesideItsNeighbours) {
  Message rep;
  rep.kind = Kind::kRep;
  rep.offer.qp_number = 0xabcdef;
  rep.offer.starting_psn = 0x123456;
  rep.offer.ece_vendor = 0x0a0b0c;
  rep.offer.ece_options = 0x11223344;
  const auto back = read(write(rep));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->offer.qp_number, 0xabcdefU);
  EXPECT_EQ(back->offer.starting_psn, 0x123456U);
  EXPECT_EQ(back->offer.ece_vendor, 0x0a0b0cU);
  EXPECT_EQ(back->offer.ece_options, 0x11223344U);
}

TEST(IpHeader, RefusesUnknownVersions) {
  std::array<std::uint8_t, kIpHeaderBytes> bytes{};
  write_ip_header({.v6 = true, .source_port = 7}, bytes);
  EXPECT_TRUE(read_ip_header(bytes));
  bytes[1] = 0x50;
  EXPECT_FALSE(read_ip_header(bytes));
}

}  // namespace
}  // namespace gdr::cm
