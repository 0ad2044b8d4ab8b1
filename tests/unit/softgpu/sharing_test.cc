// Memory of another process. The other one is this program again, started as "--owner" with a
// socket in the place of descriptor 3: it carries out one command at a time.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "send_descriptors.h"
#include "soft_gpu.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

constexpr int kSocket = 3;
constexpr std::size_t kSmall = 3000;
constexpr std::size_t kLarge = 5 << 20;
constexpr std::size_t kMapped = 2 << 20;

// What the owner tells of its memory.
struct Offer {
  CUipcMemHandle small;
  CUipcMemHandle large;
  CUmemPoolPtrExportData pooled;
};

bool receive_descriptors(int socket, Offer& offer, int (&fds)[2]) {
  iovec data{&offer, sizeof offer};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fds)] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != sizeof offer) return false;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_len != CMSG_LEN(sizeof fds)) return false;
  std::memcpy(fds, CMSG_DATA(header), sizeof fds);
  return true;
}

// The owner's side. Commands: 'r' read the small buffer back and send it, 'f' free all, 'q' quit.
int own_memory() {
  const Driver& cu = soft_cuda();
  CUcontext context = nullptr;
  if (cu.init(0) || cu.device_primary_ctx_retain(&context, 0) || cu.ctx_set_current(context)) {
    return 10;
  }
  CUdeviceptr small = 0;
  CUdeviceptr large = 0;
  CUdeviceptr mapped = 0;
  CUdeviceptr pooled = 0;
  Offer offer{};
  int fds[2] = {-1, -1};
  CUmemAllocationProp wanted{};
  wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  wanted.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemAccessDesc access{wanted.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CUmemGenericAllocationHandle handle = 0;
  CUmemPoolProps of_pool{};
  of_pool.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  of_pool.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  of_pool.location = wanted.location;
  CUmemoryPool pool = nullptr;
  const Bytes first = pattern(kSmall, 1);
  const Bytes second = pattern(kLarge, 2);
  const Bytes third = pattern(kMapped, 3);
  if (cu.mem_alloc(&small, kSmall) || cu.mem_alloc(&large, kLarge) ||
      cu.mem_create(&handle, kMapped, &wanted, 0) ||
      cu.mem_address_reserve(&mapped, kMapped, 0, 0, 0) ||
      cu.mem_map(mapped, kMapped, 0, handle, 0) || cu.mem_set_access(mapped, kMapped, &access, 1) ||
      cu.mem_pool_create(&pool, &of_pool) ||
      cu.mem_alloc_from_pool_async(&pooled, kSmall, pool, nullptr)) {
    return 11;
  }
  if (cu.memcpy_htod(small, first.data(), kSmall) || cu.memcpy_htod(large, second.data(), kLarge) ||
      cu.memcpy_htod(mapped, third.data(), kMapped) ||
      cu.memcpy_htod(pooled, first.data(), kSmall)) {
    return 12;
  }
  const auto type = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  if (cu.ipc_get_mem_handle(&offer.small, small + 5) ||
      cu.ipc_get_mem_handle(&offer.large, large) ||
      cu.mem_export_to_shareable_handle(&fds[0], handle, type, 0) ||
      cu.mem_pool_export_to_shareable_handle(&fds[1], pool, type, 0) ||
      cu.mem_pool_export_pointer(&offer.pooled, pooled)) {
    return 13;
  }
  test::send_descriptors(kSocket, &offer, sizeof offer, fds);
  char command = 0;
  while (::read(kSocket, &command, 1) == 1 && command != 'q') {
    if (command == 'r') {
      Bytes now(kSmall);
      if (cu.memcpy_dtoh(now.data(), small, kSmall)) return 14;
      if (::write(kSocket, now.data(), kSmall) != static_cast<ssize_t>(kSmall)) return 15;
    }
    if (command == 'f') {
      if (cu.mem_free(small) || cu.mem_free(large)) return 16;
      // The same place again, for other data.
      if (cu.mem_alloc(&small, kSmall) || cu.mem_alloc(&large, kLarge)) return 17;
      if (::write(kSocket, "k", 1) != 1) return 18;
    }
  }
  return 0;
}

class Sharing : public SoftGpu {
 protected:
  void SetUp() override {
    SoftGpu::SetUp();
    int pair[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    owner_ = fork();
    if (owner_ == 0) {
      if (pair[1] != kSocket) {
        dup2(pair[1], kSocket);
      } else {
        fcntl(kSocket, F_SETFD, 0);
      }
      execl("/proc/self/exe", "softgpu_sharing_test", "--owner", nullptr);
      _exit(127);
    }
    close(pair[1]);
    socket_ = pair[0];
    ASSERT_TRUE(receive_descriptors(socket_, offer_, fds_));
  }
  void TearDown() override {
    if (owner_ > 0) {
      EXPECT_EQ(end_owner(), 0);
    }
    close(socket_);
    for (int fd : fds_) close(fd);
    SoftGpu::TearDown();
  }
  int end_owner(int signal = 0) {
    if (signal != 0) {
      kill(owner_, signal);
    } else {
      command('q');
    }
    int status = 0;
    waitpid(owner_, &status, 0);
    owner_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  void command(char letter) { ASSERT_EQ(::write(socket_, &letter, 1), 1); }
  Bytes answer(std::size_t bytes) {
    Bytes out(bytes);
    EXPECT_EQ(recv(socket_, out.data(), bytes, MSG_WAITALL), static_cast<ssize_t>(bytes));
    return out;
  }

  pid_t owner_ = 0;
  int socket_ = -1;
  int fds_[2] = {-1, -1};
  Offer offer_{};
};

TEST_F(Sharing, OpenedMemoryIsTheOwnersOwn) {
  CUdeviceptr small = 0;
  CUdeviceptr large = 0;
  ASSERT_CU(CUDA_SUCCESS, cu.ipc_open_mem_handle(&small, offer_.small, 1));
  ASSERT_CU(CUDA_SUCCESS, cu.ipc_open_mem_handle(&large, offer_.large, 1));
  EXPECT_EQ(read(small, kSmall), pattern(kSmall, 1));
  EXPECT_EQ(read(large, kLarge), pattern(kLarge, 2));
  write(small + 100, pattern(50, 77));
  Bytes wanted = pattern(kSmall, 1);
  const Bytes patch = pattern(50, 77);
  std::copy(patch.begin(), patch.end(), wanted.begin() + 100);
  command('r');
  EXPECT_EQ(answer(kSmall), wanted);
  unsigned char byte = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.memcpy_dtoh(&byte, small + kSmall, 1));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_free(small));
  EXPECT_CU(CUDA_SUCCESS, cu.ipc_close_mem_handle(small));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.ipc_close_mem_handle(small));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.memcpy_dtoh(&byte, small, 1));
  EXPECT_CU(CUDA_SUCCESS, cu.ipc_close_mem_handle(large));
}

