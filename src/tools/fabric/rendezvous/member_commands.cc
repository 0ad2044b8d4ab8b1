#include <fmt/format.h>

#include "base/environment.h"
#include "fabric/rendezvous/member_processes.h"
#include "text/shell_word.h"

namespace gdr::fabric {
namespace {

std::vector<std::string> member_words(const std::string& program,
                                      const std::vector<std::string>& arguments,
                                      std::uint32_t rank) {
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.push_back(fmt::format("--rank={}", rank));
  return words;
}

std::vector<std::string> shell_words(const std::string& ssh) {
  std::vector<std::string> words;
  for (const std::string_view word : split(ssh, ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  if (words.size() == 1 && words[0] == "ssh") {
    // Nobody can answer a question. A host that dies is noticed, and nothing is forwarded.
    for (const char* word : {"-T", "-x", "-a", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15",
                             "-o", "ServerAliveInterval=10", "-o", "ServerAliveCountMax=3", "-o",
                             "ClearAllForwardings=yes", "-o", "LogLevel=ERROR"}) {
      words.emplace_back(word);
    }
  }
  return words;
}

}  // namespace

std::vector<MemberCommand> over_ssh(const std::vector<std::string>& hosts, const std::string& ssh,
                                    const std::string& program,
                                    const std::vector<std::string>& arguments) {
  std::vector<MemberCommand> commands;
  for (const std::string& host : hosts) {
    MemberCommand command{host.substr(host.find('@') + 1), shell_words(ssh), true};
    command.words.push_back(host);
    const auto rank = static_cast<std::uint32_t>(commands.size());
    for (const std::string& word : member_words(program, arguments, rank)) {
      command.words.push_back(text::shell_word(word));  // the shell of the other host reads it
    }
    commands.push_back(std::move(command));
  }
  return commands;
}

std::vector<MemberCommand> on_this_host(std::uint32_t count, const std::string& program,
                                        const std::vector<std::string>& arguments) {
  std::vector<MemberCommand> commands;
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    commands.push_back({fmt::format("p{}", rank), member_words(program, arguments, rank)});
  }
  return commands;
}

}  // namespace gdr::fabric
