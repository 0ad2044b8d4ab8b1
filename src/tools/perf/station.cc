#include "perf/station.h"

#include <poll.h>

#include <algorithm>

#include "base/processors.h"
#include "participants/registration.h"
#include "perf/memory_room.h"

namespace gdr::perf {
namespace {

constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
constexpr int kSleep = 1;  // ms

participants::MemoryKind kind_of(const Place& place) {
  switch (place.kind) {
    case Place::Kind::kGpu:
      return participants::MemoryKind::kDevice;
    case Place::Kind::kGpuVmm:
      return participants::MemoryKind::kDeviceVmm;
    default:
      return participants::MemoryKind::kHost;  // of kStaged: what NICs see of it
  }
}

}  // namespace

ibv_qp_type type_of(Transport transport) {
  switch (transport) {
    case Transport::kUc:
      return IBV_QPT_UC;
    case Transport::kUd:
      return IBV_QPT_UD;
    case Transport::kXrc:
      return IBV_QPT_XRC_SEND;
    default:
      return IBV_QPT_RC;
  }
}

Station::Station(Devices& devices, const StationPlan& plan)
    : devices_(devices),
      plan_(plan),
      layout_(plan.layout()),
      gives_way_(must_give_way(plan.load, usable_processors())) {}

Station::~Station() = default;

Result<std::unique_ptr<Station>> Station::create(Devices& devices, const StationPlan& plan) {
  std::unique_ptr<Station> station(new Station(devices, plan));
  if (Result<void> done = station->allocate(); !done) return done.error();
  if (Result<void> done = station->register_memory(); !done) return done.error();
  if (Result<void> done = station->make_queues(); !done) return done.error();
  if (!plan.load.rdma_cm) return station;
  if (Result<void> done = station->listen(); !done) return done.error();
  return station;
}

Result<void> Station::allocate() {
  if (plan_.place.names_gpu()) {
    Result<participants::Gpu> gpu = devices_.gpu(plan_.place.gpu);
    if (!gpu) return gpu.error();
    gpu_ = *gpu;
  }
  const participants::Gpu none;
  const participants::Gpu& gpu = gpu_ ? *gpu_ : none;
  const auto pages =
      plan_.load.huge_pages ? participants::Pages::kHuge : participants::Pages::kOrdinary;
  const participants::MemoryKind kind = kind_of(plan_.place);
  Result<participants::Memory> memory = participants::Memory::allocate(
      kind, layout_.bytes(), gpu,
      kind == participants::MemoryKind::kHost ? pages : participants::Pages::kOrdinary);
  if (!memory) return Error{ENOMEM, memory.error().message};
  memory_ = *std::move(memory);
  if (plan_.place.kind == Place::Kind::kStaged) {
    Result<participants::Memory> staged =
        participants::Memory::allocate(participants::MemoryKind::kDevice, layout_.bytes(), gpu);
    if (!staged) return Error{ENOMEM, staged.error().message};
    staged_ = *std::move(staged);
  } else if (plan_.place.kind != Place::Kind::kPinned) {
    return {};
  }
  // As staging programs do: copies from pageable memory are slower and not asynchronous.
  const cuda::Driver* driver = gpu.driver;
  void* address = reinterpret_cast<void*>(memory_->address());
  if (auto result = driver->mem_host_register(address, memory_->size(), 0)) {
    return Error{ENOMEM, "cuMemHostRegister: " + driver->describe(result)};
  }
  pinned_ =
      std::shared_ptr<void>(address, [driver](void* at) { (void)driver->mem_host_unregister(at); });
  return {};
}

Result<void> Station::register_memory() {
  const int access = devices_.has_atomics() ? kAccess | IBV_ACCESS_REMOTE_ATOMIC : kAccess;
  std::vector<participants::Registration> ways{participants::Registration::kHost};
  if (plan_.place.is_direct()) {
    ways.clear();
    if (plan_.load.way != Way::kPeerMemory) ways.push_back(participants::Registration::kDmaBuf);
    if (plan_.load.way != Way::kDmaBuf) ways.push_back(participants::Registration::kPeerMemory);
  }
  std::string refused;
  int code = EINVAL;
  for (const participants::Registration way : ways) {
    Result<rdma::MemoryRegion> region =
        participants::register_buffer(devices_.nic(), devices_.domain(), *memory_, way, access);
    if (region) {
      region_ = *std::move(region);
      return {};
    }
    code = region.error().code;
    refused += (refused.empty() ? "" : "; ") + region.error().message;
  }
  const std::string bytes = std::to_string(memory_->size());
  if (plan_.place.is_direct()) {
    return Error{code, "registering " + bytes + " bytes of " + text_of(plan_.place) + ": " +
                           refused + "; gdr prove says more"};
  }
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  return Error{code, "registering " + bytes + " bytes: " + refused +
                         locked_memory_advice(code, memory_->size(), limit.rlim_cur)};
}

Result<void> Station::enter() {
  if (!gpu_) return {};
  return participants::make_current(*gpu_);
}

Station::Queue* Station::find(std::uint32_t receiver_number) {
  if (queues_.size() == 1) return &queues_[0];
  const auto at = std::lower_bound(by_number_.begin(), by_number_.end(),
                                   std::pair<std::uint32_t, std::uint32_t>{receiver_number, 0});
  if (at == by_number_.end() || at->first != receiver_number) return nullptr;
  return &queues_[at->second];
}

StationAddress Station::address() const {
  const rdma::Endpoint end = devices_.endpoint();
  StationAddress address;
  address.lid = end.lid;
  address.global = end.global;
  std::copy(std::begin(end.gid.raw), std::end(end.gid.raw), address.gid.begin());
  address.manager_port = manager_port_;
  address.address = memory_->address();
  address.rkey = region_->rkey;
  std::uint32_t shared = 0;
  if (plan_.load.transport == Transport::kXrc) ibv_get_srq_num(shared_receives_.get(), &shared);
  for (const Queue& queue : queues_) {
    address.queues.push_back(
        {queue.sender->qp_num, queue.receiver->qp_num, shared, queue.packet_sequence});
  }
  return address;
}

// Arms, looks once more, sleeps: what comes in between makes an event.
Result<void> Station::sleep() {
  for (ibv_cq* queue : {send_queue_.get(), receive_queue_.get()}) {
    if (int code = ibv_req_notify_cq(queue, 0)) return rdma::verbs_error("ibv_req_notify_cq", code);
  }
  pollfd entry{channel_->fd, POLLIN, 0};
  if (poll(&entry, 1, kSleep) <= 0) return {};
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  if (devices_.nic().library().get_cq_event(channel_.get(), &queue, &context) != 0) {
    return rdma::verbs_error("ibv_get_cq_event", errno);
  }
  devices_.nic().library().ack_cq_events(queue, 1);
  return {};
}

}  // namespace gdr::perf
