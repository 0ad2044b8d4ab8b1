// Opening and closing a device.
#include "verbs/context.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "local/local_path.h"
#include "net/packet_path.h"
#include "peers/host.h"
#include "verbs/abi.h"
#include "verbs/errors.h"
#include "verbs/objects.h"
#include "verbs/parent_domain.h"
#include "verbs/wq.h"

namespace gdr::verbs {
namespace {

void fill_tables(Context& context) {
  verbs_context& table = context.base;
  // verbs_get_ctx() of the programs: there is a verbs_context before this ibv_context, so large.
  table.sz = sizeof(verbs_context);
  table.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
  set_device_functions(table);
  set_port_functions(table);
  set_cq_functions(table);
  set_qp_functions(table);
  set_srq_functions(table);
  set_mr_functions(table);
  set_xrcd_functions(table);
  set_mw_functions(table);
  set_dm_functions(table);
  set_flow_functions(table);
  set_parent_domain_functions(table);
  set_wq_functions(table);
}

// One for each processor, as a NIC has interrupts. Events of all of them come the same way.
int completion_vectors() {
  constexpr long kMost = 64;
  return static_cast<int>(std::clamp(sysconf(_SC_NPROCESSORS_ONLN), 1L, kMost));
}

void release(Context* context) {
  pthread_mutex_destroy(&context->base.context.mutex);
  delete context;
}

Result<peers::Carriers> make_carriers(rnic::Adapter& adapter, peers::Neighbours& neighbours) {
  Result<std::unique_ptr<rnic::BeyondCarrier>> beyond = net::PacketPath::make(adapter);
  if (!beyond) return beyond.error();
  Result<std::unique_ptr<local::LocalPath>> local = local::LocalPath::make(adapter, neighbours);
  if (!local) return local.error();
  return peers::Carriers{*std::move(local), *std::move(beyond)};
}

}  // namespace

ibv_context* open_context(Device& device, std::shared_ptr<Session> session, UniqueFd command) {
  Result<peers::Host*> host = peers::Host::instance(make_carriers);
  if (!host) return fail(host.error());
  rnic::Adapter& adapter = (*host)->adapter();
  // The table may have been read at another time than the one that the program listed.
  if (device.index >= adapter.devices().size() ||
      adapter.devices()[device.index].name != device.configuration.name) {
    return fail(ENODEV);
  }
  Result<std::unique_ptr<rnic::EventQueue>> events = rnic::EventQueue::create();
  if (!events) return fail(events.error());
  if (session == nullptr) {
    Result<std::shared_ptr<Session>> opened = Session::open(&command);
    if (!opened) return fail(opened.error());
    session = *std::move(opened);
  }

  auto context = std::make_unique<Context>();
  context->device = &device;
  context->adapter = &adapter;
  static std::atomic<std::uint32_t> opened{0};
  context->number = ++opened;
  context->events = std::move(*events);
  context->session = std::move(session);
  context->command = std::move(command);
  context->usage = usage::opened(device.base.name);
  ibv_context& visible = context->base.context;
  visible.device = &device.base;
  visible.cmd_fd = context->command.get();
  visible.async_fd = context->events->descriptor();
  visible.num_comp_vectors = completion_vectors();
  pthread_mutex_init(&visible.mutex, nullptr);
  fill_tables(*context);
  context->session->add(context.get());
  return &context.release()->base.context;
}

}  // namespace gdr::verbs

using namespace gdr::verbs;  // NOLINT: this file is the C interface of the namespace

GDR_EXPORT ibv_context* ibv_open_device(ibv_device* device) {
  return or_null([&] { return open_context(device_of(device), nullptr, {}); });
}

GDR_EXPORT int ibv_close_device(ibv_context* context) {
  return or_errno([&] {
    const std::shared_ptr<Session> session = context_of(context).session;
    for (Context* closed : session->close(&context_of(context))) release(closed);
    return 0;
  });
}
