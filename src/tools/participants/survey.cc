#include "participants/survey.h"

#include <arpa/inet.h>
#include <stdio.h>

#include <algorithm>
#include <filesystem>

#include "base/address_space.h"
#include "cuda/driver.h"
#include "participants/gpu.h"
#include "participants/stand_in_package.h"
#include "rdma/device.h"

namespace gdr::participants {
namespace {

std::string gid_text(const ibv_gid& gid) {
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(AF_INET6, gid.raw, text, sizeof text);
  return text;
}

std::string ipv4_text(std::uint32_t address) {
  char text[16];
  snprintf(text, sizeof text, "%u.%u.%u.%u", address >> 24, address >> 16 & 255, address >> 8 & 255,
           address & 255);
  return text;
}

std::string mac_text(const rdma::Mac& mac) {
  char text[18];
  snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3],
           mac[4], mac[5]);
  return text;
}

// Only a stand-in is given by its path.
bool is_missing_stand_in(const std::string& library) {
  std::error_code ignored;
  return library.starts_with('/') && !std::filesystem::exists(library, ignored);
}

// Mb/s of a port: lane speed by width, both coded as in the specification.
std::uint32_t speed_of(const ibv_port_attr& port) {
  const auto lane = [&]() -> std::uint32_t {
    switch (port.active_speed) {
      case 1:
        return 2500;
      case 2:
        return 5000;
      case 4:
      case 8:
        return 10'000;
      case 16:
        return 14'000;
      case 32:
        return 25'000;
      case 64:
        return 50'000;
      case 128:
        return 100'000;
      default:
        return 0;
    }
  }();
  switch (port.active_width) {
    case 1:
      return lane;
    case 2:
      return lane * 4;
    case 4:
      return lane * 8;
    case 8:
      return lane * 12;
    case 16:
      return lane * 2;
    default:
      return 0;
  }
}

NicPort survey_port(const rdma::Device& device, std::uint8_t number) {
  NicPort port;
  port.number = number;
  Result<ibv_port_attr> attributes = device.port(number);
  if (!attributes) {
    port.problem = attributes.error().message;
    return port;
  }
  port.active = attributes->state == IBV_PORT_ACTIVE;
  port.ethernet = attributes->link_layer == IBV_LINK_LAYER_ETHERNET;
  port.mtu = 128u << std::min<unsigned>(attributes->active_mtu, 5);
  port.speed = speed_of(*attributes);
  Result<rdma::PortAddress> address = device.address(number);
  if (!address) {
    port.problem = address.error().message;
    return port;
  }
  port.gid = gid_text(address->gid);
  if (auto ipv4 = rdma::ipv4_of(address->gid)) port.ipv4 = ipv4_text(*ipv4);
  if (address->mac) port.mac = mac_text(*address->mac);
  return port;
}

NicSurvey survey_nic(const rdma::Library& library, const std::string& name) {
  NicSurvey nic;
  nic.name = name;
  Result<rdma::Device> device = rdma::Device::open(library, name);
  if (!device) {
    nic.problem = device.error().message;
    return nic;
  }
  Result<ibv_device_attr> attributes = device->attributes();
  if (!attributes) {
    nic.problem = attributes.error().message;
    return nic;
  }
  for (int port = 1; port <= attributes->phys_port_cnt; ++port) {
    nic.ports.push_back(survey_port(*device, static_cast<std::uint8_t>(port)));
  }
  return nic;
}

std::string uuid_text(const cuda::CUuuid& uuid) {
  std::string text = "GPU";
  for (int i = 0; i < 16; ++i) {
    char byte[4];
    snprintf(byte, sizeof byte, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += byte;
  }
  return text;
}

GpuSurvey survey_gpu(const cuda::Driver& driver, int ordinal) {
  GpuSurvey gpu;
  gpu.ordinal = ordinal;
  cuda::CUdevice device = 0;
  if (driver.device_get(&device, ordinal) != cuda::CUDA_SUCCESS) return gpu;
  char text[256] = "";
  if (!driver.device_get_name(text, sizeof text, device)) gpu.name = text;
  gpu.pci_address = pci_address_of(driver, device);
  std::size_t bytes = 0;
  if (!driver.device_total_mem(&bytes, device)) gpu.memory = bytes;
  cuda::CUuuid uuid{};
  if (driver.device_get_uuid && !driver.device_get_uuid(&uuid, device)) gpu.uuid = uuid_text(uuid);
  const auto yes = [&](cuda::CUdevice_attribute attribute) {
    int value = 0;
    return driver.device_get_attribute(&value, attribute, device) == cuda::CUDA_SUCCESS &&
           value != 0;
  };
  gpu.dma_buf = yes(cuda::CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED);
  gpu.gpu_direct = yes(cuda::CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED);
  return gpu;
}

void survey_gpus(const std::string& path, Survey& found) {
  if (is_missing_stand_in(path)) {
    found.cuda_problem = missing_stand_in(path);
    return;
  }
  Result<const cuda::Driver*> driver = cuda::Driver::load(path.c_str());
  if (!driver) {
    found.cuda_problem = driver.error().message;
    return;
  }
  found.cuda_path = (*driver)->path();
  if (auto result = (*driver)->init(0)) {
    found.cuda_problem = "cuInit: " + (*driver)->describe(result);
    if (result == cuda::CUDA_ERROR_OUT_OF_MEMORY)
      found.cuda_problem += address_space_advice(ENOMEM);
    return;
  }
  int count = 0;
  if (auto result = (*driver)->device_get_count(&count)) {
    found.cuda_problem = "cuDeviceGetCount: " + (*driver)->describe(result);
    return;
  }
  for (int i = 0; i < count; ++i) found.gpus.push_back(survey_gpu(**driver, i));
  if (count == 0) found.cuda_problem = found.cuda_path + " finds no GPU";
}

void survey_nics(const std::string& path, Survey& found) {
  if (is_missing_stand_in(path)) {
    found.verbs_problem = missing_stand_in(path);
    return;
  }
  Result<const rdma::Library*> library = rdma::Library::load(path);
  if (!library) {
    found.verbs_problem = library.error().message;
    return;
  }
  found.verbs_path = (*library)->path();
  Result<std::vector<std::string>> names = (*library)->device_names();
  if (!names) {
    found.verbs_problem = names.error().message;
    return;
  }
  for (const std::string& name : *names) found.nics.push_back(survey_nic(**library, name));
  if (names->empty()) found.verbs_problem = found.verbs_path + " finds no RDMA NIC";
}

}  // namespace

Survey survey(const std::string& verbs, const std::string& cuda) {
  Survey found;
  // CUDA first: the software NIC looks for the driver that the process already has.
  if (!cuda.empty()) survey_gpus(cuda, found);
  survey_nics(verbs, found);
  return found;
}

}  // namespace gdr::participants
