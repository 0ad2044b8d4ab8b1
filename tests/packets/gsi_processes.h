// GeneralServices: processes of two addresses with an end of queue pair 1 each, on the loopback
// interface unless a test makes another link.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "link.h"
#include "mads.h"
#include "raw_peer.h"
#include "side.h"

namespace gdr::test {

inline constexpr std::uint64_t kService = 0x0000'0000'0106'4321, kOther = 0x0000'0000'0106'4322;
inline constexpr std::uint32_t kQkey = 0x8001'0000;
inline constexpr int kQuiet = 200;  // milliseconds in which nothing comes

inline GidBytes gid_of(const std::string& address) {
  const wire::Address mapped_address = mapped(address);
  GidBytes gid;
  std::copy(mapped_address.begin(), mapped_address.end(), gid.begin());
  return gid;
}

inline gdr_gsi_mad need(GsiEnd& end, const char* what) {
  const auto mad = end.receive();
  require(mad.has_value(), what);
  return *mad;
}

class GeneralServices : public testing::Test {
 protected:
  void SetUp() override { make({.kind = LinkKind::kLoopback}); }

  void make(const LinkSettings& settings) {
    auto made = Link::make(settings);
    if (!made) GTEST_SKIP() << made.error().message;
    link_ = *std::move(made);
  }
  const GidBytes gid(int side) const { return gid_of(link_->address(side)); }

  // A process at that side, and its end of queue pair 1.
  std::function<void(Wire&)> at(int side, std::function<void(Wire&, GsiEnd&)> body) {
    return [this, side, body = std::move(body)](Wire& wire) {
      link_->enter(side);
      Side device;
      GsiEnd end(device.context());
      body(wire, end);
    };
  }

  // Listens for the service, answers each request with a reply that has its mark.
  std::function<void(Wire&)> listener(int side, std::uint64_t service, std::uint32_t own,
                                      std::uint64_t others = 0) {
    return at(side, [=](Wire& wire, GsiEnd& end) {
      // The kernel knows only some of so many.
      for (std::uint64_t i = 1; i <= others; ++i) {
        require(end.listen(service + (i << 32)) == 0, "it listens for others");
      }
      require(end.listen(service) == 0, "it listens");
      wire.send('.');
      // Longer than any client waits for it.
      while (const auto mad = end.receive(2 * kLastResortMs)) {
        if (mark_of(*mad) == 0) break;
        GidBytes to;
        std::copy(std::begin(mad->source), std::end(mad->source), to.begin());
        require(end.send(to, reply_mad(end.id(own), local_id_of(*mad), mark_of(*mad))) == 0,
                "a reply leaves");
      }
    });
  }

  std::unique_ptr<Link> link_;
};

}  // namespace gdr::test
