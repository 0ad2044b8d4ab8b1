#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <csignal>
#include <set>

#include "cuda/soft_dma_buf.h"
#include "soft_gpu.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

class Memory : public SoftGpu {};
using MemoryDeathTest = Memory;

TEST_F(MemoryDeathTest, CpuAccessToDeviceMemoryFaults) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const CUdeviceptr address = allocate(4096);
  auto* bytes = reinterpret_cast<volatile unsigned char*>(address);
  EXPECT_DEATH(bytes[0] = 1, "");
  EXPECT_DEATH((void)bytes[4095], "");
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(address));
}

TEST_F(Memory, ProcessVmReadvGivesEfault) {
  const CUdeviceptr address = allocate(4096);
  unsigned char byte = 0;
  iovec local{&byte, 1};
  iovec remote{reinterpret_cast<void*>(address), 1};
  errno = 0;
  EXPECT_EQ(process_vm_readv(getpid(), &local, 1, &remote, 1, 0), -1);
  EXPECT_EQ(errno, EFAULT);
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(address));
}

TEST_F(Memory, SmallAllocationsAreApartAndHaveIdentitiesOfTheirOwn) {
  std::set<std::uint64_t> ids;
  std::vector<CUdeviceptr> all;
  for (std::size_t i = 0; i < 64; ++i) {
    const CUdeviceptr address = allocate(1 + i * 37);
    EXPECT_EQ(address % 512, 0u);
    write(address, pattern(1 + i * 37, i));
    ids.insert(buffer_id(address));
    all.push_back(address);
  }
  EXPECT_EQ(ids.size(), 64u);
  for (std::size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(read(all[i], 1 + i * 37), pattern(1 + i * 37, i));
    EXPECT_CU(CUDA_SUCCESS, cu.mem_free(all[i]));
  }
}

TEST_F(Memory, AnAddressUsedAgainHasANewBufferId) {
  const CUdeviceptr first = allocate(8 << 20);
  const std::uint64_t id = buffer_id(first);
  ASSERT_CU(CUDA_SUCCESS, cu.mem_free(first));
  const CUdeviceptr second = allocate(8 << 20);
  EXPECT_EQ(first, second);
  EXPECT_NE(buffer_id(second), id);
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(second));
}

TEST_F(Memory, RefusesToFreeWhatItDidNotAllocate) {
  const CUdeviceptr address = allocate(4096);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_free(address + 512));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(0));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(address));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_free(address));
  int on_stack = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_free(reinterpret_cast<CUdeviceptr>(&on_stack)));
}

TEST_F(Memory, AllocatesNoMoreThanTheDeviceHas) {
  const std::size_t before = free_memory();
  CUdeviceptr address = 0;
  EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cu.mem_alloc(&address, before + 1));
  EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cu.mem_alloc(&address, ~std::size_t{0}));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_alloc(&address, 0));
  address = allocate(3 << 20);
  EXPECT_EQ(free_memory(), before - (4 << 20));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(address));
  EXPECT_EQ(free_memory(), before);
}

TEST_F(Memory, FindsTheRangeOfAnInteriorPointer) {
  const CUdeviceptr address = allocate(100000);
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  ASSERT_CU(CUDA_SUCCESS, cu.mem_get_address_range(&base, &bytes, address + 99999));
  EXPECT_EQ(base, address);
  EXPECT_EQ(bytes, 100000u);
  EXPECT_CU(CUDA_ERROR_NOT_FOUND, cu.mem_get_address_range(&base, &bytes, 4096));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(address));
}

