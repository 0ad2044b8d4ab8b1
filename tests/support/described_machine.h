// One machine in every format that gdr reads as a description: hwloc's XML, NCCL's, and both texts
// of lspci. Each device sits below a root port of its own, or right on a root bus.
//
//   DescribedMachine machine;
//   machine.gpu("0000:41:00.0", "0000:40:01.0");
//   machine.nic("mlx5_0", "0000:81:00.0", "0000:80:01.0");
//   host::read_hwloc_xml(machine.hwloc());
#pragma once

#include <stdio.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gdr::test {

struct DescribedDevice {
  std::string address = {}, port = {};  // port empty: on a root bus
  std::uint16_t vendor = 0, device = 0;
  std::uint32_t class_code = 0x020000;
  std::string maker = {}, name = {};  // as lspci prints them
  std::string rdma_name = {};
  int node = -1;
  double speed = 32;  // GT/s, of generation 3 or later
  unsigned width = 16;
  std::string product_field = {};  // of the Vital Product Data: "SMDL=SW_MNG"
  std::uint16_t subsystem_vendor = 0;
};

struct DescribedMachine {
  std::vector<DescribedDevice> devices;
  int nodes = 1;                                   // how many hwloc shows
  std::map<std::string, std::string> information;  // hwloc's "DMIProductName" and others

  DescribedDevice& add(const DescribedDevice& device) { return devices.emplace_back(device); }
  DescribedDevice& gpu(const std::string& address, const std::string& port, int node = -1) {
    return add({.address = address,
                .port = port,
                .vendor = 0x10de,
                .device = 0x2330,
                .class_code = 0x030200,
                .maker = "NVIDIA Corporation",
                .name = "GH100 [H100 SXM5 80GB]",
                .node = node});
  }
  DescribedDevice& nic(const std::string& name, const std::string& address, const std::string& port,
                       int node = -1) {
    return add({.address = address,
                .port = port,
                .vendor = 0x15b3,
                .device = 0x1021,
                .class_code = 0x020700,
                .maker = "Mellanox Technologies",
                .name = "MT2910 Family [ConnectX-7]",
                .rdma_name = name,
                .node = node});
  }

  // Without `ports` devices hang right below their host bridges, as where hwloc filters bridges.
  std::string hwloc(bool ports = true) const {
    std::string xml = "<topology version=\"2.0\"><object type=\"Machine\" nodeset=\"" +
                      mask((1u << nodes) - 1) + "\">\n";
    for (const auto& [name, value] : information) xml += info(name, value);
    for (int node = 0; node < nodes; ++node) {
      const std::string set = mask(1u << node);
      xml += "<object type=\"Package\" nodeset=\"" + set +
             "\"><object type=\"NUMANode\" os_index=\"" + std::to_string(node) + "\" nodeset=\"" +
             set + "\" cpuset=\"" + mask(0xffu << 8 * node) + "\"/>\n";
      for (const DescribedDevice& device : devices) {
        if (device.node == node) xml += hwloc_device(device, ports);
      }
      xml += "</object>\n";
    }
    for (const DescribedDevice& device : devices) {
      if (device.node < 0) xml += hwloc_device(device, ports);
    }
    return xml + "</object>" + more_hwloc + "</topology>\n";
  }
  std::string more_hwloc;  // further elements, distances say

  std::string nccl() const {
    std::string xml = "<system version=\"1\">\n";
    for (int node = 0; node < nodes; ++node) {
      xml += "<cpu numaid=\"" + std::to_string(node) + "\">\n";
      for (const DescribedDevice& device : devices) {
        if (device.node != node && (device.node >= 0 || node > 0)) continue;
        xml += nccl_device(device);
      }
      xml += "</cpu>\n";
    }
    return xml + "</system>\n";
  }

  std::string lspci_verbose(bool numbers = true) const {
    std::string text;
    for (const DescribedDevice& device : devices) {
      if (!device.port.empty()) {
        text += device.port + " PCI bridge: Intel Corporation Device 352a\n\tControl: I/O+ Mem+\n" +
                node_line(device) + "\tBus: primary=" + device.port.substr(5, 2) +
                ", secondary=" + device.address.substr(5, 2) +
                ", subordinate=" + device.address.substr(5, 2) + ", sec-latency=0\n";
      }
      text += device.address + " " + class_name(device.class_code) + ": " + device.maker + " " +
              device.name + (numbers ? ids(device) : "") + " (rev a1)\n\tControl: I/O- Mem+\n" +
              node_line(device) +
              "\tCapabilities: [60] Express (v2) Endpoint, MSI 00\n\t\tDevCtl:\tCorrErr+\n"
              "\t\tLnkSta:\tSpeed " +
              number(device.speed) + "GT/s, Width x" + std::to_string(device.width) + "\n";
      if (!device.product_field.empty()) {
        text +=
            "\tCapabilities: [48] Vital Product Data\n\t\tRead-only fields:\n\t\t\t[VA] Vendor "
            "specific: MLX:MN=MLNX:" +
            device.product_field + "\n";
      }
      text += "\tCapabilities: [100 v1] Advanced Error Reporting\n\n";
    }
    return text;
  }

