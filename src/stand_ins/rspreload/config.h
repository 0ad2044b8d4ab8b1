// Config: which sockets of a program become rsockets: the lines of rdma-core's
// /etc/rdma/rsocket/preload_config. No I/O.
//
//   Config config;
//   config.read("ib_server  *      STREAM  TCP\n"        // PROGRAM DOMAIN TYPE PROTOCOL
//               "iperf      INET6  *       *\n");
//   if (config.takes(program_invocation_short_name, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) ...
//
// Without a single line that makes sense, every socket of the Internet is one.
#pragma once

#include <cstddef>
#include <string_view>

namespace gdr::rspreload {

class Config {
 public:
  static constexpr std::size_t kMostRules = 256;

  // A line that makes no sense, a comment ('#' in front) and what is beyond kMostRules are ignored.
  void read(std::string_view text);

  // `type` may have SOCK_NONBLOCK and SOCK_CLOEXEC.
  bool takes(std::string_view program, int domain, int type, int protocol) const;

  // Whether any socket of the program may be taken.
  bool concerns(std::string_view program) const;

  std::size_t rules() const { return count_; }

 private:
  static constexpr int kAny = 0;
  static constexpr std::size_t kLongestName = 63;

  struct Rule {
    char program[kLongestName + 1];  // the beginning of its name; empty: every program
    int domain, type, protocol;

    bool is_for(std::string_view name) const;
  };

  static bool parse(std::string_view line, Rule& rule);

  Rule rules_[kMostRules];
  std::size_t count_ = 0;
};

}  // namespace gdr::rspreload
