// Queue pair 1 for librdmacm: the C interface of cm/general_services.h over the path between hosts.
#include "cm/general_services.h"

#include <cstring>
#include <iterator>
#include <memory>

#include "net/packet_path.h"
#include "verbs/abi.h"
#include "verbs/errors.h"
#include "verbs/objects.h"

using gdr::net::Mad;

static_assert(GDR_GSI_MAD_BYTES == gdr::net::kMadBytes);
static_assert(GDR_GSI_ID_BITS == gdr::net::kMadIdBits);

struct gdr_gsi {
  gdr::rnic::Adapter* adapter;
  gdr::net::PacketPath* path;
  std::shared_ptr<gdr::net::Gsi> gsi;
};

namespace gdr::verbs {
namespace {

gdr_gsi_mad exported(const Mad& mad) {
  gdr_gsi_mad out;
  std::memcpy(out.source, mad.source.data(), sizeof out.source);
  std::memcpy(out.destination, mad.destination.data(), sizeof out.destination);
  std::memcpy(out.bytes, mad.bytes.data(), sizeof out.bytes);
  return out;
}

Mad imported(const gdr_gsi_mad& mad) {
  Mad in;
  std::memcpy(in.source.data(), mad.source, sizeof mad.source);
  std::memcpy(in.destination.data(), mad.destination, sizeof mad.destination);
  std::memcpy(in.bytes.data(), mad.bytes, sizeof mad.bytes);
  return in;
}

int code_of(const Result<void>& result) { return result ? 0 : result.error().code; }

}  // namespace
}  // namespace gdr::verbs

using namespace gdr::verbs;  // NOLINT: this file is the C interface of the namespace

GDR_EXPORT gdr_gsi* gdr_gsi_open(ibv_context* context, const gdr_gsi_user* user) {
  return or_null([&]() -> gdr_gsi* {
    const Context& opened = context_of(context);
    gdr::rnic::Adapter& adapter = *opened.adapter;
    if (adapter.is_forked()) return fail(ENODEV);
    // What carries beyond the host is a PacketPath: context.cc makes no other.
    auto* path = static_cast<gdr::net::PacketPath*>(adapter.beyond());
    auto made = std::make_unique<gdr_gsi>(gdr_gsi{&adapter, path, nullptr});
    gdr::net::GsiUser functions;
    functions.device = opened.device->index;
    functions.receive = [to = *user](const Mad& mad) {
      const gdr_gsi_mad out = exported(mad);
      to.receive(to.state, &out);
    };
    if (user->ended != nullptr) {
      functions.ended = [to = *user](const gdr::net::Ended& whose) {
        to.ended(to.state, whose.address.data(), whose.prefix);
      };
    }
    auto gsi = path->open_general_services(std::move(functions));
    if (!gsi) return fail(gsi.error());
    made->gsi = *std::move(gsi);
    return made.release();
  });
}

GDR_EXPORT void gdr_gsi_close(gdr_gsi* gsi) {
  // In a fork's child its thread, and what it would be waited for, are the parent's.
  if (!gsi->adapter->is_forked()) gsi->path->general_services().close(*gsi->gsi);
  delete gsi;
}

GDR_EXPORT int gdr_gsi_send(gdr_gsi* gsi, const gdr_gsi_mad* mad) {
  return or_errno([&] { return gsi->path->send_mad(gsi->gsi->device, imported(*mad)); });
}

GDR_EXPORT int gdr_gsi_listen(gdr_gsi* gsi, std::uint64_t service_id) {
  return or_errno([&] {
    if (gsi->adapter->is_forked()) return ENODEV;
    return code_of(gsi->path->general_services().listen(*gsi->gsi, service_id));
  });
}

GDR_EXPORT int gdr_gsi_unlisten(gdr_gsi* gsi, std::uint64_t service_id) {
  return or_errno([&] {
    if (gsi->adapter->is_forked()) return ENODEV;
    return code_of(gsi->path->general_services().unlisten(*gsi->gsi, service_id));
  });
}

GDR_EXPORT void gdr_gsi_count(gdr_gsi* /*gsi*/, gdr_gsi_drop what) {
  using gdr::net::Counter;
  constexpr Counter kCounters[] = {Counter::kMadBacklogFull, Counter::kMadInvalidRequest,
                                   Counter::kMadUnexpected};
  if (static_cast<std::size_t>(what) >= std::size(kCounters)) return;
  gdr::net::Counters::of_process().add(kCounters[what]);
}

GDR_EXPORT std::uint32_t gdr_gsi_id_prefix(gdr_gsi* gsi) {
  return gsi->path->general_services().id_prefix();
}
