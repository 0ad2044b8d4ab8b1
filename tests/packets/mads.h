// Management datagrams for tests of queue pair 1, and a process's end of it that remembers what has
// come. Throws Failure.
//
//   GsiEnd end(side.context());
//   end.listen(kService);
//   end.send(to, request_mad(end.new_id(), kService));
//   gdr_gsi_mad answer = end.receive();
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>

#include "base/bytes.h"
#include "cm/general_services.h"
#include "process.h"
#include "queue_pair_steps.h"

namespace gdr::test {

enum MadAttribute : std::uint16_t {
  kReq = 0x10,
  kRej = 0x12,
  kRep = 0x13,
  kDreq = 0x15,
  kSidrReq = 0x17,
  kSidrRep = 0x18,
};

// Offsets in a MAD (13.4.2, 12.6, 12.11).
constexpr std::size_t kTransactionAt = 8, kAttributeAt = 16, kLocalIdAt = 24, kRemoteIdAt = 28;
constexpr std::size_t kServiceIdAt = 32, kRejReasonAt = 34, kSidrStatusAt = 28, kMarkAt = 200;

using GidBytes = std::array<std::uint8_t, 16>;

inline gdr_gsi_mad mad_of(std::uint16_t attribute) {
  gdr_gsi_mad mad{};
  mad.bytes[0] = 1;
  mad.bytes[1] = 0x07;
  mad.bytes[2] = 2;
  mad.bytes[3] = 3;
  store_be16(&mad.bytes[kAttributeAt], attribute);
  return mad;
}

// `mark` comes along, to tell it by.
inline gdr_gsi_mad request_mad(std::uint32_t id, std::uint64_t service_id, std::uint32_t mark = 0,
                               MadAttribute attribute = kReq) {
  gdr_gsi_mad mad = mad_of(attribute);
  store_be64(&mad.bytes[kTransactionAt], 0x1122'3344'0000'0000 | id);
  store_be32(&mad.bytes[kLocalIdAt], id);
  store_be64(&mad.bytes[kServiceIdAt], service_id);
  store_be32(&mad.bytes[kMarkAt], mark);
  return mad;
}

inline gdr_gsi_mad reply_mad(std::uint32_t local_id, std::uint32_t remote_id,
                             std::uint32_t mark = 0) {
  gdr_gsi_mad mad = mad_of(kRep);
  store_be32(&mad.bytes[kLocalIdAt], local_id);
  store_be32(&mad.bytes[kRemoteIdAt], remote_id);
  store_be32(&mad.bytes[kMarkAt], mark);
  return mad;
}

inline std::uint16_t attribute_of(const gdr_gsi_mad& mad) {
  return load_be16(&mad.bytes[kAttributeAt]);
}
inline std::uint32_t local_id_of(const gdr_gsi_mad& mad) {
  return load_be32(&mad.bytes[kLocalIdAt]);
}
inline std::uint32_t remote_id_of(const gdr_gsi_mad& mad) {
  return load_be32(&mad.bytes[kRemoteIdAt]);
}
inline std::uint32_t mark_of(const gdr_gsi_mad& mad) { return load_be32(&mad.bytes[kMarkAt]); }

class GsiEnd {
 public:
  explicit GsiEnd(ibv_context* context) {
    gsi_ = open(context);
    require(gsi_ != nullptr, "queue pair 1 opens: " + std::string(std::strerror(errno)));
    ibv_gid gid;
    require(ibv_query_gid(context, 1, kGidIndex, &gid) == 0, "a GID");
    std::memcpy(own_.data(), gid.raw, own_.size());
  }
  ~GsiEnd() {
    if (gsi_ != nullptr) gdr_gsi_close(gsi_);
  }
  GsiEnd(const GsiEnd&) = delete;
  GsiEnd& operator=(const GsiEnd&) = delete;

  gdr_gsi* get() { return gsi_; }
  const GidBytes& gid() const { return own_; }
  std::uint32_t id(std::uint32_t own) { return gdr_gsi_id_prefix(gsi_) | own; }
  int listen(std::uint64_t service_id) { return gdr_gsi_listen(gsi_, service_id); }
  void close() { gdr_gsi_close(std::exchange(gsi_, nullptr)); }

  int send(const GidBytes& to, gdr_gsi_mad mad) {
    std::memcpy(mad.source, own_.data(), own_.size());
    std::memcpy(mad.destination, to.data(), to.size());
    return gdr_gsi_send(gsi_, &mad);
  }
  struct EndedProcess {
    GidBytes address{};
    std::uint32_t prefix = 0;
    bool operator==(const EndedProcess&) const = default;
  };
  bool is_told_of(const EndedProcess& wanted, int milliseconds = kLastResortMs) {
    std::unique_lock guard(mutex_);
    return came_.wait_for(guard, std::chrono::milliseconds(milliseconds), [&] {
      return std::find(ended_.begin(), ended_.end(), wanted) != ended_.end();
    });
  }
  // The next that comes in time.
  std::optional<gdr_gsi_mad> receive(int milliseconds = kLastResortMs) {
    std::unique_lock guard(mutex_);
    if (!came_.wait_for(guard, std::chrono::milliseconds(milliseconds),
                        [this] { return !received_.empty(); })) {
      return std::nullopt;
    }
    const gdr_gsi_mad mad = received_.front();
    received_.pop_front();
    return mad;
  }

 private:
  gdr_gsi* open(ibv_context* context) {
    const gdr_gsi_user user{&GsiEnd::take, &GsiEnd::note_end, this};
    return gdr_gsi_open(context, &user);
  }
  static void take(void* user, const gdr_gsi_mad* mad) {
    auto& self = *static_cast<GsiEnd*>(user);
    const std::lock_guard guard(self.mutex_);
    self.received_.push_back(*mad);
    self.came_.notify_all();
  }
  static void note_end(void* user, const std::uint8_t* address, std::uint32_t prefix) {
    auto& self = *static_cast<GsiEnd*>(user);
    const std::lock_guard guard(self.mutex_);
    EndedProcess ended{.prefix = prefix};
    std::copy_n(address, ended.address.size(), ended.address.begin());
    self.ended_.push_back(ended);
    self.came_.notify_all();
  }

  gdr_gsi* gsi_ = nullptr;
  GidBytes own_{};
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<EndedProcess> ended_;
  std::deque<gdr_gsi_mad> received_;
};

}  // namespace gdr::test
