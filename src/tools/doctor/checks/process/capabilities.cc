#include "doctor/checks/process/capabilities.h"

#include <charconv>

namespace gdr::doctor {

std::optional<std::uint64_t> effective_capabilities(const host::Files& files,
                                                    const std::string& process) {
  constexpr std::string_view kLabel = "CapEff:";
  const std::string text = files.text(process + "/status");
  const auto label = text.find(kLabel);
  if (label == std::string::npos) return std::nullopt;
  const auto begin = text.find_first_not_of(" \t", label + kLabel.size());
  if (begin == std::string::npos) return std::nullopt;
  std::uint64_t mask = 0;
  const auto result = std::from_chars(text.data() + begin, text.data() + text.size(), mask, 16);
  if (result.ec != std::errc()) return std::nullopt;
  return mask;
}

}  // namespace gdr::doctor
