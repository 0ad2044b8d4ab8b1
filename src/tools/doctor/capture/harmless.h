// What may stand in a capture: what is known to be harmless, and nothing else. A place, a name, a
// line or a value that no table here has is left out, whatever it says.
//
//   if (is_harmless_place(path)) ...
//   if (auto content = harmless_content("sys/class/net/eth0/mtu", "9000\n")) ...
//
// What stays although it tells machines apart: MAC addresses and GIDs, which join the names of a
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
// Of a symbolic link that leads nowhere: what it says, if that may be said.
std::optional<std::string> harmless_dangling(const std::string& target);

// Of the content of what was asked for under this path the lines of known form; nothing for a file
// of which none is known.
std::optional<std::string> harmless_content(const std::string& path, const std::string& content);

// Parameters that checks ask for, with values that mean something; words of no value if known.
std::string harmless_command_line(const std::string& line);

// The messages that a check or a symptom of gdr explain looks for. Each is written anew from its
// known words, so that nothing else of its line is kept.
std::string harmless_log(const std::string& log);

// Of variables with known names the values of known form, for proc/self/environ.
std::string harmless_variables(const std::map<std::string, std::string>& variables);

// Of a card's product data (VPD) its name and part number, without its serial number.
std::string harmless_product_data(const std::string& bytes);

// The header, where the capabilities stand, and of these the ones that checks read; all else, such
// as serial numbers, product data (VPD) and what a vendor put there, is zero.
std::string harmless_config_space(const std::string& space);

}  // namespace gdr::doctor
