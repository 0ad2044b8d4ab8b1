#include "perf/probe.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

#include "perf/cases/rest.h"

namespace gdr::perf {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::uint32_t kRouteHeader = 40;
constexpr std::uint32_t kReceives = 8;
constexpr std::uint32_t kApart = 64;       // of a receive's place
constexpr Nanoseconds kLeaving = kSecond;  // until a datagram has left

}  // namespace

Result<void> send_probe(const Devices& devices, const Destination& to, std::uint32_t queue_pair,
                        std::uint32_t value) {
  const rdma::Endpoint mine = devices.endpoint();
  rdma::Endpoint theirs;
  theirs.lid = to.lid;
  theirs.global = to.global;
  std::copy(to.gid.begin(), to.gid.end(), theirs.gid.raw);
  Result<rdma::AddressHandle> path =
      rdma::make_address_handle(devices.nic(), devices.domain(), rdma::path_to(mine, theirs));
  if (!path) return path.error();
  Result<rdma::QueuePair> pair =
      rdma::QueuePair::create(devices.nic(), devices.domain(), IBV_QPT_UD, {1, 1});
  if (!pair) return pair.error();
  if (Result<void> ready = pair->connect(mine, {}, IBV_MTU_256); !ready) return ready;
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND_WITH_IMM;
  request.send_flags = IBV_SEND_SIGNALED;
  request.imm_data = htonl(value);
  request.wr.ud = {path->get(), queue_pair, rdma::kQKey};
  if (Result<void> posted = pair->post_send(request); !posted) return posted;
  const Nanoseconds deadline = now() + kLeaving;
  for (Rest rest; now() < deadline; rest.pause()) {
    Result<std::optional<ibv_wc>> done = pair->poll_send();
    if (!done) return done.error();
    if (!*done) continue;
    if ((*done)->status == IBV_WC_SUCCESS) return {};
    return Error{EIO, std::string("cannot send a probe: ") +
                          devices.nic().library().wc_status_str((*done)->status)};
  }
  return Error{ETIMEDOUT, "cannot send a probe within a second"};
}

Result<ProbeTarget> ProbeTarget::create(const Devices& devices) {
  ProbeTarget target;
  target.memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, kPage)));
  if (!target.memory_) return Error{ENOMEM, "no memory for a probe"};
  std::memset(target.memory_.get(), 0, kPage);
  Result<rdma::MemoryRegion> region = rdma::register_memory(
      devices.nic(), devices.domain(), target.memory_.get(), kPage, IBV_ACCESS_LOCAL_WRITE);
  if (!region) return region.error();
  target.region_ = *std::move(region);
  Result<rdma::QueuePair> pair =
      rdma::QueuePair::create(devices.nic(), devices.domain(), IBV_QPT_UD, {1, kReceives});
  if (!pair) return pair.error();
  target.pair_ = *std::move(pair);
  if (Result<void> posted = target.post(devices); !posted) return posted.error();
  return target;
}

Result<void> ProbeTarget::post(const Devices& devices) {
  Result<void> ready = pair_->connect(devices.endpoint(), {}, IBV_MTU_256);
  if (!ready) return ready;
  static_assert(kReceives * kApart <= kPage && kRouteHeader <= kApart);
  for (std::uint32_t i = 0; i < kReceives; ++i) {
    ibv_sge segment{reinterpret_cast<std::uintptr_t>(memory_.get()) + std::uint64_t{i} * kApart,
                    kRouteHeader, region_->lkey};
    ibv_recv_wr request{};
    request.wr_id = i;
    request.sg_list = &segment;
    request.num_sge = 1;
    if (Result<void> posted = pair_->post_receive(request); !posted) return posted;
  }
  return {};
}

std::vector<std::uint32_t> ProbeTarget::await(Nanoseconds timeout) {
  std::vector<std::uint32_t> values;
  const Nanoseconds deadline = now() + timeout;
  for (Rest rest; values.empty() && now() < deadline; rest.pause()) {
    for (;;) {
      const Result<std::optional<ibv_wc>> done = pair_->poll_receive();
      if (!done || !*done) break;
      const ibv_wc& completion = **done;
      if (completion.status == IBV_WC_SUCCESS && (completion.wc_flags & IBV_WC_WITH_IMM) != 0) {
        values.push_back(ntohl(completion.imm_data));
      }
    }
  }
  return values;
}

}  // namespace gdr::perf
