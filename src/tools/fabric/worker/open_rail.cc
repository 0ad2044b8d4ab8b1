#include "fabric/worker/open_rail.h"

#include <string.h>

#include <algorithm>

#include "fabric/worker/layout.h"
#include "participants/pattern.h"
#include "participants/registration.h"
#include "rdma/states.h"

namespace gdr::fabric::worker {
namespace {

using participants::Memory;
using participants::MemoryKind;
using participants::Registration;

constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
constexpr std::uint32_t kDepth = 16;
// Of what is proved, the last word to the receiver included.
constexpr std::uint32_t kRequests = 32;
constexpr std::uint32_t kReceives = 4;
constexpr std::size_t kMostSamples = 4096;

Error at(const char* step, const Error& error) {
  return {error.code, std::string(step) + ": " + error.message};
}

}  // namespace

Result<std::unique_ptr<OpenRail>> OpenRail::open(const PlannedRail& planned,
                                                 const participants::Libraries& libraries,
                                                 const Settings& settings) {
  std::unique_ptr<OpenRail> rail(new OpenRail(planned, settings));
  if (Result<void> opened = rail->open_devices(libraries); !opened) return opened.error();
  if (Result<void> made = rail->make_memory(); !made) return made.error();
  if (Result<void> made = rail->make_queue_pairs(); !made) return made.error();
  rail->samples_.reserve(kMostSamples);
  return rail;
}

Result<void> OpenRail::open_devices(const participants::Libraries& libraries) {
  if (planned_.gpu) {
    Result<participants::Gpu> gpu = participants::open_gpu(libraries.cuda, *planned_.gpu);
    if (!gpu) return gpu.error();
    gpu_ = *gpu;
  }
  Result<const rdma::Library*> library = rdma::Library::load(libraries.verbs);
  if (!library) return library.error();
  Result<rdma::Device> device = rdma::Device::open(**library, planned_.port.nic);
  if (!device) return device.error();
  device_ = std::make_unique<rdma::Device>(*std::move(device));
  Result<ibv_device_attr> attributes = device_->attributes();
  if (!attributes) return attributes.error();
  Result<ibv_port_attr> port = device_->port(planned_.port.port);
  if (!port) return port.error();
  port_ = *port;
  Result<rdma::PortAddress> address = device_->address(planned_.port.port);
  if (!address) return address.error();
  port_address_ = *address;
  Result<rdma::ProtectionDomain> domain = rdma::make_protection_domain(*device_);
  if (!domain) return domain.error();
  domain_ = *std::move(domain);
  requests_ =
      std::clamp<std::uint32_t>(static_cast<std::uint32_t>(attributes->max_qp_wr), 1, kRequests);
  depth_ = std::min(kDepth, requests_);
  message_bytes_ = std::clamp<std::uint64_t>(settings_.message_bytes, 1, port_.max_msg_sz);
  return {};
}

Result<void> OpenRail::make_memory() {
  const std::uint64_t area = area_bytes(settings_.proof_bytes, message_bytes_);
  outgoing_offset_ = kGuard + area + kGuard;
  const MemoryKind kind = planned_.gpu ? MemoryKind::kDevice : MemoryKind::kHost;
  Result<Memory> memory = Memory::allocate(kind, outgoing_offset_ + area, gpu_);
  // An Error of CUDA has another kind of code.
  if (!memory) return Error{ENOMEM, memory.error().message};
  memory_.emplace(*std::move(memory));
  std::string refused;
  const auto ways =
      planned_.gpu ? std::vector<Registration>{Registration::kDmaBuf, Registration::kPeerMemory}
                   : std::vector<Registration>{Registration::kHost};
  for (const Registration way : ways) {
    Result<rdma::MemoryRegion> region =
        participants::register_buffer(*device_, domain_.get(), *memory_, way, kAccess);
    if (region) {
      region_ = *std::move(region);
      scratch_.resize(settings_.proof_bytes + 2 * kGuard);
      expected_.resize(settings_.proof_bytes);
      return {};
    }
    const char* const name = way == Registration::kDmaBuf       ? "dma-buf: "
                             : way == Registration::kPeerMemory ? "peer memory: "
                                                                : "";
    refused += (refused.empty() ? "" : "; ") + (name + region.error().message);
  }
  if (!planned_.gpu) return Error{EIO, "host memory cannot be registered: " + refused};
  return Error{EIO, "GPU memory cannot be registered (" + refused +
                        "); find out why with: gdr doctor; or measure host memory: gdr fabric "
                        "--memory host"};
}

Result<void> OpenRail::make_queue_pairs() {
  for (std::optional<rdma::QueuePair>* pair : {&outgoing_, &incoming_}) {
    Result<rdma::QueuePair> made =
        rdma::QueuePair::create(*device_, domain_.get(), IBV_QPT_RC,
                                {.sends = requests_, .receives = kReceives, .atomics = false});
    if (!made) return made.error();
    pair->emplace(*std::move(made));
  }
  return {};
}

RailAddress OpenRail::address() const {
  RailAddress address;
  address.outgoing = outgoing_->number();
  address.incoming = incoming_->number();
  std::copy_n(port_address_.gid.raw, address.gid.size(), address.gid.begin());
  address.lid = port_address_.lid;
  address.global = port_.link_layer == IBV_LINK_LAYER_ETHERNET;
  address.mtu = static_cast<std::uint8_t>(port_.active_mtu);
  address.address = memory_->address() + kGuard;
  address.rkey = region_->rkey;
  return address;
}

// What an earlier round left in the queues goes with it.
Result<void> OpenRail::reset(rdma::QueuePair& pair) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RESET;
  if (int code = device_->library().modify_qp(pair.get(), &attributes, IBV_QP_STATE)) {
    return rdma::verbs_error("ibv_modify_qp to RESET", code > 0 ? code : errno);
  }
  for (bool empty = false; !empty;) {
    Result<std::optional<ibv_wc>> sent = pair.poll_send();
    if (!sent) return sent.error();
    Result<std::optional<ibv_wc>> received = pair.poll_receive();
    if (!received) return received.error();
    empty = !*sent && !*received;
  }
  return {};
}

