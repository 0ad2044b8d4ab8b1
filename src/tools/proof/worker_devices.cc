// Worker: finding and opening devices.
#include <algorithm>

#include "proof/worker.h"

namespace gdr::proof {

Result<Survey::Reply> Worker::handle(const Survey& request) {
  return participants::survey(request.verbs, request.cuda);
}

Result<Open::Reply> Worker::handle(const Open& request) {
  if (device_) return Error{EALREADY, "already open"};
  opened_ = request;
  if (!request.cuda.empty()) {
    Result<Gpu> gpu = participants::open_gpu(request.cuda, request.gpu);
    if (!gpu) return gpu.error();
    gpu_ = *gpu;
  }
  Result<const rdma::Library*> library = rdma::Library::load(request.verbs);
  if (!library) return library.error();
  Result<rdma::Device> device = rdma::Device::open(**library, request.nic);
  if (!device) return device.error();
  device_ = std::make_unique<rdma::Device>(*std::move(device));
  port_ = request.port;
  Result<ibv_device_attr> attributes = device_->attributes();
  if (!attributes) return attributes.error();
  Result<ibv_port_attr> port = device_->port(port_);
  if (!port) return port.error();
  Result<rdma::PortAddress> address = device_->address(port_);
  if (!address) return address.error();
  address_ = *address;
  ethernet_ = port->link_layer == IBV_LINK_LAYER_ETHERNET;
  Result<rdma::ProtectionDomain> domain = rdma::make_protection_domain(*device_);
  if (!domain) return domain.error();
  domain_ = *std::move(domain);

  Open::Reply reply;
  if (cuda::CUdevice gpu = 0; gpu_.driver && !gpu_.driver->ctx_get_device(&gpu)) {
    reply.gpu = participants::pci_address_of(*gpu_.driver, gpu);
  }
  reply.lid = address_.lid;
  reply.gid_index = address_.gid_index;
  std::copy_n(address_.gid.raw, reply.gid.size(), reply.gid.begin());
  if (address_.mac) reply.mac = *address_.mac;
  reply.has_mac = address_.mac.has_value();
  reply.ipv4 = rdma::ipv4_of(address_.gid).value_or(0);
  reply.ethernet = ethernet_;
  reply.mtu = static_cast<std::uint8_t>(port->active_mtu);
  atomics_ = attributes->atomic_cap != IBV_ATOMIC_NONE;
  reply.atomics = atomics_;
  reply.largest_message = port->max_msg_sz;
  return reply;
}

}  // namespace gdr::proof
