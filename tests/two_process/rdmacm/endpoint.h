// A synchronous id of librdmacm with a queue pair, as rdma_create_ep makes it. Throws Failure.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "process.h"

namespace gdr::test {

constexpr const char* kAddress = "127.10.0.1";  // the first device's

inline void must(int result, const std::string& what) {
  if (result != 0) throw Failure(what + ": " + std::strerror(errno));
}

inline ibv_qp_init_attr small_queue_pair() {
  ibv_qp_init_attr attr{};
  attr.cap = {4, 4, 1, 1, 0};
  attr.qp_type = IBV_QPT_RC;
  attr.sq_sig_all = 1;
  return attr;
}

class Endpoint {
 public:
  // port 0: any.
  static Endpoint listening(const char* address, std::uint16_t port, int backlog) {
    Endpoint made(address, port, true);
    must(rdma_listen(made.id_, backlog), "rdma_listen");
    return made;
  }
  static Endpoint towards(const char* address, std::uint16_t port) {
    return Endpoint(address, port, false);
  }
  explicit Endpoint(rdma_cm_id* id) : id_(id) {}
  Endpoint(Endpoint&& other) noexcept : id_(std::exchange(other.id_, nullptr)) {}
  Endpoint(const Endpoint&) = delete;
  ~Endpoint() {
    if (id_ != nullptr) rdma_destroy_ep(id_);
  }
  rdma_cm_id* id() { return id_; }
  std::uint16_t port() { return ntohs(rdma_get_src_port(id_)); }

  Endpoint next_request() {
    rdma_cm_id* made = nullptr;
    must(rdma_get_request(id_, &made), "rdma_get_request");
    return Endpoint(made);
  }

 private:
  Endpoint(const char* address, std::uint16_t port, bool passive) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    require(inet_pton(AF_INET, address, &at.sin_addr) == 1, "an address");
    rdma_addrinfo info{};
    info.ai_flags = passive ? RAI_PASSIVE : 0;
    info.ai_family = AF_INET;
    info.ai_qp_type = IBV_QPT_RC;
    info.ai_port_space = RDMA_PS_TCP;
    (passive ? info.ai_src_addr : info.ai_dst_addr) = reinterpret_cast<sockaddr*>(&at);
    (passive ? info.ai_src_len : info.ai_dst_len) = sizeof at;
    ibv_qp_init_attr attr = small_queue_pair();
    must(rdma_create_ep(&id_, &info, nullptr, &attr), "rdma_create_ep");
  }

  rdma_cm_id* id_ = nullptr;
};

}  // namespace gdr::test
