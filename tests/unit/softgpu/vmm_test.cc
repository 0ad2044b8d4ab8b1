#include <sys/mman.h>
#include <unistd.h>

#include <chrono>

#include "gate.h"
#include "soft_gpu.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

constexpr std::size_t kBlockBytes = 2 << 20;

class Vmm : public SoftGpu {
 protected:
  CUmemAllocationProp properties(int device = 0) {
    CUmemAllocationProp wanted{};
    wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    wanted.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    wanted.allocFlags.gpuDirectRDMACapable = 1;
    return wanted;
  }
  CUmemGenericAllocationHandle create(std::size_t bytes) {
    CUmemGenericAllocationHandle handle = 0;
    const CUmemAllocationProp wanted = properties();
    EXPECT_CU(CUDA_SUCCESS, cu.mem_create(&handle, bytes, &wanted, 0));
    return handle;
  }
  CUdeviceptr reserve(std::size_t bytes) {
    CUdeviceptr address = 0;
    EXPECT_CU(CUDA_SUCCESS, cu.mem_address_reserve(&address, bytes, 0, 0, 0));
    return address;
  }
  CUresult grant(CUdeviceptr address, std::size_t bytes, CUmemAccess_flags flags, int device = 0) {
    CUmemAccessDesc wanted{{CU_MEM_LOCATION_TYPE_DEVICE, device}, flags};
    return cu.mem_set_access(address, bytes, &wanted, 1);
  }
};

TEST_F(Vmm, AdjacentMappingsAreOneRangeForACopy) {
  const std::size_t before = free_memory();
  std::size_t granularity = 0;
  const CUmemAllocationProp wanted = properties();
  ASSERT_CU(CUDA_SUCCESS, cu.mem_get_allocation_granularity(&granularity, &wanted,
                                                            CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  EXPECT_EQ(granularity, kBlockBytes);
  const CUdeviceptr address = reserve(2 * kBlockBytes);
  const auto first = create(kBlockBytes);
  const auto second = create(kBlockBytes);
  ASSERT_CU(CUDA_SUCCESS, cu.mem_map(address, kBlockBytes, 0, first, 0));
  ASSERT_CU(CUDA_SUCCESS, cu.mem_map(address + kBlockBytes, kBlockBytes, 0, second, 0));
  ASSERT_CU(CUDA_SUCCESS, grant(address, 2 * kBlockBytes, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  const Bytes sent = pattern(100000, 3);
  write(address + kBlockBytes - 50001, sent);
  EXPECT_EQ(read(address + kBlockBytes - 50001, sent.size()), sent);
  // The handles may go: the mappings keep the memory.
  EXPECT_CU(CUDA_SUCCESS, cu.mem_release(first));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_release(second));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_release(second));
  EXPECT_EQ(free_memory(), before - 2 * kBlockBytes);
  EXPECT_EQ(read(address + kBlockBytes - 50001, sent.size()), sent);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_address_free(address, 2 * kBlockBytes));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_unmap(address, 2 * kBlockBytes));
  EXPECT_EQ(free_memory(), before);
  EXPECT_CU(CUDA_SUCCESS, cu.mem_address_free(address, 2 * kBlockBytes));
}

TEST_F(Vmm, NothingIsAccessibleBeforeAccessIsGranted) {
  const CUdeviceptr address = reserve(kBlockBytes);
  const auto handle = create(kBlockBytes);
  unsigned char byte = 5;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.memcpy_htod(address, &byte, 1));
  ASSERT_CU(CUDA_SUCCESS, cu.mem_map(address, kBlockBytes, 0, handle, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.memcpy_htod(address, &byte, 1));
  ASSERT_CU(CUDA_SUCCESS, grant(address, kBlockBytes, CU_MEM_ACCESS_FLAGS_PROT_READWRITE, 1));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.memcpy_htod(address, &byte, 1));  // another device's
  ASSERT_CU(CUDA_SUCCESS, grant(address, kBlockBytes, CU_MEM_ACCESS_FLAGS_PROT_READ));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.memcpy_htod(address, &byte, 1));
  EXPECT_CU(CUDA_SUCCESS, cu.memcpy_dtoh(&byte, address, 1));
  EXPECT_EQ(byte, 0);
  ASSERT_CU(CUDA_SUCCESS, grant(address, kBlockBytes, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  EXPECT_CU(CUDA_SUCCESS, cu.memcpy_htod(address, &byte, 1));
  unsigned long long flags = 0;
  CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  EXPECT_CU(CUDA_SUCCESS, cu.mem_get_access(&flags, &location, address));
  EXPECT_EQ(flags, static_cast<unsigned>(CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_unmap(address, kBlockBytes));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.memcpy_htod(address, &byte, 1));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_release(handle));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_address_free(address, kBlockBytes));
}

