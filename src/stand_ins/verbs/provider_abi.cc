// Functions that provider libraries import besides the kernel commands (provider_commands.cc):
// registration, contexts, helpers. Their devices do not exist here, so registration is accepted but
// never used.
#include <infiniband/verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <iterator>

#include "verbs/abi.h"

namespace {

// cmd_ioctl.h of rdma-core 44, private to it and its providers, who allocate it on their stacks.
struct CommandBuffer {
  CommandBuffer* next;
  ib_uverbs_attr* next_attribute;
  ib_uverbs_attr* last_attribute;
  std::uint8_t indices_and_headroom[4];
  std::uint8_t flags;
  ib_uverbs_ioctl_hdr header;  // its attributes follow
};

}  // namespace

// Read by nobody but rdma-core's own destroy paths; providers set it.
extern "C" {
extern __attribute__((visibility("default"))) bool verbs_allow_disassociate_destroy;
bool verbs_allow_disassociate_destroy = false;
}

GDR_EXPORT void verbs_register_driver_34(const void* /*driver*/) {}
GDR_EXPORT_AS("ibv_register_driver@IBVERBS_1.1")
void ibv_register_driver_1_1(const char* /*name*/, void* /*init*/) {}

// Providers size arrays on their stacks with it, so it has to be right.
GDR_EXPORT unsigned __ioctl_final_num_attrs(unsigned count, CommandBuffer* link) {
  for (; link != nullptr; link = link->next) {
    const auto* first = reinterpret_cast<const ib_uverbs_attr*>(&link->header + 1);
    count += static_cast<unsigned>(link->next_attribute - first);
  }
  return count;
}

GDR_EXPORT int execute_ioctl(ibv_context* /*context*/, CommandBuffer* /*command*/) {
  return EOPNOTSUPP;
}

GDR_EXPORT void __verbs_log(verbs_context* /*context*/, std::uint32_t /*level*/,
                            const char* /*format*/, ...) {}

// Takes over the descriptor, as rdma-core does also when it fails.
GDR_EXPORT void* _verbs_init_and_alloc_context(ibv_device* /*device*/, int command_fd,
                                               std::size_t /*bytes*/, verbs_context* /*offset*/,
                                               std::uint32_t /*driver*/) {
  if (command_fd >= 0) close(command_fd);
  errno = EOPNOTSUPP;
  return nullptr;
}

GDR_EXPORT ibv_context* verbs_open_device(ibv_device* /*device*/, void* /*private_data*/) {
  errno = EOPNOTSUPP;
  return nullptr;
}

GDR_EXPORT void verbs_uninit_context(verbs_context* /*context*/) {}
GDR_EXPORT void verbs_set_ops(verbs_context* /*context*/, const void* /*ops*/) {}
GDR_EXPORT void verbs_init_cq(ibv_cq* /*cq*/, ibv_context* /*context*/,
                              ibv_comp_channel* /*channel*/, void* /*cq_context*/) {}

GDR_EXPORT int ibv_read_ibdev_sysfs_file(char* /*buffer*/, std::size_t /*size*/,
                                         void* /*sysfs_device*/, const char* /*format*/, ...) {
  errno = ENOENT;
  return -1;
}

