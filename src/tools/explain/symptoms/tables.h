// The tables of symptoms, each defined in the file of its name.
#pragma once

#include "explain/symptom.h"

namespace gdr::explain {

const Symptoms& build_symptoms();            // programs and modules whose parts do not fit
const Symptoms& cloud_symptoms();            // machines of clouds, EFA, DGX Spark
const Symptoms& cluster_pod_symptoms();      // pods without RDMA or the device they ask for
const Symptoms& command_symptoms();          // commands that the NIC itself does not carry out
const Symptoms& compile_symptoms();          // programs that are not configured or compiled
const Symptoms& completion_symptoms();       // work that the NIC gives back with an error
const Symptoms& connection_symptoms();       // queue pairs that are not connected, by error
const Symptoms& container_start_symptoms();  // containers of GPU jobs that do not start
const Symptoms& container_symptoms();        // containers, Kubernetes
const Symptoms& engine_setup_symptoms();     // how engines' libraries are built and started
const Symptoms& engine_symptoms();           // inference engines, frameworks
const Symptoms& fabric_symptoms();           // Slingshot, Omni-Path, EFA, RPC and PGAS libraries
const Symptoms& file_symptoms();             // file systems, databases, Spark over RDMA
const Symptoms& expert_symptoms();           // DeepEP, and how NVSHMEM starts
const Symptoms& feature_symptoms();          // what a build left out
const Symptoms& firmware_tool_symptoms();    // flint, mlxconfig, mlxfwreset
const Symptoms& gpu_symptoms();              // the GPU and its driver
const Symptoms& host_symptoms();             // what the host or cluster withholds before RDMA
const Symptoms& install_symptoms();          // packages, headers, firmware tools
const Symptoms& job_symptoms();              // what ends a job and is no matter of RDMA
const Symptoms& kernel_gpu_symptoms();       // NVRM, nvidia-peermem, amdgpu
const Symptoms& kernel_host_symptoms();      // memory, faults of hardware, crashes
const Symptoms& kernel_nic_symptoms();       // the NICs' drivers, the RDMA core
const Symptoms& kernel_pci_symptoms();       // slots, links, peer-to-peer, the IOMMU's start
const Symptoms& kubernetes_symptoms();       // pods and their virtual functions
const Symptoms& library_symptoms();          // programs and libraries that do not load or fit
const Symptoms& misuse_symptoms();           // what a program does wrong with verbs
const Symptoms& link_symptoms();             // programs that are not linked, parts that do not fit
const Symptoms& module_symptoms();           // the peer-memory module and how it is loaded
const Symptoms& mooncake_symptoms();         // Mooncake, 3FS, brpc, UCCL
const Symptoms& mpi_symptoms();              // UCX, Open MPI
const Symptoms& nccl_network_symptoms();     // connections of NCCL and others that fail
const Symptoms& nccl_setup_symptoms();       // NCCL at its start
const Symptoms& nccl_symptoms();             // why NCCL does not use GPUDirect RDMA
const Symptoms& nvlink_domain_symptoms();    // the fabric manager, IMEX, ranks that differ
const Symptoms& ofi_symptoms();              // libfabric (OFI), PSM, and MPI above them
const Symptoms& operator_symptoms();         // operators of Kubernetes
const Symptoms& other_symptoms();            // what surely is not GPUDirect RDMA
const Symptoms& pcie_symptoms();             // links, ACS, IOMMU, BARs
const Symptoms& perftest_symptoms();         // perftest, ibv_rc_pingpong
const Symptoms& port_symptoms();             // ports that are down or not configured, GIDs, GUIDs
const Symptoms& program_symptoms();          // TensorFlow, NFS, OpenSHMEM and others above verbs
const Symptoms& queue_symptoms();            // queues that cannot be created or connected
const Symptoms& rdma_cm_symptoms();          // connections by rdma_cm
const Symptoms& rdma_device_symptoms();      // NICs that are absent, down or not to be opened
const Symptoms& registration_symptoms();     // memory that cannot be registered
const Symptoms& shmem_symptoms();            // NVSHMEM, GDRCopy
const Symptoms& slowness_symptoms();         // slow, and counters and links that say why
const Symptoms& stack_symptoms();            // the RDMA drivers: built, mixed, in use
const Symptoms& storage_symptoms();          // files and disks over RDMA, GPUDirect Storage
const Symptoms& system_symptoms();           // what a system lacks or names otherwise
const Symptoms& topic_symptoms();            // neighbours: SHARP, MNNVL, IPC, storage
const Symptoms& transfer_symptoms();         // libraries that move data of GPUs
const Symptoms& ucx_symptoms();              // UCX: its settings, both sides, RoCE, CUDA
const Symptoms& visibility_symptoms();       // what the host has and a container does not see

}  // namespace gdr::explain
