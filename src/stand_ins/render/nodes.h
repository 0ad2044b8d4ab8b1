// Nodes: the render nodes that this process has open, and the buffers that it has of them.
//
//   const int fd = nodes.open({.number = 0, .bytes = 8ull << 30}, 128, O_RDWR);
//   std::uint32_t handle = 0;
//   int error = nodes.create_buffer(fd, 2 << 20, handle);      // 0, or -ENOMEM
//   const int dma_buf = nodes.export_buffer(fd, handle, O_RDWR | O_CLOEXEC);
//
// A node's descriptor is the reading end of a pipe, and the writing end stays here: when nobody has
// the former any more, in this process or in one that inherited it, the kernel says so at the
// latter, and the node's buffers are freed. So duplicates need no bookkeeping, and neither do the
// ways to close a descriptor that do not lead through close(). A buffer is a memfd, sealed against
// shrinking, which the software NIC registers as a dma-buf.
//
// Nothing is allocated. A child of fork() goes on with what its parent had at that moment.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

#include "render/descriptors.h"

namespace gdr::render {

// The software GPU behind a node.
struct Gpu {
  int number = 0;
  std::uint64_t bytes = 0;
};

class Nodes {
 public:
  static constexpr int kMostNodes = 64;
  static constexpr std::uint32_t kMostBuffers = 1024;
  static constexpr int kMostGpus = 16;

  // All errors are negative errno values, as the kernel's.
  int open(const Gpu& gpu, int minor, int flags);
  // Every call that may be about a node asks this first.
  bool any_open() const { return open_.load(std::memory_order_relaxed) != 0; }
  // The minor number of the node's device; nothing: the descriptor is of something else.
  std::optional<int> minor_of(int descriptor);

  int create_buffer(int node, std::uint64_t bytes, std::uint32_t& handle);
  int close_buffer(int node, std::uint32_t handle);
  // A descriptor of the buffer. `flags`: O_RDWR, O_CLOEXEC.
  int export_buffer(int node, std::uint32_t handle, int flags);
  int import_buffer(int node, int descriptor, std::uint32_t& handle);
  // Where in the node the buffer is mapped.
  int offset_of(int node, std::uint32_t handle, std::uint64_t& offset);
  // For a mapping of the node: a new descriptor of the buffer there, which is to be mapped from its
  // beginning and closed.
  int open_mapped(int node, std::uint64_t offset, std::uint64_t length, bool writes);

  // After a descriptor was closed, in any thread and signal handler: frees what nobody can reach
  // any more, unless another thread is at it.
  void tidy_up();

  // Around fork().
  void before_fork() { lock_.lock(); }
  void after_fork() { lock_.unlock(); }
  void in_child();

 private:
  struct Node {
    bool used = false;
    bool writable = false;
    int watch = -1;  // the pipe's writing end
    int minor = 0;
    Gpu gpu;
    FileIdentity file;
  };
  struct Buffer {
    bool used = false;
    int node = 0;
    std::uint32_t handle = 0;
    int descriptor = -1;
    FileIdentity file;
    std::uint64_t bytes = 0;
    std::uint64_t charged = 0;  // to the GPU's memory; 0 of one that was imported
  };

  // The caller holds the lock.
  int find(int descriptor) const;  // -1: no node of ours
  int free_place() const;
  Buffer* find_buffer(int node, std::uint32_t handle);
  int add_buffer(int node, const Buffer& buffer, std::uint32_t& handle);
  std::uint32_t lowest_free_handle(int node) const;
  void drop(Buffer& buffer);
  void drop_unreachable();

  std::mutex lock_;
  std::atomic<int> open_{0};
  std::atomic<pid_t> owner_{0};
  Node nodes_[kMostNodes];
  Buffer buffers_[kMostBuffers];
  std::uint64_t used_[kMostGpus] = {};
};

}  // namespace gdr::render