TEST_F(Memory, PointerAttributesTellDeviceFromHost) {
  const CUdeviceptr address = allocate(4096);
  void* pinned = nullptr;
  ASSERT_CU(CUDA_SUCCESS, cu.mem_host_alloc(&pinned, 4096, 0));
  unsigned type = 0;
  ASSERT_CU(CUDA_SUCCESS,
            cu.pointer_get_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address + 7));
  EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
  ASSERT_CU(CUDA_SUCCESS, cu.pointer_get_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                   reinterpret_cast<CUdeviceptr>(pinned)));
  EXPECT_EQ(type, CU_MEMORYTYPE_HOST);
  int on_stack = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cu.pointer_get_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                     reinterpret_cast<CUdeviceptr>(&on_stack)));
  // What backs a small allocation is a block of 2 MiB, as on hardware.
  CUdeviceptr mapping = 0;
  std::size_t bytes = 0;
  ASSERT_CU(CUDA_SUCCESS, cu.pointer_get_attribute(&mapping, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR,
                                                   address + 7));
  ASSERT_CU(CUDA_SUCCESS,
            cu.pointer_get_attribute(&bytes, CU_POINTER_ATTRIBUTE_MAPPING_SIZE, address + 7));
  EXPECT_EQ(bytes, 2u << 20);
  EXPECT_LE(mapping, address);
  EXPECT_GT(mapping + bytes, address);
  ASSERT_CU(CUDA_SUCCESS,
            cu.pointer_get_attribute(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address + 7));
  EXPECT_EQ(bytes, 4096u);
  int fd = -1;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cu.mem_get_handle_for_address_range(&fd, reinterpret_cast<CUdeviceptr>(pinned), 4096,
                                                CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free_host(pinned));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_free_host(pinned));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(address));
}

TEST_F(Memory, AttributesInOneCallAnswerNullForUnknownPointers) {
  CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                  CU_POINTER_ATTRIBUTE_IS_MANAGED};
  unsigned type = 77;
  int ordinal = 77;
  unsigned char managed = 77;
  void* values[] = {&type, &ordinal, &managed};
  ASSERT_CU(CUDA_SUCCESS,
            cu.pointer_get_attributes(3, wanted, values, reinterpret_cast<CUdeviceptr>(&type)));
  EXPECT_EQ(type, 0u);
  EXPECT_EQ(ordinal, kDeviceInvalid);
  EXPECT_EQ(managed, 0);
  const CUdeviceptr address = allocate(64);
  ASSERT_CU(CUDA_SUCCESS, cu.pointer_get_attributes(3, wanted, values, address));
  EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(ordinal, 0);
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(address));
}

TEST_F(Memory, SyncMemopsCanBeSet) {
  const CUdeviceptr address = allocate(64);
  unsigned on = 1;
  unsigned char seen = 0;
  ASSERT_CU(CUDA_SUCCESS, cu.pointer_set_attribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, address));
  ASSERT_CU(CUDA_SUCCESS,
            cu.pointer_get_attribute(&seen, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, address));
  EXPECT_EQ(seen, 1);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cu.pointer_set_attribute(&on, CU_POINTER_ATTRIBUTE_BUFFER_ID, address));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(address));
}

TEST_F(Memory, PinnedHostMemoryOfNoBytesIsNoError) {
  void* pinned = &pinned;
  EXPECT_CU(CUDA_SUCCESS, cu.mem_host_alloc(&pinned, 0, 0));
  EXPECT_EQ(pinned, nullptr);
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free_host(pinned));
  ASSERT_CU(CUDA_SUCCESS, cu.mem_host_alloc(&pinned, 64, CU_MEMHOSTALLOC_PORTABLE_FLAG));
  unsigned flags = 0;
  EXPECT_CU(CUDA_SUCCESS, cu.mem_host_get_flags(&flags, static_cast<char*>(pinned) + 9));
  EXPECT_EQ(flags, CU_MEMHOSTALLOC_PORTABLE_FLAG | CU_MEMHOSTALLOC_DEVICEMAP_FLAG);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_host_unregister(pinned));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_free(reinterpret_cast<CUdeviceptr>(pinned)));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free_host(pinned));
}

TEST_F(Memory, RegisteredHostMemoryIsKnownUntilItIsUnregistered) {
  Bytes host(10000);
  unsigned type = 0;
  const auto address = reinterpret_cast<CUdeviceptr>(host.data());
  ASSERT_CU(CUDA_SUCCESS, cu.mem_host_register(host.data(), host.size(), 0));
  EXPECT_CU(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
            cu.mem_host_register(host.data() + 9999, 1, 0));
  EXPECT_CU(CUDA_SUCCESS,
            cu.pointer_get_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
  unsigned flags = 0;
  EXPECT_CU(CUDA_SUCCESS, cu.mem_host_get_flags(&flags, host.data()));
  EXPECT_EQ(flags, static_cast<unsigned>(CU_MEMHOSTREGISTER_DEVICEMAP_FLAG));
  CUdeviceptr device = 0;
  EXPECT_CU(CUDA_SUCCESS, cu.mem_host_get_device_pointer(&device, host.data() + 5, 0));
  EXPECT_EQ(device, address + 5);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_host_unregister(host.data() + 1));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_free_host(host.data()));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_host_unregister(host.data()));
  EXPECT_CU(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cu.mem_host_unregister(host.data()));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_host_get_flags(&flags, host.data()));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_host_get_device_pointer(&device, host.data(), 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cu.pointer_get_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
}

