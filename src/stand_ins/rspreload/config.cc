#include "rspreload/config.h"

#include <netinet/in.h>
#include <strings.h>
#include <sys/socket.h>

#include <algorithm>

namespace gdr::rspreload {
namespace {

constexpr std::string_view kSpace = " \t\r\v\f";

std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kSpace), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kSpace));
  line.remove_prefix(word.size());
  return word;
}

bool is(std::string_view word, std::string_view name) {
  return word.size() == name.size() && strncasecmp(word.data(), name.data(), name.size()) == 0;
}

struct Value {
  std::string_view name;
  int value;
};

constexpr Value kDomains[] = {
    {"*", 0},
    {"INET", AF_INET},
    {"AF_INET", AF_INET},
    {"PF_INET", AF_INET},
    {"INET6", AF_INET6},
    {"AF_INET6", AF_INET6},
    {"PF_INET6", AF_INET6},
    // A family of rdma-core's own, of which no socket here is.
    {"IB", 27},
    {"AF_IB", 27},
    {"PF_IB", 27},
};
constexpr Value kTypes[] = {
    {"*", 0},
    {"STREAM", SOCK_STREAM},
    {"SOCK_STREAM", SOCK_STREAM},
    {"DGRAM", SOCK_DGRAM},
    {"SOCK_DGRAM", SOCK_DGRAM},
};
constexpr Value kProtocols[] = {
    {"*", 0},
    {"TCP", IPPROTO_TCP},
    {"IPPROTO_TCP", IPPROTO_TCP},
    {"UDP", IPPROTO_UDP},
    {"IPPROTO_UDP", IPPROTO_UDP},
};

template <std::size_t kCount>
bool look_up(const Value (&values)[kCount], std::string_view word, int& found) {
  for (const Value& value : values) {
    if (!is(word, value.name)) continue;
    found = value.value;
    return true;
  }
  return false;
}

int protocol_of(int type, int protocol) {
  if (protocol != 0) return protocol;
  return type == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP;
}

}  // namespace

bool Config::parse(std::string_view line, Rule& rule) {
  if (line.starts_with('#')) return false;
  const std::string_view program = take_word(line);
  if (program.empty() || program.size() > kLongestName) return false;
  const bool every = program == "*";
  rule.program[every ? 0 : program.copy(rule.program, kLongestName)] = '\0';
  return look_up(kDomains, take_word(line), rule.domain) &&
         look_up(kTypes, take_word(line), rule.type) &&
         look_up(kProtocols, take_word(line), rule.protocol);
}

void Config::read(std::string_view text) {
  while (!text.empty() && count_ < kMostRules) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (parse(line, rules_[count_])) ++count_;
  }
}

bool Config::Rule::is_for(std::string_view name) const {
  const std::string_view beginning = program;
  return is(name.substr(0, beginning.size()), beginning);
}

bool Config::concerns(std::string_view program) const {
  return count_ == 0 || std::any_of(rules_, rules_ + count_,
                                    [&](const Rule& rule) { return rule.is_for(program); });
}

bool Config::takes(std::string_view program, int domain, int type, int protocol) const {
  type &= ~(SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (domain != AF_INET && domain != AF_INET6) return false;
  if (type != SOCK_STREAM && type != SOCK_DGRAM) return false;
  protocol = protocol_of(type, protocol);
  if (protocol != (type == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP)) return false;
  if (count_ == 0) return true;
  return std::any_of(rules_, rules_ + count_, [&](const Rule& rule) {
    return rule.is_for(program) && (rule.domain == kAny || rule.domain == domain) &&
           (rule.type == kAny || rule.type == type) &&
           (rule.protocol == kAny || rule.protocol == protocol);
  });
}

}  // namespace gdr::rspreload