// The same for providers of other releases, which named the private node otherwise. (An alias with
// a version would take the name itself out of its own node.)
#define GDR_IN(node, type, name, parameters, arguments) \
  GDR_EXPORT_AS(#name "@IBVERBS_PRIVATE_" #node)        \
  type name##_##node parameters { return name arguments; }
#define GDR_IN_OTHERS(type, name, parameters, arguments) \
  GDR_IN(33, type, name, parameters, arguments)          \
  GDR_IN(57, type, name, parameters, arguments)          \
  GDR_IN(59, type, name, parameters, arguments)          \
  GDR_IN(64, type, name, parameters, arguments)          \
  GDR_IN(65, type, name, parameters, arguments)
GDR_IN_OTHERS(unsigned, __ioctl_final_num_attrs, (unsigned count, CommandBuffer* link),
              (count, link))
GDR_IN_OTHERS(void, __verbs_log,
              (verbs_context * context, std::uint32_t level, const char* format, ...),
              (context, level, format))
GDR_IN_OTHERS(void*, _verbs_init_and_alloc_context,
              (ibv_device * device, int command_fd, std::size_t bytes, verbs_context* offset,
               std::uint32_t driver),
              (device, command_fd, bytes, offset, driver))
GDR_IN_OTHERS(int, execute_ioctl, (ibv_context * context, CommandBuffer* command),
              (context, command))
GDR_IN_OTHERS(int, ibv_read_ibdev_sysfs_file,
              (char* buffer, std::size_t size, void* device, const char* format, ...),
              (buffer, size, device, format))
GDR_IN_OTHERS(void, verbs_init_cq,
              (ibv_cq * cq, ibv_context* context, ibv_comp_channel* channel, void* cq_context),
              (cq, context, channel, cq_context))
GDR_IN_OTHERS(ibv_context*, verbs_open_device, (ibv_device * device, void* private_data),
              (device, private_data))
GDR_IN_OTHERS(void, verbs_set_ops, (verbs_context * context, const void* ops), (context, ops))
GDR_IN_OTHERS(void, verbs_uninit_context, (verbs_context * context), (context))

#define GDR_ALLOW_IN(node)                                                                \
  extern "C" {                                                                            \
  __attribute__((visibility("default"),                                                   \
                 symver("verbs_allow_disassociate_destroy@IBVERBS_PRIVATE_" #node))) bool \
      verbs_allow_disassociate_destroy_##node = false;                                    \
  }
GDR_ALLOW_IN(33)
GDR_ALLOW_IN(57)
GDR_ALLOW_IN(59)
GDR_ALLOW_IN(64)
GDR_ALLOW_IN(65)

#define GDR_REGISTER_DRIVER(node)                                         \
  GDR_EXPORT_AS("verbs_register_driver_" #node "@IBVERBS_PRIVATE_" #node) \
  void verbs_register_driver_of_##node(const void* /*driver*/) {}
GDR_REGISTER_DRIVER(33)
GDR_REGISTER_DRIVER(57)
GDR_REGISTER_DRIVER(59)
GDR_REGISTER_DRIVER(64)
GDR_REGISTER_DRIVER(65)

// Memory of a provider's own, for its own devices.
#define GDR_NO_HEAP(name)                    \
  GDR_EXPORT_AS(#name "@IBVERBS_PRIVATE_65") \
  void* name##_65() {                        \
    errno = EOPNOTSUPP;                      \
    return nullptr;                          \
  }
GDR_NO_HEAP(ibv_dmabuf_heap_alloc)
GDR_NO_HEAP(ibv_dmabuf_heap_cc_shared_init)
GDR_NO_HEAP(ibv_dmabuf_heap_destroy)
GDR_NO_HEAP(ibv_dmabuf_heap_free)

GDR_EXPORT_AS("ibv_wr_opcode_str@IBVERBS_PRIVATE_65")
const char* ibv_wr_opcode_str_65(int opcode) {
  static const char* const names[] = {"rdma-write",
                                      "rdma-write-with-imm",
                                      "send",
                                      "send-with-imm",
                                      "rdma-read",
                                      "atomic-cmp-and-swp",
                                      "atomic-fetch-and-add",
                                      "local-inv",
                                      "bind-mw",
                                      "send-with-inv",
                                      "tso",
                                      "driver1"};
  const bool known = opcode >= 0 && opcode < static_cast<int>(std::size(names));
  if (known) return names[opcode];
  // FLUSH and ATOMIC_WRITE came after release 44.
  return opcode == 14 ? "flush" : opcode == 15 ? "atomic-write" : "unknown";
}
