// ModuleFile: what a kernel module's file says of itself: for which kernel it was built, what it
// exports, what it wants of others, and by which symbol versions (CRCs) each.
//
//   Result<ModuleFile> driver = read_module(files, "lib/modules/6.1.0/updates/dkms/nvidia.ko.xz");
//   std::optional<std::uint32_t> crc = driver->exports.at("nvidia_p2p_get_pages").crc;
//
// A file may be packed by gzip, xz or zstd. It may be anybody's, so nothing in it is trusted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "host/files.h"

namespace gdr::peermem {

struct Export {
  std::optional<std::uint32_t> crc;  // nothing: its builder made no symbol versions
  bool gpl_only = false;
};
using Exports = std::map<std::string, Export>;
// What is wanted, by which version; nothing: the module was built without the exporter's.
using Imports = std::map<std::string, std::optional<std::uint32_t>>;

struct ModuleFile {
  std::string path;  // below the root that it was read from
  std::string name;  // "nvidia_peermem"
  std::string version, srcversion, license;
  std::string vermagic;  // "6.1.0-56-amd64 SMP preempt mod_unload modversions "
  std::uint16_t machine = 0;
  bool has_versions = false;  // of what it wants
  bool is_signed = false;
  Exports exports;
  Imports imports;

  std::string kernel() const { return vermagic.substr(0, vermagic.find(' ')); }
};

// Unpacked bytes. The error is for a sentence about the file: "is not an ELF file".
Result<ModuleFile> parse_module(std::string_view bytes);

// The error's line names the file, as the root shows it.
Result<ModuleFile> read_module(const host::Files& files, const std::string& path);
// The unpacked bytes of a module's file, which is what a kernel is given.
Result<std::string> read_module_bytes(const host::Files& files, const std::string& path);

// "nvidia-peermem" of "updates/dkms/nvidia-peermem.ko.zst"; empty for what is no module's file.
std::string module_stem(const std::string& path);
// Whether code of this licence may use what is exported for GPL modules only.
bool is_gpl_compatible(const std::string& license);

std::string crc_text(std::optional<std::uint32_t> crc);  // "0x219924d1", "none"

}  // namespace gdr::peermem