TEST_F(Vmm, OneAllocationMayBeMappedTwice) {
  const CUdeviceptr a = reserve(kBlockBytes);
  const CUdeviceptr b = reserve(kBlockBytes);
  const auto handle = create(kBlockBytes);
  ASSERT_CU(CUDA_SUCCESS, cu.mem_map(a, kBlockBytes, 0, handle, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_map(a, kBlockBytes, 0, handle, 0));
  ASSERT_CU(CUDA_SUCCESS, cu.mem_map(b, kBlockBytes, 0, handle, 0));
  ASSERT_CU(CUDA_SUCCESS, grant(a, kBlockBytes, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  ASSERT_CU(CUDA_SUCCESS, grant(b, kBlockBytes, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  write(a + 17, pattern(999, 1));
  EXPECT_EQ(read(b + 17, 999), pattern(999, 1));
  EXPECT_NE(buffer_id(a), buffer_id(b));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_unmap(a, kBlockBytes));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_unmap(b, kBlockBytes));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_release(handle));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_address_free(a, kBlockBytes));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_address_free(b, kBlockBytes));
}

TEST_F(Vmm, ExportedDescriptorCanBeImportedButNotMapped) {
  const CUdeviceptr a = reserve(kBlockBytes);
  const CUdeviceptr b = reserve(kBlockBytes);
  const auto handle = create(kBlockBytes);
  ASSERT_CU(CUDA_SUCCESS, cu.mem_map(a, kBlockBytes, 0, handle, 0));
  ASSERT_CU(CUDA_SUCCESS, grant(a, kBlockBytes, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  write(a, pattern(5000, 9));
  CUmemGenericAllocationHandle retained = 0;
  ASSERT_CU(CUDA_SUCCESS,
            cu.mem_retain_allocation_handle(&retained, reinterpret_cast<void*>(a + 100)));
  int fd = -1;
  ASSERT_CU(CUDA_SUCCESS, cu.mem_export_to_shareable_handle(
                              &fd, retained, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
  CUmemGenericAllocationHandle imported = 0;
  auto as_handle = [](int number) {
    return reinterpret_cast<void*>(static_cast<std::intptr_t>(number));
  };
  ASSERT_CU(CUDA_SUCCESS, cu.mem_import_from_shareable_handle(
                              &imported, as_handle(fd), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  close(fd);
  ASSERT_CU(CUDA_SUCCESS, cu.mem_map(b, kBlockBytes, 0, imported, 0));
  ASSERT_CU(CUDA_SUCCESS, grant(b, kBlockBytes, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  EXPECT_EQ(read(b, 5000), pattern(5000, 9));
  for (int wrong : {0, 1, -1, 9999}) {
    EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
              cu.mem_import_from_shareable_handle(&imported, as_handle(wrong),
                                                  CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  }
  const CUdeviceptr plain = allocate(4096);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cu.mem_retain_allocation_handle(&retained, reinterpret_cast<void*>(plain)));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(plain));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_unmap(a, kBlockBytes));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_unmap(b, kBlockBytes));
}

// What follows was measured on the genuine driver (CUDA 13.0, H200).
TEST_F(Vmm, RangeAttributesTellTheReservationAndMappingAttributesTheMapping) {
  const CUdeviceptr base = reserve(8 * kBlockBytes);
  const CUdeviceptr address = base + kBlockBytes;
  const auto first = create(kBlockBytes);
  const auto second = create(2 * kBlockBytes);
  ASSERT_CU(CUDA_SUCCESS, cu.mem_map(base, kBlockBytes, 0, first, 0));
  ASSERT_CU(CUDA_SUCCESS, cu.mem_map(address, 2 * kBlockBytes, 0, second, 0));
  ASSERT_CU(CUDA_SUCCESS, grant(base, 3 * kBlockBytes, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  auto ask = [&](CUpointer_attribute attribute) {
    std::uint64_t value = 0;
    EXPECT_CU(CUDA_SUCCESS, cu.pointer_get_attribute(&value, attribute, address + 9));
    return value;
  };
  EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR), base);
  EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_RANGE_SIZE), 8 * kBlockBytes);
  EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR), address);
  EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_MAPPING_SIZE), 2 * kBlockBytes);
  CUdeviceptr start = 0;
  std::size_t bytes = 0;
  ASSERT_CU(CUDA_SUCCESS, cu.mem_get_address_range(&start, &bytes, address + 9));
  EXPECT_EQ(start, address);
  EXPECT_EQ(bytes, 2 * kBlockBytes);
  std::uint64_t hole = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cu.pointer_get_attribute(&hole, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                     base + 5 * kBlockBytes));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_unmap(base, 3 * kBlockBytes));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_release(first));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_release(second));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_address_free(base, 8 * kBlockBytes));
}

