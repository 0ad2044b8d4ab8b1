#include "host/pci/link.h"

#include <stdio.h>
#include <stdlib.h>

#include <algorithm>

namespace gdr::host {
namespace {

constexpr long kWidest = 32;
constexpr double kFastest = 128;  // GT/s, generation 7

double known_speed(double gigatransfers) {
  return gigatransfers > 0 && gigatransfers <= kFastest ? gigatransfers : 0;
}

unsigned known_width(long lanes) {
  return lanes > 0 && lanes <= kWidest ? static_cast<unsigned>(lanes) : 0;
}

template <typename T>
T lesser_known(T a, T b) {
  if (a == 0 || b == 0) return std::max(a, b);
  return std::min(a, b);
}

// "16.0 GT/s PCIe" and "16".
PortSpeed read_speed(const Files& files, const std::string& address) {
  const std::string device = "sys/bus/pci/devices/" + address;
  const auto speed = [&](const char* name) {
    return strtod(files.line(device + name).c_str(), nullptr);
  };
  PortSpeed port;
  port.set_speed(speed("/current_link_speed"));
  port.set_most_speed(speed("/max_link_speed"));
  port.set_width(files.number(device + "/current_link_width").value_or(0));
  port.set_most_width(files.number(device + "/max_link_width").value_or(0));
  return port;
}

}  // namespace

void PortSpeed::set_speed(double gigatransfers) { speed = known_speed(gigatransfers); }
void PortSpeed::set_most_speed(double gigatransfers) { most_speed = known_speed(gigatransfers); }
void PortSpeed::set_width(long lanes) { width = known_width(lanes); }
void PortSpeed::set_most_width(long lanes) { most_width = known_width(lanes); }
void PortSpeed::set_bandwidth(double gigabytes) {
  bandwidth = gigabytes > 0 && gigabytes <= kFastest * kWidest / 8 ? gigabytes : 0;
}

const PortSpeed& PortSpeeds::of(const std::string& address) {
  const auto [known, added] = known_.try_emplace(address);
  if (added) known->second = read_speed(files_, address);
  return known->second;
}

PciLink link_between(const std::string& above, const PortSpeed& most_above,
                     const std::string& below, const PortSpeed& port) {
  return {above,         below,
          port.speed,    lesser_known(port.most_speed, most_above.most_speed),
          port.width,    lesser_known(port.most_width, most_above.most_width),
          port.bandwidth};
}

std::string text_of(const PciLink& link) {
  const auto number = [](double value) {
    char text[32];
    snprintf(text, sizeof text, "%.3g", value);
    return std::string(text);
  };
  std::string text;
  if (link.speed > 0) {
    text = number(link.speed);
    if (link.most_speed > link.speed) text += " of " + number(link.most_speed);
    text += " GT/s";
  }
  if (link.width > 0) {
    text += (text.empty() ? "x" : " x") + std::to_string(link.width);
    if (link.most_width > link.width) text += " of x" + std::to_string(link.most_width);
  }
  if (text.empty() && link.bandwidth > 0) text = number(link.bandwidth) + " GB/s";
  return text;
}

std::vector<PciLink> links_along(
    const std::vector<std::string>& path,
    const std::function<PortSpeed(const std::string& address)>& speed_of) {
  std::vector<PciLink> links;
  for (std::size_t i = path.size(); i >= 2 && is_pci_address(path[i - 2]); i -= 2) {
    const std::string &above = path[i - 2], &below = path[i - 1];
    links.push_back(link_between(above, speed_of(above), below, speed_of(below)));
  }
  return links;
}

}  // namespace gdr::host