TEST_F(Sharing, OpeningTwiceGivesOneAddressThatMustBeClosedTwice) {
  CUdeviceptr first = 0;
  CUdeviceptr second = 0;
  ASSERT_CU(CUDA_SUCCESS, cu.ipc_open_mem_handle(&first, offer_.large, 1));
  ASSERT_CU(CUDA_SUCCESS, cu.ipc_open_mem_handle(&second, offer_.large, 1));
  EXPECT_EQ(first, second);
  EXPECT_CU(CUDA_SUCCESS, cu.ipc_close_mem_handle(first));
  const Bytes all = pattern(kLarge, 2);
  EXPECT_EQ(read(first, 100), Bytes(all.begin(), all.begin() + 100));
  EXPECT_CU(CUDA_SUCCESS, cu.ipc_close_mem_handle(first));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.ipc_close_mem_handle(first));
}

TEST_F(Sharing, OnlyOneContextOfEachGpuMayOpenHandlesOfOneProcess) {
  CUdeviceptr first = 0;
  CUdeviceptr second = 0;
  CUcontext other = nullptr;
  CUcontext on_other_gpu = nullptr;
  CUcontext popped = nullptr;
  ASSERT_CU(CUDA_SUCCESS, cu.ipc_open_mem_handle(&first, offer_.large, 1));
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_create(&other, 0, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cu.ipc_open_mem_handle(&second, offer_.large, 1));
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cu.ipc_open_mem_handle(&second, offer_.small, 1));
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_create(&on_other_gpu, 0, 1));
  EXPECT_CU(CUDA_SUCCESS, cu.ipc_open_mem_handle(&second, offer_.large, 1));
  EXPECT_CU(CUDA_SUCCESS, cu.ipc_close_mem_handle(second));
  EXPECT_CU(CUDA_SUCCESS, cu.ctx_destroy(on_other_gpu));
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_pop_current(&popped));
  EXPECT_CU(CUDA_SUCCESS, cu.ipc_close_mem_handle(first));
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_push_current(other));
  EXPECT_CU(CUDA_SUCCESS, cu.ipc_open_mem_handle(&second, offer_.small, 1));
  EXPECT_CU(CUDA_SUCCESS, cu.ipc_close_mem_handle(second));
  EXPECT_CU(CUDA_SUCCESS, cu.ctx_destroy(other));
}