TEST_F(Vmm, MappingWithoutAccessIsNoDevicePointerYet) {
  const CUdeviceptr address = reserve(kBlockBytes);
  const auto handle = create(kBlockBytes);
  ASSERT_CU(CUDA_SUCCESS, cu.mem_map(address, kBlockBytes, 0, handle, 0));
  CUdeviceptr start = 0;
  unsigned type = 0;
  EXPECT_CU(CUDA_SUCCESS,
            cu.pointer_get_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
  EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cu.pointer_get_attribute(&start, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address));
  EXPECT_CU(CUDA_ERROR_NOT_FOUND, cu.mem_get_address_range(&start, nullptr, address));
  ASSERT_CU(CUDA_SUCCESS, grant(address, kBlockBytes, CU_MEM_ACCESS_FLAGS_PROT_READ));
  EXPECT_CU(CUDA_SUCCESS,
            cu.pointer_get_attribute(&start, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address + 1));
  EXPECT_EQ(start, address + 1);
  EXPECT_CU(CUDA_SUCCESS, cu.mem_get_address_range(&start, nullptr, address + 1));
  unsigned on = 1;
  EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED,
            cu.pointer_set_attribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, address));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_unmap(address, kBlockBytes));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_release(handle));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_address_free(address, kBlockBytes));
}

TEST_F(Vmm, DmaBufSpansAdjacentMappingsOfAnyKindButNoHole) {
  CUmemAllocationProp plain = properties();
  plain.allocFlags.gpuDirectRDMACapable = 0;
  CUmemGenericAllocationHandle first = 0;
  ASSERT_CU(CUDA_SUCCESS, cu.mem_create(&first, kBlockBytes, &plain, 0));
  const auto second = create(kBlockBytes);
  const CUdeviceptr address = reserve(3 * kBlockBytes);
  ASSERT_CU(CUDA_SUCCESS, cu.mem_map(address, kBlockBytes, 0, first, 0));
  ASSERT_CU(CUDA_SUCCESS, cu.mem_map(address + kBlockBytes, kBlockBytes, 0, second, 0));
  auto descriptor = [&](CUdeviceptr from, std::size_t bytes) {
    int fd = -1;
    const CUresult r = cu.mem_get_handle_for_address_range(&fd, from, bytes,
                                                           CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
    if (r == CUDA_SUCCESS) {
      EXPECT_EQ(lseek(fd, 0, SEEK_END), static_cast<off_t>(bytes));
      close(fd);
    }
    return r;
  };
  EXPECT_CU(CUDA_SUCCESS, descriptor(address, kBlockBytes));
  EXPECT_CU(CUDA_SUCCESS, descriptor(address + kBlockBytes - 4096, 8192));
  EXPECT_CU(CUDA_SUCCESS, descriptor(address, 2 * kBlockBytes));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, descriptor(address, 3 * kBlockBytes));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, descriptor(address + 2 * kBlockBytes, 4096));
  auto capable = [&](CUdeviceptr at) {
    unsigned char answer = 9;
    EXPECT_CU(CUDA_SUCCESS, cu.pointer_get_attribute(
                                &answer, CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE, at));
    return answer;
  };
  EXPECT_EQ(capable(address), 0);
  EXPECT_EQ(capable(address + kBlockBytes), 1);
  EXPECT_CU(CUDA_SUCCESS, cu.mem_unmap(address, 2 * kBlockBytes));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_release(first));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_release(second));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_address_free(address, 3 * kBlockBytes));
}

TEST_F(Vmm, AllocationsAreMappedWhole) {
  const CUdeviceptr address = reserve(4 * kBlockBytes);
  const auto handle = create(2 * kBlockBytes);
  EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, cu.mem_map(address, kBlockBytes, 0, handle, 0));
  EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, cu.mem_map(address, 4 * kBlockBytes, 0, handle, 0));
  EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, cu.mem_map(address, kBlockBytes, kBlockBytes, handle, 0));
  EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, cu.mem_map(address, 4096, 0, handle, 0));
  ASSERT_CU(CUDA_SUCCESS, cu.mem_map(address, 2 * kBlockBytes, 0, handle, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, grant(address, kBlockBytes, CU_MEM_ACCESS_FLAGS_PROT_READ));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_unmap(address, kBlockBytes));
  // A handle that is retained after its release has its first number again.
  EXPECT_CU(CUDA_SUCCESS, cu.mem_release(handle));
  CUmemGenericAllocationHandle retained = 0;
  EXPECT_CU(CUDA_SUCCESS,
            cu.mem_retain_allocation_handle(&retained, reinterpret_cast<void*>(address)));
  EXPECT_EQ(retained, handle);
  EXPECT_CU(CUDA_SUCCESS, cu.mem_unmap(address, 2 * kBlockBytes));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_release(handle));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_address_free(address, 4 * kBlockBytes));
}

