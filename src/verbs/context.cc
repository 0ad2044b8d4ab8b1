// Opening and closing a device.
#include "verbs/context.h"

#include <pthread.h>

#include <cstddef>
#include <utility>

#include "local/host.h"
#include "verbs/abi.h"
#include "verbs/errors.h"
#include "verbs/objects.h"

namespace gdr::verbs {

std::uint64_t Context::adopt(std::function<void()> dispose) {
  const std::lock_guard guard(mutex);
  live.emplace(++last_serial, std::move(dispose));
  return last_serial;
}

void Context::forget(std::uint64_t serial) {
  const std::lock_guard guard(mutex);
  live.erase(serial);
}

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
  set_xrcd_functions(table);
  set_mw_functions(table);
  set_flow_functions(table);
}

ibv_context* open_device(Device& device) {
  Result<local::Host*> host = local::Host::instance();
  if (!host) return fail(host.error());
  rnic::Adapter& adapter = (*host)->adapter();
  // The table may have been read at another time than the one that the program listed.
  if (device.index >= adapter.devices().size() ||
      adapter.devices()[device.index].name != device.configuration.name) {
    return fail(ENODEV);
  }
  Result<std::unique_ptr<rnic::EventQueue>> events = rnic::EventQueue::create();
  if (!events) return fail(events.error());

  auto context = std::make_unique<Context>();
  context->device = &device;
  context->adapter = &adapter;
  context->events = std::move(*events);
  ibv_context& visible = context->base.context;
  visible.device = &device.base;
  visible.cmd_fd = -1;
  visible.async_fd = context->events->descriptor();
  visible.num_comp_vectors = 1;
  pthread_mutex_init(&visible.mutex, nullptr);
  fill_tables(*context);
  return &context.release()->base.context;
}

void dispose_of_all(Context& context) {
  for (;;) {
    std::function<void()> dispose;
    {
      const std::lock_guard guard(context.mutex);
      if (context.live.empty()) return;
      const auto last = std::prev(context.live.end());
      dispose = std::move(last->second);
      context.live.erase(last);
    }
    dispose();
  }
}

}  // namespace
}  // namespace gdr::verbs

using namespace gdr::verbs;  // NOLINT: this file is the C interface of the namespace

GDR_EXPORT ibv_context* ibv_open_device(ibv_device* device) {
  return or_null([&] { return open_device(device_of(device)); });
}

GDR_EXPORT int ibv_close_device(ibv_context* context) {
  return or_errno([&] {
    Context& opened = context_of(context);
    dispose_of_all(opened);
    pthread_mutex_destroy(&context->mutex);
    delete &opened;
    return 0;
  });
}

// Sharing objects between processes by descriptor needs the kernel's tables.
GDR_EXPORT ibv_context* ibv_import_device(int /*command_fd*/) { return fail(EOPNOTSUPP); }
