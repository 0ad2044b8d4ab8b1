// cudart_verbs: memory of cudaMalloc under RDMA, as a program of the CUDA runtime API uses it:
// registered at an odd address, written, read and sent to between two RC queue pairs, every byte of
// both buffers compared after each.
//
//     nvcc -cudart shared -o cudart_verbs cudart_verbs.cu -libverbs
//     gdr run -- ./cudart_verbs --two-processes
//
// It knows nothing of gdrkit. Exit status 0 and one line when every byte was right, else 1 and one
// line that says which was not, or which call failed.
#include <arpa/inet.h>
#include <getopt.h>
#include <infiniband/verbs.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

#include "gpu_buffer.h"

namespace cudart_verbs {
namespace {

constexpr std::size_t kLengths[] = {1, 7, 4099, 65537, (1 << 20) + 13, (3 << 20) + 77};
constexpr int kAllAccess =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
constexpr unsigned kLimit = 120;  // seconds for everything
constexpr std::uint32_t kImmediate = 0x600df00d;

struct Options {
  std::string device;
  int gpus[2] = {0, -1};  // the initiator's and the target's; -1: the next one, if there is one
  bool two_processes = false, dma_buf = false;
};

struct Operation {
  const char* name;
  ibv_wr_opcode opcode;
  bool has_receive;
};
constexpr Operation kOperations[] = {
    {"write", IBV_WR_RDMA_WRITE, false},
    {"write with immediate", IBV_WR_RDMA_WRITE_WITH_IMM, true},
    {"read", IBV_WR_RDMA_READ, false},
    {"send", IBV_WR_SEND, true},
};

// What one side tells the other.
struct Address {
  std::uint32_t queue_pair, key;
  std::uint64_t memory;
  ibv_gid gid;
  std::uint16_t lid;
};

// One end of the connection: a GPU buffer, its region, a queue pair. What is left at the end of the
// process goes with it; a failure ends the process.
class Side {
 public:
  Side(const Options& options, bool is_initiator, int socket)
      : is_initiator_(is_initiator), socket_(socket) {
    open(options.device);
    domain_ = ibv_alloc_pd(context_);
    require(domain_ != nullptr, "ibv_alloc_pd");
    register_memory(options.dma_buf);
    completions_ = ibv_create_cq(context_, 4, nullptr, nullptr, 0);
    require(completions_ != nullptr, "ibv_create_cq");
    ibv_qp_init_attr attributes{};
    attributes.send_cq = attributes.recv_cq = completions_;
    attributes.qp_type = IBV_QPT_RC;
    attributes.cap = {2, 2, 1, 1, 0};
    queue_pair_ = ibv_create_qp(domain_, &attributes);
    require(queue_pair_ != nullptr, "ibv_create_qp");
    connect();
  }
  ~Side() {
    if (queue_pair_ != nullptr) ibv_destroy_qp(queue_pair_);
    if (completions_ != nullptr) ibv_destroy_cq(completions_);
    if (region_ != nullptr) ibv_dereg_mr(region_);
    if (domain_ != nullptr) ibv_dealloc_pd(domain_);
    if (context_ != nullptr) ibv_close_device(context_);
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  void wait_for_other() {
    char byte = 0;
    exchange(byte);
  }

  // True: kernels have seen the bytes as well.
  bool run(const Operation& operation, std::size_t length, std::uint32_t seed) {
    // Different and odd places in both buffers.
    const std::size_t from = 1 + seed * 2, to = 12345 + seed * 4;
    const bool is_read = operation.opcode == IBV_WR_RDMA_READ;
    const bool has_data = is_initiator_ != is_read;
    const std::size_t local = has_data ? from : to, remote = has_data ? to : from;
    buffer_.fill(kBefore + local, has_data ? length : 0, seed);
    if (!is_initiator_ && operation.has_receive) post_receive(local, length);
    wait_for_other();
    if (is_initiator_) {
      post(operation, local, remote, length);
      wait_for_completion(operation, length);
    } else if (operation.has_receive) {
      wait_for_completion(operation, length);
    }
    // A receiver's completion says that its bytes are there; others are told by the initiator.
    if (is_initiator_ || !operation.has_receive) wait_for_other();
    const std::string what = std::string(operation.name) + " of " + std::to_string(length) +
                             " bytes, " + (is_initiator_ ? "initiator" : "target");
    const bool by_kernel = buffer_.check(kBefore + local, length, seed, what);
    if (!is_initiator_ && operation.has_receive) wait_for_other();
    return by_kernel;
  }

 private:
  void open(const std::string& wanted) {
    int count = 0;
    ibv_device** devices = ibv_get_device_list(&count);
    require(devices != nullptr, "ibv_get_device_list");
    for (int i = 0; i < count && context_ == nullptr; ++i) {
      if (wanted.empty() || wanted == ibv_get_device_name(devices[i])) {
        context_ = ibv_open_device(devices[i]);
      }
    }
    ibv_free_device_list(devices);
    if (context_ == nullptr) fail(wanted.empty() ? "no RDMA device" : "no RDMA device " + wanted);
    require(ibv_query_port(context_, 1, &port_) == 0, "ibv_query_port");
  }

  void register_memory(bool dma_buf) {
    if (dma_buf) {
      const int descriptor = buffer_.export_dma_buf();
      region_ = ibv_reg_dmabuf_mr(domain_, kBefore, GpuBuffer::registered_bytes(),
                                  reinterpret_cast<std::uint64_t>(buffer_.registered()), descriptor,
                                  kAllAccess);
      close(descriptor);
      require(region_ != nullptr, "ibv_reg_dmabuf_mr of memory of cudaMalloc");
    } else {
      region_ =
          ibv_reg_mr(domain_, buffer_.registered(), GpuBuffer::registered_bytes(), kAllAccess);
      require(region_ != nullptr, "ibv_reg_mr of memory of cudaMalloc");
    }
  }

  template <typename T>
  T exchange(const T& mine) {
    T theirs{};
    // When the other side has failed, it says itself why.
    if (send(socket_, &mine, sizeof mine, MSG_NOSIGNAL) != sizeof mine ||
        recv(socket_, &theirs, sizeof theirs, MSG_WAITALL) != sizeof theirs) {
      fail("");
    }
    return theirs;
  }

  void connect() {
    Address mine{queue_pair_->qp_num,
                 region_->rkey,
                 reinterpret_cast<std::uint64_t>(buffer_.registered()),
                 {},
                 port_.lid};
    require(ibv_query_gid(context_, 1, 0, &mine.gid) == 0, "ibv_query_gid");
    other_ = exchange(mine);
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_INIT;
    attributes.port_num = 1;
    attributes.qp_access_flags = kAllAccess;
    require(
        ibv_modify_qp(queue_pair_, &attributes,
                      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0,
        "ibv_modify_qp to INIT");
    attributes.qp_state = IBV_QPS_RTR;
    attributes.path_mtu = port_.active_mtu;
    attributes.dest_qp_num = other_.queue_pair;
    attributes.max_dest_rd_atomic = 1;
    attributes.min_rnr_timer = 12;
    attributes.ah_attr.dlid = other_.lid;
    attributes.ah_attr.port_num = 1;
    attributes.ah_attr.is_global = port_.link_layer == IBV_LINK_LAYER_ETHERNET;
    attributes.ah_attr.grh.dgid = other_.gid;
    attributes.ah_attr.grh.hop_limit = 1;
    require(
        ibv_modify_qp(queue_pair_, &attributes,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0,
        "ibv_modify_qp to RTR");
    attributes.qp_state = IBV_QPS_RTS;
    attributes.timeout = 14;
    attributes.retry_cnt = attributes.rnr_retry = 7;
    attributes.max_rd_atomic = 1;
    require(ibv_modify_qp(queue_pair_, &attributes,
                          IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                              IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0,
            "ibv_modify_qp to RTS");
  }

  ibv_sge segment(std::size_t offset, std::size_t length) const {
    return {reinterpret_cast<std::uint64_t>(buffer_.registered()) + offset,
            static_cast<std::uint32_t>(length), region_->lkey};
  }

  void post_receive(std::size_t offset, std::size_t length) {
    ibv_sge to = segment(offset, length);
    ibv_recv_wr request{};
    request.sg_list = &to;
    request.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    require(ibv_post_recv(queue_pair_, &request, &bad) == 0, "ibv_post_recv");
  }

  void post(const Operation& operation, std::size_t local, std::size_t remote, std::size_t length) {
    ibv_sge with = segment(local, length);
    ibv_send_wr request{};
    request.sg_list = &with;
    request.num_sge = 1;
    request.opcode = operation.opcode;
    request.send_flags = IBV_SEND_SIGNALED;
    request.imm_data = htonl(kImmediate);
    request.wr.rdma.remote_addr = other_.memory + remote;
    request.wr.rdma.rkey = other_.key;
    ibv_send_wr* bad = nullptr;
    require(ibv_post_send(queue_pair_, &request, &bad) == 0, "ibv_post_send");
  }

  void wait_for_completion(const Operation& operation, std::size_t length) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    ibv_wc completion{};
    int count = 0;
    while ((count = ibv_poll_cq(completions_, 1, &completion)) == 0) {
      if (std::chrono::steady_clock::now() > end) {
        fail(std::string(operation.name) + ": no completion within 30 seconds");
      }
      std::this_thread::yield();
    }
    if (count < 0) fail("ibv_poll_cq");
    if (completion.status != IBV_WC_SUCCESS) {
      fail(std::string(operation.name) + ": " + ibv_wc_status_str(completion.status));
    }
    if (is_initiator_) return;
    if (completion.byte_len != length) {
      fail(std::string(operation.name) + ": a completion of " +
           std::to_string(completion.byte_len) + " bytes, not " + std::to_string(length));
    }
    if (operation.opcode == IBV_WR_RDMA_WRITE_WITH_IMM &&
        ntohl(completion.imm_data) != kImmediate) {
      fail("write with immediate: another immediate");
    }
  }

  const bool is_initiator_;
  const int socket_;
  GpuBuffer buffer_;
  ibv_context* context_ = nullptr;
  ibv_port_attr port_{};
  ibv_pd* domain_ = nullptr;
  ibv_mr* region_ = nullptr;
  ibv_cq* completions_ = nullptr;
  ibv_qp* queue_pair_ = nullptr;
  Address other_{};
};

int choose_gpu(const Options& options, bool is_initiator) {
  int count = 0;
  require(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  const int gpu = options.gpus[is_initiator ? 0 : 1];
  return gpu >= 0 ? gpu : (options.gpus[0] + 1) % count;
}

// The exit status of a side, which is all there is to it in both modes.
int run_side(const Options& options, bool is_initiator, int socket) {
  int status = 1;
  try {
    const int gpu = choose_gpu(options, is_initiator);
    require(cudaSetDevice(gpu), "cudaSetDevice");
    bool by_kernel = true;
    {
      Side side(options, is_initiator, socket);
      std::uint32_t seed = 0;
      for (const std::size_t length : kLengths) {
        for (const Operation& operation : kOperations) {
          by_kernel = side.run(operation, length, ++seed) && by_kernel;
        }
      }
      side.wait_for_other();
    }
    cudaDeviceProp properties{};
    require(cudaGetDeviceProperties(&properties, gpu), "cudaGetDeviceProperties");
    status = 0;
    if (is_initiator) {
      std::printf(
          "cudart_verbs: every byte right: writes, reads and sends of 1 to %zu bytes of %s, "
          "GPU %d (%s) and GPU %d, %s, checked by copies%s\n",
          kLengths[std::size(kLengths) - 1],
          options.dma_buf ? "cudaMalloc, as a dma-buf" : "cudaMalloc", gpu, properties.name,
          choose_gpu(options, false), options.two_processes ? "two processes" : "one process",
          by_kernel ? " and kernels" : " (no kernels run here)");
    }
  } catch (const std::exception& error) {
    if (*error.what() != '\0') std::fprintf(stderr, "cudart_verbs: FAILED: %s\n", error.what());
  }
  std::fflush(stdout);
  close(socket);
  return status;
}

int run_in_two_processes(const Options& options, const int* sockets) {
  const pid_t child = fork();  // before anything of CUDA, which does not survive it
  if (child < 0) {
    std::perror("cudart_verbs: FAILED: fork");
    return 1;
  }
  close(sockets[child == 0 ? 0 : 1]);
  if (child == 0) {
    alarm(kLimit);  // not inherited
    exit(run_side(options, false, sockets[1]));
  }
  const int mine = run_side(options, true, sockets[0]);
  int theirs = 0;
  waitpid(child, &theirs, 0);
  if (WIFSIGNALED(theirs)) {
    std::fprintf(stderr, "cudart_verbs: FAILED: signal %d ended the target\n", WTERMSIG(theirs));
  }
  return mine != 0 || theirs != 0 ? 1 : 0;
}

int run_in_one_process(const Options& options, const int* sockets) {
  int theirs = 1;
  std::thread target([&] { theirs = run_side(options, false, sockets[1]); });
  const int mine = run_side(options, true, sockets[0]);
  target.join();
  return mine != 0 || theirs != 0 ? 1 : 0;
}

bool parse(int count, char** arguments, Options& options) {
  const option known[] = {{"device", required_argument, nullptr, 'd'},
                          {"gpus", required_argument, nullptr, 'g'},
                          {"two-processes", no_argument, nullptr, '2'},
                          {"dma-buf", no_argument, nullptr, 'b'},
                          {nullptr, 0, nullptr, 0}};
  for (int one = 0; (one = getopt_long(count, arguments, "d:g:", known, nullptr)) != -1;) {
    if (one == 'd') {
      options.device = optarg;
    } else if (one == 'g') {
      if (std::sscanf(optarg, "%d,%d", &options.gpus[0], &options.gpus[1]) != 2) return false;
    } else if (one == '2') {
      options.two_processes = true;
    } else if (one == 'b') {
      options.dma_buf = true;
    } else {
      return false;
    }
  }
  return optind == count;
}

}  // namespace
}  // namespace cudart_verbs

int main(int count, char** arguments) {
  using namespace cudart_verbs;
  Options options;
  if (!parse(count, arguments, options)) {
    std::fprintf(stderr,
                 "usage: cudart_verbs [--device NAME] [--gpus INITIATOR,TARGET] [--two-processes] "
                 "[--dma-buf]\n");
    return 2;
  }
  alarm(kLimit);
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    std::perror("cudart_verbs: FAILED: socketpair");
    return 1;
  }
  return options.two_processes ? run_in_two_processes(options, sockets)
                               : run_in_one_process(options, sockets);
}
