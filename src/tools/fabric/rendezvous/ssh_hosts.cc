#include "fabric/rendezvous/ssh_hosts.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/environment.h"
#include "base/printable.h"
#include "fabric/host_list.h"

namespace gdr::fabric {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20;

bool is_blank(char character) { return character == ' ' || character == '\t' || character == '\r'; }

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  line = line.substr(0, line.find('#'));
  while (true) {
    while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
    if (line.empty()) return words;
    std::size_t length = 0;
    while (length < line.size() && !is_blank(line[length])) ++length;
    words.push_back(line.substr(0, length));
    line.remove_prefix(length);
  }
}

// What OpenSSH would take for an option, or a shell for something else than a word.
bool is_name(std::string_view host) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_@:%";
  const std::size_t at = host.find('@');
  const std::string_view name = at == std::string_view::npos ? host : host.substr(at + 1);
  return at != 0 && host.front() != '-' && !name.empty() && name.front() != '-' &&
         name.find('@') == std::string_view::npos &&
         host.find_first_not_of(kAllowed) == std::string_view::npos;
}

// Gathers hosts, each once.
class Gathered {
 public:
  // `where`: "hosts.txt line 3: "
  Result<void> add(std::string_view list, const std::string& where) {
    const Result<std::vector<std::string>> hosts = expand_host_list(list);
    if (!hosts) return Error{EINVAL, where + hosts.error().message};
    for (const std::string& host : *hosts) {
      if (!is_name(host)) {
        return Error{EINVAL, where + "'" + printable(host) + "' is no name of a host"};
      }
      // As two users it would still be one host.
      const std::string name = host.substr(host.find('@') + 1);
      if (!names_.insert(name).second) {
        return Error{EINVAL,
                     fmt::format("{}host {} is there twice; name each host once (one process of "
                                 "gdr fabric takes all NICs of its host)",
                                 where, name)};
      }
      hosts_.push_back(host);
    }
    return {};
  }

  std::vector<std::string> take() { return std::move(hosts_); }

 private:
  std::vector<std::string> hosts_;
  std::set<std::string> names_;
};

Result<std::vector<std::string>> some_of(Gathered& gathered, const std::string& none) {
  std::vector<std::string> hosts = gathered.take();
  if (hosts.empty()) return Error{EINVAL, none};
  return hosts;
}

Result<std::string> text_of(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return Error{EISDIR, "--hosts " + path + ": is a folder; give a file with a host a line"};
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return from_errno("--hosts " + path);
  std::string text(kMostBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMostBytes) return Error{EFBIG, "--hosts " + path + ": longer than 16 MiB"};
  return text;
}

}  // namespace

Result<std::vector<std::string>> hosts_of_list(std::string_view text) {
  Gathered gathered;
  if (Result<void> added = gathered.add(text, "--hosts: "); !added) return added.error();
  return some_of(gathered, "--hosts: no host is named");
}

Result<std::vector<std::string>> hosts_of_file(std::string_view text, const std::string& name) {
  Gathered gathered;
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    const std::string where = fmt::format("{} line {}: ", name, ++number);
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty()) continue;
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i].find('=') != std::string_view::npos) continue;
      return Error{EINVAL, fmt::format("{}'{}' behind {}; put one host on a line", where, words[i],
                                       words[0])};
    }
    if (Result<void> added = gathered.add(words[0], where); !added) return added.error();
  }
  return some_of(gathered, name + " names no host; put one on each line");
}

Result<std::vector<std::string>> read_hosts(const std::string& given) {
  std::error_code error;
  if (given.find('/') == std::string::npos && !std::filesystem::exists(given, error)) {
    return hosts_of_list(given);
  }
  const Result<std::string> text = text_of(given);
  if (!text) return text.error();
  return hosts_of_file(*text, given);
}

}  // namespace gdr::fabric