Result<void> OpenRail::bring_up(rdma::QueuePair& pair, std::uint32_t far_number,
                                const RailAddress& far, std::uint32_t sequence,
                                std::uint32_t far_sequence) {
  rdma::Endpoint mine;
  mine.number = pair.number();
  mine.packet_sequence = sequence;
  mine.port = planned_.port.port;
  mine.lid = port_address_.lid;
  mine.gid_index = port_address_.gid_index;
  mine.gid = port_address_.gid;
  mine.global = port_.link_layer == IBV_LINK_LAYER_ETHERNET;
  rdma::Endpoint theirs;
  theirs.number = far_number;
  theirs.packet_sequence = far_sequence;
  theirs.lid = far.lid;
  std::copy(far.gid.begin(), far.gid.end(), theirs.gid.raw);
  theirs.global = far.global;
  rdma::States states;
  states.mtu = static_cast<ibv_mtu>(
      std::clamp<int>(std::min<int>(port_.active_mtu, far.mtu), IBV_MTU_256, IBV_MTU_4096));
  states.atomics = false;
  return rdma::bring_up(*device_, pair.get(), mine, theirs, states);
}

Result<void> OpenRail::prepare_incoming() {
  participants::fill_pattern(stale_seed(received_), kGuardOffset, scratch_);
  return memory_->write(kGuardOffset, scratch_);
}

Result<void> OpenRail::connect_incoming() {
  if (!part_.has_from) return {};
  const PacketSequences sequences = packet_sequences(received_);
  if (Result<void> prepared = prepare_incoming(); !prepared) {
    return Error{EIO, prepared.error().message};
  }
  const RailAddress& far = part_.from_address;
  Result<void> up = bring_up(*incoming_, far.outgoing, far, sequences.receiver, sequences.sender);
  if (!up) return up;
  ibv_recv_wr receive{};
  return incoming_->post_receive(receive);
}

Result<void> OpenRail::connect_outgoing() {
  if (!part_.has_to) return {};
  const PacketSequences sequences = packet_sequences(sent_);
  const RailAddress& far = part_.to_address;
  return bring_up(*outgoing_, far.incoming, far, sequences.sender, sequences.receiver);
}

void OpenRail::connect(std::uint32_t round, const Part& part, RailResult& result) {
  part_ = part;
  sent_ = {settings_.seed, round, part.self, part.to, part.rail, part.far_rail};
  received_ = {settings_.seed, round, part.from, part.self, part.near_rail, part.rail};
  send_problem_.reset();
  receive_problem_.reset();
  Result<void> incoming = reset(*incoming_);
  Result<void> outgoing = reset(*outgoing_);
  if (incoming) incoming = connect_incoming();
  if (outgoing) outgoing = connect_outgoing();
  if (!incoming) {
    receive_problem_ = at("the receiving side", incoming.error());
    result.received_code = result.code = receive_problem_->code;
    result.received_problem = result.problem = receive_problem_->message;
  }
  if (!outgoing) {
    send_problem_ = at("the sending side", outgoing.error());
    result.code = send_problem_->code;
    result.problem = send_problem_->message;
  }
}

void OpenRail::rest() {
  part_ = {};
  (void)reset(*incoming_);
  (void)reset(*outgoing_);
}

}  // namespace gdr::fabric::worker
