// What a capture may hold: only what is known to be harmless. Paths, names, lines and values that
// no table here lists are left out.
//
//   if (is_harmless_place(path)) ...
//   if (auto content = harmless_content("sys/class/net/eth0/mtu", "9000\n")) ...
//
// These stay although they identify machines: MAC addresses and GIDs, which connect the names of a
// NIC; names of NICs and interfaces; the machine's model; the kernel's release.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace gdr::doctor {

constexpr const char* kLeftOut = "(left-out)";

// Whether a capture may say that this is there: below /sys and /proc, and what the checks look for
// by its name.
bool is_harmless_place(const std::string& path);
// Whether a capture may say that a folder which was listed has an entry of this name.
bool is_harmless_name(const std::string& folder, const std::string& name);
// The target of a dangling symbolic link, if a capture may show it.
std::optional<std::string> harmless_dangling(const std::string& target);

// The lines of known form in the content of this path; nothing if no form is known for the path.
std::optional<std::string> harmless_content(const std::string& path, const std::string& content);

// Parameters that checks ask for, with values that mean something; words of no value if known.
std::string harmless_command_line(const std::string& line);

// The messages that a check or a symptom of gdr explain looks for. Each is written anew from its
// known words, so that nothing else of its line is kept.
std::string harmless_log(const std::string& log);

// Variables with known names and values of known form, for proc/self/environ.
std::string harmless_variables(const std::map<std::string, std::string>& variables);

// A card's name and part number from its product data (VPD), without its serial number.
std::string harmless_product_data(const std::string& bytes);

// The header, where the capabilities stand, and of these the ones that checks read; all else, such
// as serial numbers, product data (VPD) and what a vendor put there, is zero.
std::string harmless_config_space(const std::string& space);

}  // namespace gdr::doctor
