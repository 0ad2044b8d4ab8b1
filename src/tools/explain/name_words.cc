// Names: modules, libraries, drivers and programs of RDMA, and of calls besides those that make
// things.
#include "explain/word_tables.h"

namespace gdr::explain {

const std::vector<WordSet>& name_words() {
  constexpr auto kWord = WordSet::Begin::kWord;
  static const std::vector<WordSet> sets = {
      // Kernel modules of NICs, of RDMA and of what is built upon it.
      {"rdma-module",
       0,
       kWord,
       {"mlx5_",     "mlx4_",     "mlxfw",     "mlx_compat", "ib_core",    "ib_uverbs",  "ib_umad",
        "ib_cm",     "ib_ipoib",  "ib_srp",    "ib_iser",    "ib_mad",     "ib_addr",    "ib_sa",
        "ib_ucm",    "iw_cm",     "iw_cxgb",   "rdma_cm",    "rdma_ucm",   "rdma_rxe",   "rdma-",
        "siw",       "irdma",     "i40iw",     "bnxt_re",    "bnxt_en",    "efa",        "erdma",
        "hns_roce",  "hns-roce",  "mana_ib",   "ionic_rdma", "qedr",       "ocrdma",     "usnic",
        "hfi1",      "opa_vnic",  "nvme_rdma", "nvme-rdma",  "nvmet_rdma", "nvmet-rdma", "rpcrdma",
        "xprtrdma",  "svcrdma",   "rds_rdma",  "smc",        "ko2iblnd",   "knem",       "xpmem",
        "nvidia_fs", "nvidia-fs", "gdrdrv",    "fwctl"}},
      // Shared libraries of the same.
      {"rdma-library",
       0,
       kWord,
       {"libibverbs",   "librdmacm",     "libmlx5",    "libmlx4",         "libibumad",  "libibmad",
        "libibnetdisc", "libefa",        "libfabric",  "libucp",          "libuct",     "libucs",
        "libucm",       "libucc",        "libnccl.so", "librccl",         "libnvshmem", "nvshmem_",
        "libgdrapi",    "libcufile",     "libsharp",   "libhcoll",        "libmpi",     "libopen-",
        "libnixl",      "libcxi",        "libpsm2",    "libdoca",         "libirdma",   "librxe",
        "libsiw",       "libhns",        "liberdma",   "libopal",         "libpmix",    "libbnxt",
        "libionic",     "libplugin_ucx", "libosmcomp", "transfer_engine", "mooncake"}},
      // Drivers of NICs, as the kernel begins their lines.
      {"nic-driver", 0, kWord, {"mlx5_core", "mlx5_ib", "mlx4_core", "mlx4_ib", "bnxt_en",
                                "bnxt_re",   "irdma",   "i40iw",     "ice 0",   "ice:",
                                "efa 0",     "efa_",    "hns3",      "hns_",    "erdma",
                                "qede",      "qedr",    "ionic 0",   "ionic_",  "mana 0",
                                "mana_ib",   "hfi1",    "cxi_core",  "cxi_ss1", "infiniband "}},
      // UCX, and what is built upon it and hands its words on.
      {"ucx",
       0,
       kWord,
       {"ucx ", "ucxpy", "ucx-py", "ucxx", "ucp_", "uct_", "ucx:", "ucx)", "ucs_", "[ucx", "ucx_"}},
      // Calls that send ordinary memory through a socket or pipe.
      {"socket-call",
       0,
       kWord,
       {"writev", "readv", "sendmsg", "recvmsg", "writebody", "readbody", "writeheader",
        "socket write", "socket send", "socket read", "async_write", "sendto", "recvfrom"}},
      // RDMA in general, where a line says nothing closer.
      {"rdma-word", 0, kWord, {"rdma ",      "rdma_",       "rdma:",       "rdma-",
                               "rdma.",      "rdma,",       "ibv_",        "ib failure",
                               "ib error",   "ib device",   "ib port",     "ib transport",
                               "ibverbs",    "infiniband ", "infiniband:", "infiniband,",
                               "roce",       "openib",      "bnxt_re",     "erdma",
                               "openfabrics"}},
      // What an RDMA NIC has a number of.
      {"nic-room",
       0,
       kWord,
       {"resources", "qp", "queue pair", "cq", "completion queue", "contexts", "memory region",
        " mr", "mrs", "mkey", "srq", "uar", "doorbell"}},
      // Calls of librdmacm that find, bind and connect addresses.
      {"cm-call",
       0,
       kWord,
       {"rdma_bind_addr", "rdma_listen", "rdma_connect", "rdma_accept", "rdma_resolve_",
        "rdma_create_id", "rdma_create_event_channel", "rdma_get_cm_event", "rdma_getaddrinfo",
        "rdma_create_ep", "rdma_get_request", "rdma_establish", "rdma_migrate_id",
        "rdma_init_qp_attr", "rdma_join_multicast", "rdma_set_option", "rdma_disconnect",
        "rdma_ack_cm_event", "rdma_notify"}},
      // DPDK's drivers for ConnectX, by their names over the releases.
      {"dpdk",
       0,
       kWord,
       {"net_mlx4", "net_mlx5", "mlx5_net", "mlx5_pci", "mlx5_common", "common_mlx5", "mlx4_pci"}},
      // What gives resources of RDMA back.
      {"teardown",
       0,
       kWord,
       {"ibv_dereg_mr",
        "ibv_destroy_",
        "ibv_dealloc_",
        "ibv_close_device",
        "ibv_free_dm",
        "ibv_close_xrcd",
        "destroy qp",
        "destroy cq",
        "destroy srq",
        "destroy queue pair",
        "destroy completion queue",
        "destroy completion channel",
        "dealloc pd",
        "deallocate pd",
        "deallocate protection domain",
        "deregister mr",
        "deregister memory",
        "unregister memory",
        "dereg mr",
        "dereg memory",
        "dereg_mr",
        "close device",
        "destroy ah",
        "rdma_destroy_",
        "devx_obj_destroy",
        "umem_dereg",
        "fi_close",
        "destroy recv_cq",
        "destroy send_cq",
        "deregistration failed"}},
  };
  return sets;
}

}  // namespace gdr::explain
