#include "fix/boot_parameters.h"

#include "base/environment.h"
#include "host/pci/function.h"

namespace gdr::fix {
namespace {

using host::AccessControl;

// disable_acs_redir says nothing about the other bits.
constexpr const char* kRedirectsOnly = "x0x00xx";
constexpr const char* kConfig = "config_acs=";
constexpr const char* kDisable = "disable_acs_redir=";

}  // namespace

std::string path_form(const std::string& path) {
  std::string form;
  for (std::string_view name : split(path, '/')) {
    if (!host::is_pci_address(name)) continue;
    // The root port with domain and bus, those below it with device and function alone.
    form += form.empty() ? std::string(name) : "/" + std::string(name.substr(name.size() - 4));
  }
  return form;
}

std::string boot_bits(std::uint16_t control) {
  std::string bits;
  for (unsigned bit = 7; bit-- > 0;) {
    const unsigned mask = 1u << bit;
    bits += (AccessControl::kRedirects & mask) != 0 ? '0' : (control & mask) != 0 ? '1' : 'x';
  }
  return bits;
}

std::string boot_parameter(const BootPorts& ports, KernelVersion kernel) {
  const bool knows_bits = kernel >= KernelVersion{6, 11};
  std::string text;
  for (const auto& [form, bits] : ports) {
    text += text.empty() ? "" : ";";
    text += knows_bits ? bits + "@" + form : form;
  }
  return (knows_bits ? kConfig : kDisable) + text;
}

std::string grub_line(const std::string& parameter) {
  const std::size_t value = parameter.find('=') + 1;
  // Quoted for GRUB too, to which a semicolon ends a command.
  return "GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX pci=" + parameter.substr(0, value) + "\\\"" +
         parameter.substr(value) + "\\\"\"";
}

BootPorts ports_of_grub_text(const std::string& text) {
  BootPorts ports;
  for (const char* name : {kConfig, kDisable}) {
    const std::size_t found = text.find(std::string(name) + "\\\"");
    if (found == std::string::npos) continue;
    const std::size_t begin = found + std::string_view(name).size() + 2;
    const std::string list = text.substr(begin, text.find('\\', begin) - begin);
    for (std::string_view port : split(list, ';')) {
      const std::size_t at = port.find('@');
      const bool has_bits = at != std::string_view::npos;
      const std::string form(has_bits ? port.substr(at + 1) : port);
      if (!form.empty()) ports[form] = has_bits ? std::string(port.substr(0, at)) : kRedirectsOnly;
    }
  }
  return ports;
}

}  // namespace gdr::fix
