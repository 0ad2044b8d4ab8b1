// ibv_query_device and its extended form: what the device can do. What is not offered is 0.
#include <algorithm>
#include <cstring>

#include "rnic/device_clock.h"
#include "rnic/receive_hash.h"
#include "verbs/abi.h"
#include "verbs/context.h"
#include "verbs/dm.h"
#include "verbs/errors.h"
#include "verbs/objects.h"
#include "verbs/srq.h"

namespace gdr::verbs {
namespace {

constexpr char kFirmware[] = "gdrkit 1";
// No vendor's OUI: what Linux's software NICs report, too. 0 would read as "not filled in".
constexpr std::uint32_t kSoftwareVendor = 0xffffff;
constexpr int kAnyNumber = 1 << 20;  // limited by memory only

ibv_device_attr device_attributes(const Device& device) {
  ibv_device_attr attr{};
  std::memcpy(attr.fw_ver, kFirmware, sizeof kFirmware);
  attr.node_guid = device.guid();
  attr.sys_image_guid = device.guid();
  attr.max_mr_size = UINT64_MAX;
  attr.page_size_cap = 0xfffff000;
  attr.vendor_id = kSoftwareVendor;
  attr.max_qp = rnic::kQueuePairs - 2;
  attr.max_qp_wr = rnic::kMaxSendRequests;
  attr.device_cap_flags = IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_RC_RNR_NAK_GEN |
                          IBV_DEVICE_SRQ_RESIZE | IBV_DEVICE_XRC | IBV_DEVICE_RAW_IP_CSUM |
                          IBV_DEVICE_MANAGED_FLOW_STEERING | IBV_DEVICE_MEM_WINDOW |
                          IBV_DEVICE_MEM_WINDOW_TYPE_2B;
  attr.max_sge = rnic::kMaxSegments;
  attr.max_sge_rd = rnic::kMaxSegments;
  attr.max_cq = rnic::kCompletionQueues;
  attr.max_cqe = rnic::kMaxCompletions;
  attr.max_mr = rnic::kRegions - 1;
  attr.max_mw = rnic::kRegions - 1;
  attr.max_pd = kAnyNumber;
  attr.max_qp_rd_atom = rnic::kMaxReadAtomic;
  attr.max_res_rd_atom = static_cast<int>(rnic::kMaxReadAtomic * rnic::kQueuePairs);
  attr.max_qp_init_rd_atom = rnic::kMaxReadAtomic;
  attr.atomic_cap = IBV_ATOMIC_HCA;  // one lock with every path, not with the CPU's own atomics
  attr.max_raw_ethy_qp = rnic::kQueuePairs - 2;
  attr.max_mcast_grp = rnic::kMembers;
  attr.max_mcast_qp_attach = rnic::kMembers;
  attr.max_total_mcast_qp_attach = rnic::kMembers;
  attr.max_ah = kAnyNumber;
  attr.max_srq = rnic::kSrqs;
  attr.max_srq_wr = rnic::kMaxSrqRequests;
  attr.max_srq_sge = rnic::kMaxSegments;
  attr.max_pkeys = 1;
  attr.local_ca_ack_delay = 15;
  attr.phys_port_cnt = kPort;
  return attr;
}

// What a region registered with IBV_ACCESS_ON_DEMAND can be used for: see local/move_now.h.
void add_on_demand_paging(ibv_device_attr_ex& attr) {
  constexpr std::uint32_t kMessages =
      IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_SRQ_RECV;
  attr.odp_caps.general_caps = IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT;
  constexpr std::uint32_t kReliable =
      kMessages | IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC;
  attr.odp_caps.per_transport_caps.rc_odp_caps = kReliable;
  attr.xrc_odp_caps = kReliable;
  attr.odp_caps.per_transport_caps.uc_odp_caps = kMessages | IBV_ODP_SUPPORT_WRITE;
  attr.odp_caps.per_transport_caps.ud_odp_caps = kMessages;
}

ibv_device_attr_ex extended_attributes(const Device& device) {
  ibv_device_attr_ex attr{};
  attr.orig_attr = device_attributes(device);
  attr.device_cap_flags_ex = attr.orig_attr.device_cap_flags;
  attr.raw_packet_caps = IBV_RAW_PACKET_CAP_IP_CSUM;
  attr.phys_port_cnt_ex = kPort;
  attr.rss_caps = {.supported_qpts = 1u << IBV_QPT_RAW_PACKET,
                   .max_rwq_indirection_tables = kAnyNumber,
                   .max_rwq_indirection_table_size = rnic::kMaxSpread,
                   .rx_hash_fields_mask = rnic::kHashFields,
                   .rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ};
  attr.max_wq_type_rq = rnic::kQueuePairs - 2;
  attr.completion_timestamp_mask = UINT64_MAX;
  attr.hca_core_clock = rnic::kDeviceClockKilohertz;
  attr.cq_mod_caps = {.max_cq_count = UINT16_MAX, .max_cq_period = UINT16_MAX};
  attr.max_dm_size = kDeviceMemory;
  attr.tm_caps = {.max_rndv_hdr_size = kMaxRendezvousHeader,
                  .max_num_tags = rnic::kMaxTags,
                  .flags = IBV_TM_CAP_RC,
                  .max_ops = kMaxTagOperations,
                  .max_sge = rnic::kMaxSegments};
  add_on_demand_paging(attr);
  return attr;
}

// `size`: of the caller's struct, which an older program knows less of and a newer one more.
int query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input,
                    ibv_device_attr_ex* attributes, std::size_t size) {
  if (size < sizeof(ibv_device_attr) || (input != nullptr && input->comp_mask != 0)) return EINVAL;
  const ibv_device_attr_ex attr = extended_attributes(*context_of(context).device);
  std::memset(static_cast<void*>(attributes), 0, size);
  std::memcpy(static_cast<void*>(attributes), &attr, std::min(size, sizeof attr));
  return 0;
}

// Like mlx5, and as programs (libvma) read it: the whole clock in tv_nsec, in its own units.
int query_rt_values(ibv_context* /*context*/, ibv_values_ex* values) {
  values->comp_mask &= IBV_VALUES_MASK_RAW_CLOCK;
  if (values->comp_mask == 0) return 0;
  values->raw_clock = {.tv_sec = 0, .tv_nsec = static_cast<long>(rnic::device_clock())};
  return 0;
}

int query_device(ibv_context* context, ibv_device_attr* attributes) {
  *attributes = device_attributes(*context_of(context).device);
  return 0;
}

}  // namespace

void set_device_functions(verbs_context& table) {
  table.query_device_ex = query_device_ex;
  table.query_rt_values = query_rt_values;
  table.context.ops._compat_query_device = query_device;
}

}  // namespace gdr::verbs

GDR_EXPORT int ibv_query_device(ibv_context* context, ibv_device_attr* attributes) {
  return gdr::verbs::query_device(context, attributes);
}
