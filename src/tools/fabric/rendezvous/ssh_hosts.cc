#include "fabric/rendezvous/ssh_hosts.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/environment.h"

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
  return !host.empty() && host.front() != '-' && host.front() != '@' && host.back() != '@' &&
         host.find_first_not_of(kAllowed) == std::string_view::npos;
}

// Gathers hosts, each once.
class Gathered {
 public:
  explicit Gathered(const ExpandHosts& expand) : expand_(expand) {}

  // `where`: "hosts.txt line 3: "
  Result<void> add(std::string_view list, const std::string& where) {
    // USER@ stands before a list, too: root@n[1-4].
    const std::size_t at = list.find('@');
    const bool has_user = at != std::string_view::npos && list.find(',') == std::string_view::npos;
    const std::string user(has_user ? list.substr(0, at + 1) : std::string_view());
    const Result<std::vector<std::string>> names = expand_(list.substr(user.size()));
    if (!names) return Error{EINVAL, where + names.error().message};
    for (const std::string& name : *names) {
      const std::string host = user + name;
      if (!is_name(host)) return Error{EINVAL, where + "'" + host + "' is no name of a host"};
      const auto [known, is_new] = first_.try_emplace(host.substr(host.find('@') + 1), where);
      if (!is_new) {
        return Error{EINVAL,
                     fmt::format("{}{} is there twice; name each host once (one process of gdr "
                                 "fabric takes all rails of its host)",
                                 where, known->first)};
      }
      hosts_.push_back(host);
    }
    return {};
  }

  std::vector<std::string> take() { return std::move(hosts_); }

 private:
  const ExpandHosts& expand_;
  std::vector<std::string> hosts_;
  std::map<std::string, std::string> first_;
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

Result<std::vector<std::string>> hosts_of_list(std::string_view text, const ExpandHosts& expand) {
  Gathered gathered(expand);
  // Commas in brackets separate numbers.
  std::size_t begin = 0, depth = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    const char character = at < text.size() ? text[at] : ',';
    if (character == '[') ++depth;
    if (character == ']' && depth > 0) --depth;
    if (at < text.size() && (character != ',' || depth > 0)) continue;
    const std::string_view part = text.substr(begin, at - begin);
    if (part.empty()) {
      return Error{EINVAL, fmt::format("--hosts '{}': a name is missing between commas", text)};
    }
    if (Result<void> added = gathered.add(part, "--hosts: "); !added) return added.error();
    begin = at + 1;
  }
  return some_of(gathered, "--hosts: no host is named");
}

Result<std::vector<std::string>> hosts_of_file(std::string_view text, const std::string& name,
                                               const ExpandHosts& expand) {
  Gathered gathered(expand);
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

Result<std::vector<std::string>> read_hosts(const std::string& given, const ExpandHosts& expand) {
  std::error_code error;
  if (given.find('/') == std::string::npos && !std::filesystem::exists(given, error)) {
    return hosts_of_list(given, expand);
  }
  const Result<std::string> text = text_of(given);
  if (!text) return text.error();
  return hosts_of_file(*text, given, expand);
}

}  // namespace gdr::fabric
