// Queue pair 1 as a test wants it: what librdmacm sends is kept, and what it is to receive comes
// when the test says so. The program defines the functions of cm/general_services.h itself, so the
// library finds these before those of libibverbs, which gives it everything else.
//
//   FakeGeneralServices& gsi = FakeGeneralServices::instance();
//   gsi.deliver(request, from);                      // as on the thread of libibverbs
//   for (const Sent& one : gsi.take_sent()) ...
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "cm/general_services.h"
#include "cm/message.h"

namespace gdr::test {

constexpr std::uint32_t kOwnPrefix = 0x00500000;

struct Sent {
  cm::Message message;
  cm::Gid to{};
};

class FakeGeneralServices {
 public:
  static FakeGeneralServices& instance();

  void deliver(const cm::Message& message, const cm::Gid& from);
  void deliver(const cm::Mad& bytes, const cm::Gid& from);
  void end_process(const cm::Gid& address, std::uint32_t id_prefix);
  std::vector<Sent> take_sent();
  std::size_t counted(gdr_gsi_drop what);
  bool listens_for(std::uint64_t service_id);
  // What gdr_gsi_send() returns from now on; what fails is not kept.
  void set_send_error(int error);
  // Nothing is kept or counted any more.
  void forget();

  // What the library calls.
  gdr_gsi* open(const gdr_gsi_user* user);
  int send(const gdr_gsi_mad* mad);
  int listen(std::uint64_t service_id, bool listens);
  void count(gdr_gsi_drop what);

 private:
  std::mutex mutex_;
  gdr_gsi_user user_{};  // the first device's
  std::vector<Sent> sent_;
  std::map<gdr_gsi_drop, std::size_t> counted_;
  std::set<std::uint64_t> listening_;
  int send_error_ = 0;
};

// ::ffff:10.x.y.z, one for each number.
cm::Gid peer_address(std::uint32_t number);
// ::ffff:127.10.0.1: the first device's.
cm::Gid own_address();

}  // namespace gdr::test
