#include "doctor/capture/hide.h"

#include <ctype.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "doctor/environment.h"

namespace gdr::doctor {
namespace {

constexpr const char* kLeftOut = "(left-out)";
// host::Files gives no more of them.
constexpr std::size_t kMostLogLines = 1000;

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(tolower(c)); });
  return result;
}

bool has_any(const std::string& text, std::initializer_list<const char*> words) {
  return std::ranges::any_of(
      words, [&](const char* word) { return text.find(word) != std::string::npos; });
}

bool is_hex(char c) { return isxdigit(static_cast<unsigned char>(c)) != 0; }

// "8-4-4-4-12" digits from `at` on, and no more of them around.
bool is_uuid(std::string_view text, std::size_t at) {
  constexpr std::size_t kGroups[] = {8, 4, 4, 4, 12};
  if (at > 0 && is_hex(text[at - 1])) return false;
  for (const std::size_t group : kGroups) {
    if (group != kGroups[0] && (at >= text.size() || text[at++] != '-')) return false;
    for (std::size_t i = 0; i < group; ++i, ++at) {
      if (at >= text.size() || !is_hex(text[at])) return false;
    }
  }
  return at == text.size() || !is_hex(text[at]);
}

void hide_uuids(std::string& text) {
  constexpr std::size_t kLength = 36;
  for (std::size_t i = 0; i + kLength <= text.size(); ++i) {
    if (!is_hex(text[i]) || !is_uuid(text, i)) continue;
    std::ranges::replace_if(text.begin() + static_cast<std::ptrdiff_t>(i),
                            text.begin() + static_cast<std::ptrdiff_t>(i + kLength), is_hex, '0');
    i += kLength - 1;
  }
}

// "Serial Number: \t 1322..." and "serial=12"; a word such as "serial0" alone is none.
std::string without_serial(std::string_view line) {
  const std::string small = lower(line);
  const auto word = small.find("serial");
  if (word == std::string::npos) return std::string(line);
  const auto mark = small.find_first_of(":=", word);
  if (mark == std::string::npos) return std::string(line);
  return std::string(line.substr(0, mark + 1)) + " " + kLeftOut;
}

std::string hide_lines(const std::string& content) {
  std::string hidden;
  const std::vector<std::string_view> lines = split(content, '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    hidden += (i > 0 ? "\n" : "") + without_serial(lines[i]);
  }
  hide_uuids(hidden);
  return hidden;
}

std::string hide_command_line(const std::string& content) {
  std::string hidden;
  for (const std::string_view word :
       split(std::string_view(content).substr(0, content.find('\n')), ' ')) {
    const auto equals = word.find('=');
    const std::string name = lower(word.substr(0, equals));
    const bool wanted =
        equals == std::string_view::npos ||
        has_any(name, {"iommu", "pci", "nvidia", "nouveau", "vfio", "mlx", "numa", "hugepage",
                       "lockdown", "module", "modprobe", "boot_image", "mitigations", "kvm"});
    hidden += (hidden.empty() ? "" : " ") +
              (wanted ? std::string(word) : std::string(word.substr(0, equals + 1)) + kLeftOut);
  }
  return hidden + "\n";
}

std::string hide_environment(const std::string& content) {
  std::string hidden;
  for (const std::string_view entry : split(content, '\0')) {
    const auto equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string name(entry.substr(0, equals)), value(entry.substr(equals + 1));
    if (!is_relevant_variable(name) || looks_secret(name, value)) continue;
    hidden += name + "=" + value + '\0';
  }
  return hidden;
}

// "ffffffffc0a12340 t ib_register_peer_memory_client [ib_core]"
std::string hide_addresses(std::string content) {
  bool in_address = true;
  for (char& c : content) {
    if (c == '\n') {
      in_address = true;
    } else if (!is_hex(c)) {
      in_address = false;
    } else if (in_address) {
      c = '0';
    }
  }
  return content;
}

std::string_view name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

bool looks_secret(const std::string& name, const std::string& value) {
  if (value.find("://") != std::string::npos && value.find('@') != std::string::npos) return true;
  if (!has_any(lower(name), {"token", "secret", "key", "passw", "auth", "cred"})) return false;
  // NCCL_IB_PKEY is a number.
  return value.size() > 8 ||
         !std::ranges::all_of(value, [](char c) { return is_hex(c) || c == 'x'; });
}

std::string hide(const std::string& path, std::string content) {
  const std::string_view name = name_of(path);
  if (name == "environ") return hide_environment(content);
  if (path == "proc/cmdline") content = hide_command_line(content);
  if (name == "kallsyms") return hide_addresses(std::move(content));
  return hide_lines(content);
}

std::string without_serial_number(std::string space) {
  constexpr std::size_t kFirst = 0x100;
  constexpr unsigned kDeviceSerialNumber = 0x0003;
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(space[at]); };
  std::size_t at = kFirst;
  // Each takes eight bytes at least, so that a list that runs in circles ends.
  for (int i = 0; i < 480 && at >= kFirst && at + 12 <= space.size(); ++i) {
    const unsigned id = byte(at) | unsigned{byte(at + 1)} << 8;
    if (id == kDeviceSerialNumber) space.replace(at + 4, 8, 8, '\0');
    at = (byte(at + 2) >> 4 | unsigned{byte(at + 3)} << 4) & 0xffcu;
  }
  return space;
}

std::string relevant_log(const std::string& log) {
  std::vector<std::string_view> kept;
  for (const std::string_view line : split(log, '\n')) {
    if (has_any(lower(line), {"nvidia",     "nvrm",
                              "nv_peer",    "nouveau",
                              "mlx",        "infiniband",
                              "ib_core",    "rdma",
                              "iommu",      "dmar",
                              "amd-vi",     "smmu",
                              " acs",       "pcie",
                              "peermem",    "peer_mem",
                              "dma-buf",    "lockdown",
                              "secureboot", "secure boot",
                              "symbol",     "module verification",
                              "bnxt",       "irdma",
                              "efa "})) {
      kept.push_back(line);
    }
  }
  if (kept.size() > kMostLogLines) kept.erase(kept.begin(), kept.end() - kMostLogLines);
  std::string text;
  for (const std::string_view line : kept) text += std::string(line) + "\n";
  return hide_lines(text);
}

}  // namespace gdr::doctor