TEST_F(Memory, DmaBufHasTheSizeOfTheRangeAndCannotBeMapped) {
  const CUdeviceptr address = allocate(8 << 20);
  int fd = -1;
  ASSERT_CU(CUDA_SUCCESS,
            cu.mem_get_handle_for_address_range(&fd, address + 65536, 1 << 20,
                                                CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
  EXPECT_EQ(lseek(fd, 0, SEEK_END), 1 << 20);
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0), MAP_FAILED);
  char byte = 0;
  EXPECT_EQ(pread(fd, &byte, 1, 0), -1);
  EXPECT_EQ(pwrite(fd, &byte, 1, 0), -1);
  EXPECT_NE(ftruncate(fd, 0), 0);
  auto identity = identify_soft_dma_buf(fd);
  ASSERT_TRUE(identity);
  EXPECT_EQ(identity->process, getpid());
  EXPECT_EQ(identity->address, address + 65536);
  EXPECT_EQ(identity->bytes, 1u << 20);
  EXPECT_EQ(identity->buffer_id, buffer_id(address));
  close(fd);
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(address));
}

TEST_F(Memory, DmaBufTellsNothingWhereItIsToldSo) {
  const CUdeviceptr address = allocate(2 << 20);
  int fd = -1;
  setenv("GDR_SOFT_DMA_BUF", "anonymous", 1);
  EXPECT_CU(CUDA_SUCCESS, cu.mem_get_handle_for_address_range(
                              &fd, address, 1 << 20, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
  EXPECT_EQ(lseek(fd, 0, SEEK_END), 1 << 20);
  EXPECT_FALSE(identify_soft_dma_buf(fd));
  close(fd);
  setenv("GDR_SOFT_DMA_BUF", "sometimes", 1);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cu.mem_get_handle_for_address_range(&fd, address, 1 << 20,
                                                CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
  unsetenv("GDR_SOFT_DMA_BUF");
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(address));
}

TEST_F(Memory, DmaBufIsRefusedWhereTheDriverRefusesIt) {
  const CUdeviceptr address = allocate(2 << 20);
  const auto type = CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD;
  int fd = -1;
  EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED,
            cu.mem_get_handle_for_address_range(&fd, address, 4096, type,
                                                CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cu.mem_get_handle_for_address_range(&fd, address + 512, 4096, type, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cu.mem_get_handle_for_address_range(&fd, address, 4000, type, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cu.mem_get_handle_for_address_range(&fd, address, 4 << 20, type, 0));
  ASSERT_CU(CUDA_SUCCESS, cu.mem_free(address));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cu.mem_get_handle_for_address_range(&fd, address, 4096, type, 0));
  EXPECT_EQ(fd, -1);
}

TEST(SoftDmaBufName, OtherDescriptorsAreNotTakenForOne) {
  EXPECT_FALSE(identify_soft_dma_buf(-1));
  EXPECT_FALSE(identify_soft_dma_buf(0));
  for (const char* name :
       {"gdrkit-soft-dma-buf:", "gdrkit-soft-dma-buf:1:2:3", "x",
        "gdrkit-soft-dma-buf:1:ffffffffffffffff:2:1:", "gdrkit-soft-dma-buf:0:1000:1000:1:",
        "gdrkit-soft-dma-buf:1:1000:0:1:"}) {
    const int fd = memfd_create(name, MFD_CLOEXEC);
    EXPECT_FALSE(identify_soft_dma_buf(fd)) << name;
    close(fd);
  }
}

}  // namespace
}  // namespace gdr::softgpu
