#include "peermem/module_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/environment.h"
#include "base/printable.h"
#include "host/packed.h"
#include "peermem/elf.h"

namespace gdr::peermem {
namespace {

// nvidia.ko with the types of the debugger has some 120 MB.
constexpr std::size_t kLargest = std::size_t{512} << 20;
constexpr std::string_view kSigned = "~Module signature appended~\n";
constexpr std::size_t kLongestValue = 200;

template <typename T>
T load(std::string_view bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// Text that others wrote: short, and one line.
std::string value_of(std::string_view text) { return printable(text.substr(0, kLongestValue)); }

void read_info(const Elf& elf, ModuleFile& module) {
  for (std::string_view entry : split(elf.content(".modinfo"), '\0')) {
    const auto take = [&](std::string_view key, std::string& into) {
      if (entry.starts_with(key) && into.empty()) into = value_of(entry.substr(key.size()));
    };
    take("name=", module.name);
    take("version=", module.version);
    take("srcversion=", module.srcversion);
    take("license=", module.license);
    take("vermagic=", module.vermagic);
  }
}

// Until 5.18 a symbol whose value is the CRC, or (MODULE_REL_CRCS) one that says where it is; from
// 5.19 on (commit 7b4537199a4a) always the latter.
std::optional<std::uint32_t> crc_of(const Elf& elf, const Elf::Symbol& symbol) {
  if (symbol.section == Elf::kAbsolute) return static_cast<std::uint32_t>(symbol.value);
  const Elf::Section* section = elf.section(symbol.section);
  if (section == nullptr || symbol.section == Elf::kUndefined) return std::nullopt;
  const std::string_view content = section->content;
  if (content.size() < 4 || symbol.value > content.size() - 4) return std::nullopt;
  return load<std::uint32_t>(content.substr(symbol.value));
}

void read_exports(const Elf& elf, ModuleFile& module) {
  constexpr std::string_view kEntry = "__ksymtab_", kCrc = "__crc_";
  for (const Elf::Symbol& symbol : elf.symbols()) {
    if (!symbol.name.starts_with(kEntry)) continue;
    const Elf::Section* section = elf.section(symbol.section);
    if (section == nullptr || section->name.find("__ksymtab") == std::string_view::npos) continue;
    const bool gpl = section->name.find("__ksymtab_gpl") != std::string_view::npos;
    module.exports[std::string(symbol.name.substr(kEntry.size()))].gpl_only = gpl;
  }
  for (const Elf::Symbol& symbol : elf.symbols()) {
    if (!symbol.name.starts_with(kCrc)) continue;
    const auto found = module.exports.find(std::string(symbol.name.substr(kCrc.size())));
    if (found != module.exports.end()) found->second.crc = crc_of(elf, symbol);
  }
}

void want(std::string_view name, std::uint32_t crc, ModuleFile& module) {
  const auto found = module.imports.find(std::string(name));
  if (found != module.imports.end()) found->second = crc;
}

void read_imports(const Elf& elf, ModuleFile& module) {
  for (const Elf::Symbol& symbol : elf.symbols()) {
    if (symbol.section == Elf::kUndefined) module.imports.emplace(symbol.name, std::nullopt);
  }
  // struct modversion_info: an unsigned long, and a name that fills it up to 64 bytes.
  constexpr std::size_t kRecord = 64, kCrc = 8;
  const std::string_view records = elf.content("__versions");
  for (std::size_t at = 0; records.size() - at >= kRecord; at += kRecord) {
    const std::string_view record = records.substr(at, kRecord), name = record.substr(kCrc);
    want(name.substr(0, name.find('\0')), load<std::uint32_t>(record), module);
  }
  // CONFIG_EXTENDED_MODVERSIONS of 6.14: names of any length beside their CRCs.
  std::string_view crcs = elf.content("__version_ext_crcs");
  for (std::string_view name : split(elf.content("__version_ext_names"), '\0')) {
    if (crcs.size() < 4) break;
    want(name, load<std::uint32_t>(crcs), module);
    crcs.remove_prefix(4);
  }
  module.has_versions =
      std::ranges::any_of(module.imports, [](const auto& one) { return one.second.has_value(); });
}

std::string shown(const host::Files& files, const std::string& path) {
  return printable((files.is_live() ? "/" : files.root() + "/") + path);
}

}  // namespace

Result<ModuleFile> parse_module(std::string_view bytes) {
  const Result<Elf> elf = Elf::parse(bytes);
  if (!elf) return elf.error();
  ModuleFile module;
  module.machine = elf->machine();
  module.is_signed = bytes.ends_with(kSigned);
  read_info(*elf, module);
  if (module.vermagic.empty()) return Error{EINVAL, "is an object file, not a kernel module"};
  read_exports(*elf, module);
  read_imports(*elf, module);
  return module;
}

Result<std::string> read_module_bytes(const host::Files& files, const std::string& path) {
  if (files.kind(path) == host::FileKind::kAbsent) {
    return Error{ENOENT, shown(files, path) + ": no such file"};
  }
  host::Unpacked file = host::unpack(files.part(path, 0, kLargest + 1), kLargest);
  if (file.problem.empty() && file.bytes.empty()) file.problem = "is empty or cannot be read";
  if (!file.problem.empty()) return Error{EINVAL, shown(files, path) + " " + file.problem};
  return std::move(file.bytes);
}

Result<ModuleFile> read_module(const host::Files& files, const std::string& path) {
  const Result<std::string> bytes = read_module_bytes(files, path);
  if (!bytes) return bytes.error();
  Result<ModuleFile> module = parse_module(*bytes);
  if (!module) {
    return Error{module.error().code, shown(files, path) + " " + module.error().message};
  }
  module->path = path;
  if (module->name.empty()) {  // kernels before 4.16 do not write it
    module->name = module_stem(path);
    std::ranges::replace(module->name, '-', '_');
  }
  return module;
}

std::string module_stem(const std::string& path) {
  const std::string file = path.substr(path.rfind('/') + 1);
  for (const char* end : {".ko", ".ko.gz", ".ko.xz", ".ko.zst"}) {
    if (file.ends_with(end)) return file.substr(0, file.size() - std::strlen(end));
  }
  return {};
}

bool is_gpl_compatible(const std::string& license) {
  // license_is_gpl_compatible() of the kernel.
  constexpr std::array kNames = {"GPL",          "GPL v2",       "GPL and additional rights",
                                 "Dual BSD/GPL", "Dual MIT/GPL", "Dual MPL/GPL"};
  return std::ranges::find(kNames, license) != kNames.end();
}

std::string crc_text(std::optional<std::uint32_t> crc) {
  return crc ? fmt::format("0x{:08x}", *crc) : "none";
}

}  // namespace gdr::peermem