TEST_F(Vmm, OnlyWhatWasMadeForItIsExported) {
  CUmemAllocationProp plain = properties();
  plain.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
  CUmemGenericAllocationHandle handle = 0;
  ASSERT_CU(CUDA_SUCCESS, cu.mem_create(&handle, kBlockBytes, &plain, 0));
  int fd = -1;
  EXPECT_CU(
      CUDA_ERROR_INVALID_VALUE,
      cu.mem_export_to_shareable_handle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CUmemAllocationProp told{};
  EXPECT_CU(CUDA_SUCCESS, cu.mem_get_allocation_properties_from_handle(&told, handle));
  EXPECT_EQ(told.requestedHandleTypes, CU_MEM_HANDLE_TYPE_NONE);
  EXPECT_EQ(told.location.id, 0);
  EXPECT_CU(CUDA_SUCCESS, cu.mem_release(handle));
}

TEST_F(Vmm, ReservationHonoursAFreeAddressAndAnAlignment) {
  const CUdeviceptr first = reserve(2 * kBlockBytes);
  EXPECT_CU(CUDA_SUCCESS, cu.mem_address_free(first, 2 * kBlockBytes));
  const CUdeviceptr wanted = first + 64 * kBlockBytes;
  CUdeviceptr second = 0;
  ASSERT_CU(CUDA_SUCCESS, cu.mem_address_reserve(&second, kBlockBytes, 0, wanted, 0));
  EXPECT_EQ(second, wanted);
  CUdeviceptr third = 0;  // taken: somewhere else then
  ASSERT_CU(CUDA_SUCCESS, cu.mem_address_reserve(&third, kBlockBytes, 0, wanted, 0));
  EXPECT_NE(third, wanted);
  CUdeviceptr aligned = 0;
  ASSERT_CU(CUDA_SUCCESS, cu.mem_address_reserve(&aligned, kBlockBytes, 1 << 30, 0, 0));
  EXPECT_EQ(aligned % (1 << 30), 0u);
  CUdeviceptr none = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_address_reserve(&none, kBlockBytes, 3, 0, 0));
  for (CUdeviceptr one : {second, third, aligned}) {
    EXPECT_CU(CUDA_SUCCESS, cu.mem_address_free(one, kBlockBytes));
  }
}

TEST_F(Vmm, UnmapWaitsForTheCopiesThatUseTheMapping) {
  const CUdeviceptr address = reserve(kBlockBytes);
  const auto handle = create(kBlockBytes);
  ASSERT_CU(CUDA_SUCCESS, cu.mem_map(address, kBlockBytes, 0, handle, 0));
  ASSERT_CU(CUDA_SUCCESS, grant(address, kBlockBytes, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  Gate gate;
  CUstream stream = nullptr;
  ASSERT_CU(CUDA_SUCCESS, cu.stream_create(&stream, CU_STREAM_NON_BLOCKING));
  ASSERT_CU(CUDA_SUCCESS, cu.launch_host_func(stream, Gate::wait, &gate));
  ASSERT_CU(CUDA_SUCCESS, cu.memset_d8_async(address, 1, kBlockBytes, stream));
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    gate.open = true;
  });
  EXPECT_CU(CUDA_SUCCESS, cu.mem_unmap(address, kBlockBytes));
  EXPECT_CU(CUDA_SUCCESS, cu.stream_query(stream));
  opener.join();
  EXPECT_CU(CUDA_SUCCESS, cu.stream_destroy(stream));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_release(handle));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_address_free(address, kBlockBytes));
}

TEST_F(Vmm, ForgedDescriptorIsRefused) {
  const int fd = memfd_create("gdrkit-soft-gpu:0:1:", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_EQ(ftruncate(fd, kBlockBytes + 4096), 0);
  CUmemGenericAllocationHandle imported = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cu.mem_import_from_shareable_handle(
                &imported, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)),
                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  close(fd);
}

TEST_F(Vmm, RefusesWhatIsNotAligned) {
  const CUmemAllocationProp wanted = properties();
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr address = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_create(&handle, 4096, &wanted, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_address_reserve(&address, 4096, 0, 0, 0));
  const CUmemAllocationProp missing = properties(9);
  EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cu.mem_create(&handle, kBlockBytes, &missing, 0));
  address = reserve(kBlockBytes);
  handle = create(2 * kBlockBytes);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_map(address, 2 * kBlockBytes, 0, handle, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_map(address + 4096, kBlockBytes, 0, handle, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_unmap(address, kBlockBytes));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_release(handle));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_address_free(address, kBlockBytes));
}

}  // namespace
}  // namespace gdr::softgpu
