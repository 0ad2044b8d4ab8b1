#include "fake_general_services.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/bytes.h"

namespace gdr::test {

FakeGeneralServices& FakeGeneralServices::instance() {
  static auto* const one = new FakeGeneralServices;
  return *one;
}

void FakeGeneralServices::deliver(const cm::Message& message, const cm::Gid& from) {
  deliver(cm::write(message), from);
}

void FakeGeneralServices::deliver(const cm::Mad& bytes, const cm::Gid& from) {
  gdr_gsi_user user{};
  {
    const std::lock_guard guard(mutex_);
    user = user_;
  }
  gdr_gsi_mad mad{};
  const cm::Gid own = own_address();
  std::copy_n(from.begin(), 16, mad.source);
  std::copy_n(own.begin(), 16, mad.destination);
  std::copy_n(bytes.begin(), bytes.size(), mad.bytes);
  user.receive(user.state, &mad);
}

void FakeGeneralServices::end_process(const cm::Gid& address, std::uint32_t id_prefix) {
  user_.ended(user_.state, address.data(), id_prefix);
}

std::vector<Sent> FakeGeneralServices::take_sent() {
  const std::lock_guard guard(mutex_);
  return std::exchange(sent_, {});
}

std::size_t FakeGeneralServices::counted(gdr_gsi_drop what) {
  const std::lock_guard guard(mutex_);
  return counted_[what];
}

bool FakeGeneralServices::listens_for(std::uint64_t service_id) {
  const std::lock_guard guard(mutex_);
  return listening_.contains(service_id);
}

void FakeGeneralServices::set_send_error(int error) {
  const std::lock_guard guard(mutex_);
  send_error_ = error;
}

void FakeGeneralServices::forget() {
  const std::lock_guard guard(mutex_);
  sent_.clear();
  counted_.clear();
  send_error_ = 0;
}

gdr_gsi* FakeGeneralServices::open(const gdr_gsi_user* user) {
  const std::lock_guard guard(mutex_);
  if (user_.receive == nullptr) user_ = *user;
  return reinterpret_cast<gdr_gsi*>(this);
}

int FakeGeneralServices::send(const gdr_gsi_mad* mad) {
  const std::lock_guard guard(mutex_);
  if (send_error_ != 0) return send_error_;
  const auto message = cm::read(std::span<const std::uint8_t, 256>(mad->bytes));
  if (!message) return EPROTONOSUPPORT;
  Sent sent{*message, {}};
  std::copy_n(mad->destination, 16, sent.to.begin());
  sent_.push_back(sent);
  return 0;
}

int FakeGeneralServices::listen(std::uint64_t service_id, bool listens) {
  const std::lock_guard guard(mutex_);
  if (listens) return listening_.insert(service_id).second ? 0 : EADDRINUSE;
  return listening_.erase(service_id) != 0 ? 0 : EINVAL;
}

void FakeGeneralServices::count(gdr_gsi_drop what) {
  const std::lock_guard guard(mutex_);
  ++counted_[what];
}

cm::Gid peer_address(std::uint32_t number) {
  cm::Gid gid{};
  gid[10] = gid[11] = 0xff;
  store_be32(&gid[12], 0x0a000000 + number);
  return gid;
}

cm::Gid own_address() {
  cm::Gid gid{};
  gid[10] = gid[11] = 0xff;
  store_be32(&gid[12], 0x7f0a0001);
  return gid;
}

}  // namespace gdr::test

using gdr::test::FakeGeneralServices;

// Where the library looks for them before it looks into libibverbs.
#pragma GCC visibility push(default)
extern "C" {

gdr_gsi* gdr_gsi_open(ibv_context* /*context*/, const gdr_gsi_user* user) {
  return FakeGeneralServices::instance().open(user);
}
void gdr_gsi_close(gdr_gsi* /*gsi*/) {}
int gdr_gsi_send(gdr_gsi* /*gsi*/, const gdr_gsi_mad* mad) {
  return FakeGeneralServices::instance().send(mad);
}
int gdr_gsi_listen(gdr_gsi* /*gsi*/, std::uint64_t service_id) {
  return FakeGeneralServices::instance().listen(service_id, true);
}
int gdr_gsi_unlisten(gdr_gsi* /*gsi*/, std::uint64_t service_id) {
  return FakeGeneralServices::instance().listen(service_id, false);
}
std::uint32_t gdr_gsi_id_prefix(gdr_gsi* /*gsi*/) { return gdr::test::kOwnPrefix; }
void gdr_gsi_count(gdr_gsi* /*gsi*/, gdr_gsi_drop what) {
  FakeGeneralServices::instance().count(what);
}

}  // extern "C"
#pragma GCC visibility pop