  std::string lspci_tree() const {
    std::string text;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const DescribedDevice& device = devices[i];
      const std::string& top = device.port.empty() ? device.address : device.port;
      text += i == 0 ? "-+-[" : i + 1 == devices.size() ? " \\-[" : " +-[";
      text += top.substr(0, 7) + "]---" + top.substr(8, 4);
      if (!device.port.empty()) {
        text += "-[" + device.address.substr(5, 2) + "]----" + device.address.substr(8, 4);
      }
      text += "  " + device.maker + " " + device.name + "\n";
    }
    return text;
  }

 private:
  static std::string mask(unsigned bits) {
    char text[16];
    snprintf(text, sizeof text, "0x%08x", bits);
    return text;
  }
  static std::string number(double value) {
    char text[32];
    snprintf(text, sizeof text, "%g", value);
    return text;
  }
  static std::string hex(unsigned value, int digits) {
    char text[16];
    snprintf(text, sizeof text, "%0*x", digits, value);
    return text;
  }
  static std::string info(const std::string& name, const std::string& value) {
    return "<info name=\"" + name + "\" value=\"" + value + "\"/>\n";
  }
  static std::string ids(const DescribedDevice& device) {
    return " [" + hex(device.vendor, 4) + ":" + hex(device.device, 4) + "]";
  }
  static std::string node_line(const DescribedDevice& device) {
    return device.node < 0 ? "" : "\tNUMA node: " + std::to_string(device.node) + "\n";
  }
  static std::string class_name(std::uint32_t code) {
    switch (code >> 8) {
      case 0x0300:
        return "VGA compatible controller";
      case 0x0302:
        return "3D controller";
      case 0x0380:
        return "Display controller";
      case 0x0207:
        return "Infiniband controller";
      case 0x0200:
        return "Ethernet controller";
      case 0x1200:
        return "Processing accelerators";
      case 0x0600:
        return "Host bridge";
      default:
        return "System peripheral";
    }
  }

  std::string hwloc_device(const DescribedDevice& device, bool ports) const {
    const bool below_port = ports && !device.port.empty();
    const std::string top = below_port ? device.port : device.address;
    const std::string bus = device.address.substr(5, 2);
    std::string xml = "<object type=\"Bridge\" bridge_type=\"0-1\" bridge_pci=\"" +
                      top.substr(0, 5) + "[" + top.substr(5, 2) + "-" + bus + "]\">\n";
    if (below_port) {
      xml += "<object type=\"Bridge\" bridge_type=\"1-1\" bridge_pci=\"" + top.substr(0, 5) + "[" +
             bus + "-" + bus + "]\" pci_busid=\"" + device.port +
             "\" pci_type=\"0604 [8086:352a] [0000:0000] 04\">\n";
    }
    xml += "<object type=\"PCIDev\" gp_index=\"1" + bus + "\" pci_busid=\"" + device.address +
           "\" pci_type=\"" + hex(device.class_code >> 8, 4) + ids(device) + " [" +
           hex(device.subsystem_vendor, 4) + ":0000] 00\" pci_link_speed=\"" +
           number(device.speed * device.width * 128 / 130 / 8) + "\">\n" +
           info("PCIDevice", device.name);
    if (!device.rdma_name.empty()) {
      xml += "<object type=\"OSDev\" name=\"" + device.rdma_name + "\" osdev_type=\"3\"/>\n";
    }
    xml += "</object>\n";
    if (below_port) xml += "</object>\n";
    return xml + "</object>\n";
  }

  static std::string nccl_device(const DescribedDevice& device) {
    std::string xml = "<pci busid=\"" + device.address + "\" class=\"0x" +
                      hex(device.class_code, 6) + "\" vendor=\"0x" + hex(device.vendor, 4) +
                      "\" device=\"0x" + hex(device.device, 4) + "\" link_speed=\"" +
                      number(device.speed) + " GT/s PCIe\" link_width=\"" +
                      std::to_string(device.width) + "\">\n";
    if (device.class_code >> 16 == 0x03) xml += "<gpu dev=\"0\" sm=\"90\"/>\n";
    if (!device.rdma_name.empty()) {
      xml += "<nic><net name=\"" + device.rdma_name + "\" port=\"1\" speed=\"400000\"/></nic>\n";
    }
    return xml + "</pci>\n";
  }
};

}  // namespace gdr::test
