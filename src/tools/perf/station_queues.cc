// Station: completion queues, queue pairs and their connections.
#include <fcntl.h>

#include <algorithm>
#include <random>

#include "perf/station.h"

namespace gdr::perf {
namespace {

constexpr std::uint32_t kPsnMask = 0xffffff;

// What the inline functions of these names do, without their references to the library's symbols.
ibv_qp* create_extended(ibv_context* context, ibv_qp_init_attr_ex& init) {
  verbs_context* table = verbs_get_ctx_op(context, create_qp_ex);
  if (table) return table->create_qp_ex(context, &init);
  errno = EOPNOTSUPP;
  return nullptr;
}
ibv_srq* create_extended(ibv_context* context, ibv_srq_init_attr_ex& init) {
  verbs_context* table = verbs_get_ctx_op(context, create_srq_ex);
  if (table) return table->create_srq_ex(context, &init);
  errno = EOPNOTSUPP;
  return nullptr;
}

Error failed(const char* call) { return rdma::verbs_error(call, errno ? errno : EIO); }

}  // namespace

Result<void> Station::make_queues() {
  if (Result<void> done = make_completion_queues(); !done) return done;
  if (Result<void> done = make_shared_receives(); !done) return done;
  queues_.resize(plan_.queue_pairs);
  for (std::uint32_t i = 0; i < plan_.queue_pairs; ++i) {
    Queue& queue = queues_[i];
    queue.incoming = memory_->address() + layout_.incoming(i);
    queue.outgoing = memory_->address() + layout_.outgoing(i);
    if (Result<void> done = make_queue(queue); !done) {
      return Error{done.error().code, "queue pair " + std::to_string(i + 1) + " of " +
                                          std::to_string(plan_.queue_pairs) + ": " +
                                          done.error().message};
    }
    by_number_.emplace_back(queue.receiver->qp_num, i);
  }
  std::sort(by_number_.begin(), by_number_.end());
  return {};
}

Result<void> Station::make_completion_queues() {
  const Load& load = plan_.load;
  const rdma::Library& library = devices_.nic().library();
  ibv_context* context = devices_.nic().context();
  const auto most = static_cast<std::uint32_t>(devices_.attributes().max_cqe);
  const bool shared = has_shared_queue(load);
  const int room = shared ? devices_.attributes().max_srq_wr : devices_.attributes().max_qp_wr;
  receives_ = std::min(receives_of(load, layout_), static_cast<std::uint32_t>(room));
  if (load.events) {
    errno = 0;
    ibv_comp_channel* channel = library.create_comp_channel(context);
    if (!channel) return failed("ibv_create_comp_channel");
    channel_ = {channel, {library.destroy_comp_channel}};
  }
  const std::uint32_t sends = std::min(most, plan_.queue_pairs * requests_queued(load));
  const std::uint32_t receives =
      std::min(most, shared ? receives_ + plan_.queue_pairs : receives_ * plan_.queue_pairs);
  for (auto [queue, entries] : {std::pair{&send_queue_, sends}, {&receive_queue_, receives}}) {
    errno = 0;
    ibv_cq* made =
        library.create_cq(context, static_cast<int>(entries), nullptr, channel_.get(), 0);
    if (!made) return failed("ibv_create_cq");
    *queue = {made, {library.destroy_cq}};
  }
  return {};
}

Result<void> Station::make_shared_receives() {
  const rdma::Library& library = devices_.nic().library();
  ibv_context* context = devices_.nic().context();
  const bool xrc = plan_.load.transport == Transport::kXrc;
  if (!xrc && !plan_.load.shared_receives) return {};
  errno = 0;
  ibv_srq* made = nullptr;
  if (xrc) {
    ibv_xrcd_init_attr domain{};
    domain.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
    domain.fd = -1;
    domain.oflags = O_CREAT;
    ibv_xrcd* opened = ibv_open_xrcd(context, &domain);
    if (!opened) return failed("ibv_open_xrcd");
    xrc_domain_ = {opened, {ibv_close_xrcd}};
    ibv_srq_init_attr_ex init{};
    init.attr = {receives_, 1, 0};
    init.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD |
                     IBV_SRQ_INIT_ATTR_CQ;
    init.srq_type = IBV_SRQT_XRC;
    init.pd = devices_.domain();
    init.xrcd = xrc_domain_.get();
    init.cq = receive_queue_.get();
    made = create_extended(context, init);
  } else {
    ibv_srq_init_attr init{};
    init.attr = {receives_, 1, 0};
    made = library.create_srq(devices_.domain(), &init);
  }
  if (!made) return failed("ibv_create_srq");
  shared_receives_ = {made, {library.destroy_srq}};
  return {};
}

Result<ibv_qp*> Station::make_pair(ibv_qp_type type) {
  const rdma::Library& library = devices_.nic().library();
  ibv_qp_init_attr_ex init{};
  init.qp_type = type;
  init.comp_mask = IBV_QP_INIT_ATTR_PD;
  init.pd = devices_.domain();
  if (type == IBV_QPT_XRC_RECV) {
    init.comp_mask = IBV_QP_INIT_ATTR_XRCD;
    init.xrcd = xrc_domain_.get();
  } else {
    init.send_cq = send_queue_.get();
    init.cap.max_send_wr = requests_queued(plan_.load);
    init.cap.max_send_sge = 1;
    init.cap.max_inline_data = plan_.load.inline_bytes;
  }
  errno = 0;
  ibv_qp* made = nullptr;
  if (type == IBV_QPT_XRC_RECV || type == IBV_QPT_XRC_SEND) {
    made = create_extended(devices_.nic().context(), init);
  } else {
    ibv_qp_init_attr plain{};
    plain.qp_type = type;
    plain.send_cq = init.send_cq;
    plain.recv_cq = receive_queue_.get();
    plain.cap = init.cap;
    plain.srq = shared_receives_.get();
    if (!plain.srq) plain.cap.max_recv_wr = receives_, plain.cap.max_recv_sge = 1;
    made = library.create_qp(devices_.domain(), &plain);
  }
  if (!made && errno == EINVAL && init.cap.max_inline_data > 0) {
    return Error{EINVAL, failed("ibv_create_qp").message + ": " + devices_.names().nic +
                             " may have no room for --inline " +
                             std::to_string(init.cap.max_inline_data) + "; use a smaller one"};
  }
  if (!made) return failed("ibv_create_qp");
  pairs_.push_back({made, {library.destroy_qp}});
  return made;
}

Result<void> Station::make_queue(Queue& queue) {
  const ibv_qp_type type = type_of(plan_.load.transport);
  Result<ibv_qp*> sender = make_pair(type);
  if (!sender) return sender.error();
  queue.sender = queue.receiver = *sender;
  inline_bytes_ = plan_.load.inline_bytes;
  if (type == IBV_QPT_XRC_SEND) {
    Result<ibv_qp*> receiver = make_pair(IBV_QPT_XRC_RECV);
    if (!receiver) return receiver.error();
    queue.receiver = *receiver;
  }
  thread_local std::minstd_rand random{std::random_device{}()};
  queue.packet_sequence = static_cast<std::uint32_t>(random()) & kPsnMask;
  return {};
}

rdma::States Station::states(ibv_qp_type type) const {
  constexpr int kMostReads = 16;
  rdma::States states;
  states.type = type;
  states.mtu = plan_.mtu;
  states.atomics = devices_.has_atomics();
  states.reads =
      static_cast<std::uint8_t>(std::clamp(devices_.attributes().max_qp_rd_atom, 1, kMostReads));
  states.service_level = plan_.load.service_level;
  states.traffic_class = plan_.load.traffic_class;
  return states;
}

Result<void> Station::connect(const StationAddress& theirs, const GoOn& go_on) {
  if (theirs.queues.size() != queues_.size()) {
    return Error{EPROTO, "the other side has a different number of queue pairs"};
  }
  rdma::Endpoint other;
  other.lid = theirs.lid;
  other.global = theirs.global;
  std::copy(theirs.gid.begin(), theirs.gid.end(), other.gid.raw);
  remote_rkey_ = theirs.rkey;
  for (std::uint32_t i = 0; i < queues_.size(); ++i) {
    queues_[i].remote = theirs.address + layout_.incoming(i);
  }
  if (manager_) return connect_by_manager(theirs, go_on);
  for (std::uint32_t i = 0; i < queues_.size(); ++i) {
    if (Result<void> done = connect_queue(queues_[i], other, theirs.queues[i]); !done) return done;
  }
  return {};
}

// The server waits for the client's connections.
Result<void> Station::listen() {
  Result<rdma::Manager> manager = rdma::Manager::open();
  if (!manager) return manager.error();
  manager_ = *std::move(manager);
  if (plan_.is_client) return {};
  Result<std::uint16_t> port = manager_->listen(devices_.address().gid);
  if (!port) return port.error();
  manager_port_ = *port;
  return {};
}

Result<void> Station::connect_by_manager(const StationAddress& theirs, const GoOn& go_on) {
  constexpr Nanoseconds kEach = 10 * kMillisecond, kAtLeast = 10 * kSecond;
  const Nanoseconds timeout = kAtLeast + static_cast<Nanoseconds>(queues_.size()) * kEach;
  const rdma::States how = states(IBV_QPT_RC);
  std::vector<ibv_qp*> pairs;
  for (const Queue& queue : queues_) pairs.push_back(queue.sender);
  if (!plan_.is_client) return manager_->accept(devices_.nic(), pairs, how, timeout, go_on);
  ibv_gid there{};
  std::copy(theirs.gid.begin(), theirs.gid.end(), there.raw);
  return manager_->connect(devices_.nic(), devices_.address().gid, there, theirs.manager_port,
                           pairs, how, timeout, go_on);
}

Result<void> Station::connect_queue(Queue& queue, const rdma::Endpoint& side,
                                    const QueueAddress& theirs) {
  rdma::Endpoint mine = devices_.endpoint(), other = side;
  mine.packet_sequence = queue.packet_sequence;
  other.packet_sequence = theirs.packet_sequence;
  queue.remote_number = theirs.number;
  queue.remote_shared_receives = theirs.shared_receives;
  const bool xrc = queue.receiver != queue.sender;
  other.number = xrc ? theirs.receiver_number : theirs.number;
  const rdma::States forth = states(type_of(plan_.load.transport));
  if (Result<void> done = rdma::bring_up(devices_.nic(), queue.sender, mine, other, forth); !done) {
    return done;
  }
  if (xrc) {
    other.number = theirs.number;
    return rdma::bring_up(devices_.nic(), queue.receiver, mine, other, states(IBV_QPT_XRC_RECV));
  }
  if (plan_.load.transport != Transport::kUd) return {};
  Result<rdma::AddressHandle> path = rdma::make_address_handle(devices_.nic(), devices_.domain(),
                                                               rdma::path_to(mine, other, forth));
  if (!path) return path.error();
  queue.path = path->get();
  paths_.push_back(*std::move(path));
  return {};
}

}  // namespace gdr::perf
