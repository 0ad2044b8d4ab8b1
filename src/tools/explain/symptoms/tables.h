// The tables of symptoms, each defined in the file of its name.
#pragma once

#include "explain/symptom.h"

namespace gdr::explain {

const Symptoms& container_symptoms();     // containers, Kubernetes
const Symptoms& gpu_symptoms();           // the GPU and its driver
const Symptoms& module_symptoms();        // the peer-memory module and how it is loaded
const Symptoms& mpi_symptoms();           // UCX, Open MPI
const Symptoms& nccl_symptoms();          // why NCCL does not use GPUDirect RDMA
const Symptoms& nccl_network_symptoms();  // connections of NCCL and others that fail
const Symptoms& other_symptoms();         // what surely is not GPUDirect RDMA
const Symptoms& pcie_symptoms();          // links, ACS, IOMMU, BARs
const Symptoms& queue_symptoms();         // queues and connections, and work that fails on them
const Symptoms& rdma_device_symptoms();   // NICs that are absent, down or not to be opened
const Symptoms& registration_symptoms();  // memory that cannot be registered
const Symptoms& shmem_symptoms();         // NVSHMEM, GDRCopy
const Symptoms& stack_symptoms();         // the RDMA drivers: built, mixed, in use
const Symptoms& transfer_symptoms();      // libraries that move data of GPUs

}  // namespace gdr::explain