TEST_F(Sharing, HandleOfFreedMemoryIsRefusedEvenWhereNewMemoryTookItsPlace) {
  command('f');
  ASSERT_EQ(answer(1)[0], 'k');
  CUdeviceptr address = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.ipc_open_mem_handle(&address, offer_.small, 1));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.ipc_open_mem_handle(&address, offer_.large, 1));
}

TEST_F(Sharing, MemoryOfAKilledProcessCanBeClosedAndNotBeOpened) {
  CUdeviceptr address = 0;
  ASSERT_CU(CUDA_SUCCESS, cu.ipc_open_mem_handle(&address, offer_.large, 1));
  EXPECT_EQ(end_owner(SIGKILL), 128 + SIGKILL);
  EXPECT_EQ(read(address, kLarge), pattern(kLarge, 2));
  CUdeviceptr other = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.ipc_open_mem_handle(&other, offer_.small, 1));
  EXPECT_CU(CUDA_SUCCESS, cu.ipc_close_mem_handle(address));
}

TEST_F(Sharing, ForgedHandlesAreRefused) {
  CUdeviceptr address = 0;
  for (std::size_t byte = 0; byte < sizeof offer_.small.reserved; ++byte) {
    CUipcMemHandle forged = offer_.small;
    forged.reserved[byte] = static_cast<char>(forged.reserved[byte] ^ 0x41);
    EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.ipc_open_mem_handle(&address, forged, 1)) << byte;
  }
  CUipcMemHandle empty{};
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.ipc_open_mem_handle(&address, empty, 1));
  // A pool's pointer is not an IPC handle.
  std::memcpy(&empty, &offer_.pooled, sizeof empty);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.ipc_open_mem_handle(&address, empty, 1));
}

TEST_F(Sharing, OwnHandleCannotBeOpened) {
  const CUdeviceptr mine = allocate(4096);
  CUipcMemHandle handle{};
  ASSERT_CU(CUDA_SUCCESS, cu.ipc_get_mem_handle(&handle, mine));
  CUdeviceptr address = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cu.ipc_open_mem_handle(&address, handle, 1));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.ipc_open_mem_handle(&address, handle, 0));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(mine));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.ipc_get_mem_handle(&handle, mine));
}

TEST_F(Sharing, MappedMemoryTravelsAsADescriptor) {
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr address = 0;
  CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  ASSERT_CU(CUDA_SUCCESS, cu.mem_import_from_shareable_handle(
                              &handle, reinterpret_cast<void*>(static_cast<std::intptr_t>(fds_[0])),
                              CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  ASSERT_CU(CUDA_SUCCESS, cu.mem_address_reserve(&address, kMapped, 0, 0, 0));
  ASSERT_CU(CUDA_SUCCESS, cu.mem_map(address, kMapped, 0, handle, 0));
  ASSERT_CU(CUDA_SUCCESS, cu.mem_set_access(address, kMapped, &access, 1));
  EXPECT_EQ(read(address, kMapped), pattern(kMapped, 3));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_unmap(address, kMapped));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_release(handle));
}

TEST_F(Sharing, PoolMemoryTravelsAsDescriptorAndPointer) {
  CUmemoryPool pool = nullptr;
  CUdeviceptr address = 0;
  ASSERT_CU(CUDA_SUCCESS, cu.mem_pool_import_from_shareable_handle(
                              &pool, reinterpret_cast<void*>(static_cast<std::intptr_t>(fds_[1])),
                              CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  ASSERT_CU(CUDA_SUCCESS, cu.mem_pool_import_pointer(&address, pool, &offer_.pooled));
  EXPECT_EQ(read(address, kSmall), pattern(kSmall, 1));
  // Another pool's pointer it is not.
  CUmemPoolProps of_pool{};
  of_pool.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  of_pool.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  of_pool.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemoryPool own = nullptr;
  CUmemoryPool own_imported = nullptr;
  int fd = -1;
  ASSERT_CU(CUDA_SUCCESS, cu.mem_pool_create(&own, &of_pool));
  ASSERT_CU(CUDA_SUCCESS, cu.mem_pool_export_to_shareable_handle(
                              &fd, own, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  ASSERT_CU(CUDA_SUCCESS,
            cu.mem_pool_import_from_shareable_handle(
                &own_imported, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)),
                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  close(fd);
  CUdeviceptr none = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cu.mem_pool_import_pointer(&none, own_imported, &offer_.pooled));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_pool_import_pointer(&none, own, &offer_.pooled));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_pool_destroy(own_imported));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_pool_destroy(own));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_alloc_from_pool_async(&address, 64, pool, nullptr));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free_async(address, nullptr));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_pool_destroy(pool));
}

}  // namespace
}  // namespace gdr::softgpu

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--owner") return gdr::softgpu::own_memory();
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
