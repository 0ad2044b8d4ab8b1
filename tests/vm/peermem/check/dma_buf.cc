#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "../../byte_check/memory.h"
#include "cases.h"
#include "device_buffer.h"
#include "fail.h"
#include "loopback.h"

namespace peermem_check {
namespace {

constexpr std::size_t kBytes = 1 << 20;
constexpr std::uint64_t kIova = 0x5000'0000'0000;  // no address of this process

struct Host {
  explicit Host(Loopback& nic)
      : bytes(kBytes), region(ibv_reg_mr(nic.pd(), bytes.data(), kBytes, kRights)) {
    if (!region) fail("ibv_reg_mr");
  }
  ~Host() { ibv_dereg_mr(region); }

  std::vector<std::uint8_t> bytes;
  ibv_mr* region;
};

ibv_mr* register_buffer(Loopback& nic, const DeviceBuffer& buffer, std::uint64_t offset,
                        std::size_t length, std::uint64_t iova) {
  ibv_mr* region = ibv_reg_dmabuf_mr(nic.pd(), offset, length, iova, buffer.fd(), kRights);
  if (!region) fail("ibv_reg_dmabuf_mr");
  return region;
}

void require_pattern(const std::uint8_t* bytes, std::size_t count, std::uint64_t seed,
                     const char* when) {
  const std::string wrong = byte_check::difference(bytes, count, seed);
  require(wrong.empty(), std::string(when) + ": " + wrong);
}

void write_and_read(Loopback& nic, Host& host, const DeviceBuffer& buffer, ibv_mr* region) {
  byte_check::fill(host.bytes.data(), kBytes, 1);
  require(nic.write(host.bytes.data(), host.region->lkey, kIova, region->rkey, kBytes) ==
              IBV_WC_SUCCESS,
          "RDMA write to a dma-buf");
  require_pattern(buffer.data(), kBytes, 1, "after the write");
  byte_check::fill(buffer.data(), kBytes, 2);
  require(
      nic.read(host.bytes.data(), host.region->lkey, kIova, region->rkey, kBytes) == IBV_WC_SUCCESS,
      "RDMA read from a dma-buf");
  require_pattern(host.bytes.data(), kBytes, 2, "after the read");
}

// A part of the buffer, which begins and ends within pages; the rest are guards.
void write_to_a_part(Loopback& nic, Host& host, const DeviceBuffer& buffer) {
  constexpr std::size_t kAt = 70001, kLength = 33333;
  ibv_mr* region = register_buffer(nic, buffer, kAt, kLength, kIova + kAt);
  byte_check::fill(buffer.data(), kBytes, 3);
  byte_check::fill(host.bytes.data(), kLength, 4);
  require(nic.write(host.bytes.data(), host.region->lkey, kIova + kAt, region->rkey, kLength) ==
              IBV_WC_SUCCESS,
          "RDMA write to a part of a dma-buf");
  require_pattern(buffer.data() + kAt, kLength, 4, "in the part");
  byte_check::fill(buffer.data() + kAt, kLength, 0);
  std::vector<std::uint8_t> expected(kBytes);
  byte_check::fill(expected.data(), kBytes, 3);
  byte_check::fill(expected.data() + kAt, kLength, 0);
  require(std::equal(expected.begin(), expected.end(), buffer.data()), "bytes beside the part");
  require(ibv_dereg_mr(region) == 0, "ibv_dereg_mr");
}

void refuse(Loopback& nic, int fd, std::uint64_t offset, std::size_t length, std::uint64_t iova,
            const char* what) {
  errno = 0;
  const ibv_mr* region = ibv_reg_dmabuf_mr(nic.pd(), offset, length, iova, fd, kRights);
  require(!region && (errno == EINVAL || errno == EBADF), std::string(what) + " is registered");
}

// The buffer's descriptor, from a process that exports it and is killed then.
int from_a_process_that_dies() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) fail("socketpair");
  const pid_t exporter = fork();
  char control[CMSG_SPACE(sizeof(int))] = {};
  char byte = 'x';
  iovec part{&byte, 1};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (exporter == 0) {
    const DeviceBuffer buffer(kBytes);
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    const int fd = buffer.fd();
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    if (sendmsg(ends[1], &message, 0) != 1) _exit(1);
    for (;;) pause();
  }
  if (recvmsg(ends[0], &message, MSG_CMSG_CLOEXEC) != 1) fail("recvmsg");
  int fd = -1;
  memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  kill(exporter, SIGKILL);
  waitpid(exporter, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
  return fd;
}

}  // namespace

void transfers_dma_bufs() {
  Loopback nic;
  Host host(nic);
  const DeviceBuffer buffer(kBytes);
  ibv_mr* region = register_buffer(nic, buffer, 0, kBytes, kIova);
  write_and_read(nic, host, buffer, region);
  write_to_a_part(nic, host, buffer);
  refuse(nic, buffer.fd(), 4096, kBytes, kIova, "what goes past the end");
  refuse(nic, buffer.fd(), 1, 4096, kIova, "an address that lies otherwise in its page");
  refuse(nic, 0, 0, 4096, kIova, "a descriptor that is no dma-buf");
  require(ibv_dereg_mr(region) == 0, "ibv_dereg_mr");
  printf("1 MiB and a part of it written and read, every byte right\n");
}

void moves_a_dma_buf() {
  Loopback nic;
  Host host(nic);
  const DeviceBuffer buffer(kBytes);
  ibv_mr* region = register_buffer(nic, buffer, 0, kBytes, kIova);
  byte_check::fill(buffer.data(), kBytes, 5);
  buffer.move();
  require_pattern(buffer.data(), kBytes, 5, "moved");
  byte_check::fill(host.bytes.data(), kBytes, 6);
  const ibv_wc_status done =
      nic.write(host.bytes.data(), host.region->lkey, kIova, region->rkey, kBytes);
  printf("write to a dma-buf that has moved: %s\n", ibv_wc_status_str(done));
  require(done != IBV_WC_SUCCESS, "the NIC has written to where the buffer was");
  require_pattern(buffer.data(), kBytes, 5, "after that write");
  const std::vector<std::uint8_t> old = buffer.old_place();
  require(std::all_of(old.begin(), old.end(), [](std::uint8_t byte) { return byte == 0xdb; }),
          "the place where it was has changed");
  require(ibv_dereg_mr(region) == 0, "ibv_dereg_mr");
  Loopback again;  // the queue pair of before has ended with the error
  Host other(again);
  region = register_buffer(again, buffer, 0, kBytes, kIova);
  write_and_read(again, other, buffer, region);
  require(ibv_dereg_mr(region) == 0, "ibv_dereg_mr");
}

void outlives_the_exporter() {
  Loopback nic;
  Host host(nic);
  DeviceBuffer buffer(kBytes, from_a_process_that_dies());
  ibv_mr* region = register_buffer(nic, buffer, 0, kBytes, kIova);
  buffer.close_descriptor();
  write_and_read(nic, host, buffer, region);
  require(ibv_dereg_mr(region) == 0, "ibv_dereg_mr");
  printf("the registration holds the memory of an exporter that is dead\n");
}

void holds_a_dma_buf() {
  Loopback nic;
  const DeviceBuffer buffer(kBytes);
  register_buffer(nic, buffer, 0, kBytes, kIova);
  printf("registered\n");
  fflush(stdout);
  for (;;) pause();
}

}  // namespace peermem_check
