#include "nccl/log.h"

#include <algorithm>

#include "nccl/text.h"

namespace gdr::nccl {
namespace {

void count(std::optional<Evidence>& evidence, const Message& message) {
  if (!evidence) evidence = Evidence{message.line, quoted_line(message.text), 0};
  ++evidence->times;
}

void count(Evidence& evidence, const Message& message) {
  if (evidence.times++ != 0) return;
  evidence.line = message.line;
  evidence.text = quoted_line(message.text);
}

// The entry of `key`, or nullptr where the map is full.
template <typename Map>
typename Map::mapped_type* entry(Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  if (found != map.end()) return &found->second;
  return map.size() < kMostNames ? &map[key] : nullptr;
}

template <typename Set, typename Value>
void add(Set& set, Value&& value) {
  if (set.size() < kMostNames) set.insert(std::forward<Value>(value));
}

// "NCCL version 2.28.9+cuda12.9"
void read_version(std::string_view text, Version& version) {
  Words words(text);
  if (version.known() || !words.skip_to("NCCL version ")) return;
  const std::string_view all = Words(words.rest()).until(" ").substr(0, 64);
  const auto next_number = [&words]() -> std::int64_t {
    words.skip(".");
    return words.number().value_or(-1);
  };
  const std::int64_t major = next_number(), minor = next_number(), patch = next_number();
  constexpr std::int64_t kMost = 9999;
  if (major < 0 || major > kMost || minor < 0 || minor > kMost || patch > kMost) return;
  version = {static_cast<int>(major), static_cast<int>(minor), static_cast<int>(patch),
             std::string(all)};
}

// The number behind `word`: "comm 0x1 rank 0 nranks 16 cudaDev 0"
void read_largest(std::string_view text, std::string_view word, std::int64_t& value) {
  Words words(text);
  if (words.skip_to(word)) value = std::max(value, words.number().value_or(0));
}

void read_communicator(std::string_view text, Log& log) {
  if (text.find("comm ") == std::string_view::npos) return;
  read_largest(text, " nranks ", log.ranks);
  read_largest(text, " nRanks ", log.ranks);
  read_largest(text, " nNodes ", log.nodes);
}

void read_network(std::string_view text, Log& log) {
  constexpr std::size_t kLongestName = 64;
  Words words(text);
  if (words.skip("Using network "))
    add(log.networks, std::string(words.rest().substr(0, kLongestName)));
}

void take_connection(const Connection& connection, Log& log) {
  const auto found = log.connections.find(connection);
  if (found != log.connections.end()) {
    ++found->second;
  } else if (log.connections.size() < kMostConnections) {
    log.connections.emplace(connection, 1);
  } else {
    ++log.connections_left_out;
    if (is_network(connection) && connection.certain && !connection.gdrdma) ++log.plain_left_out;
  }
}

}  // namespace

const Setting* Log::setting(const std::string& name) const {
  const auto found = settings.find(name);
  return found == settings.end() ? nullptr : &found->second;
}

LogReader::LogReader()
    : lines_([this](const Line& line) {
        for_each_message(line, [this](const Message& message) { take(message); });
      }) {}

bool LogReader::take_gdr(const Message& message) {
  if (auto device = read_device(message.text)) {
    device->host = message.host;
    const std::string key = device->host + '/' + device->plugin + '/' + device->name + '/' +
                            (device->enabled ? '+' : '-');
    if (DeviceGdr* known = entry(log_.devices, key)) {
      if (known->evidence.times == 0) *known = *std::move(device);
      count(known->evidence, message);
    }
    return true;
  }
  if (auto distance = read_distance(message.text)) {
    distance->host = message.host;
    if (Evidence* known = entry(log_.distances, *distance)) count(*known, message);
    return true;
  }
  return false;
}

void LogReader::take(const Message& message) {
  ++log_.messages;
  if (message.level == Level::kInfo) ++log_.infos;
  if (message.level == Level::kWarning) {
    ++log_.warnings;
    count(log_.first_warning, message);
  }
  const std::pair process(message.host, message.process);
  if (!message.host.empty() && log_.processes.find(process) == log_.processes.end()) {
    add(log_.hosts, std::string(message.host));
    add(log_.processes, std::pair(std::string(message.host), message.process));
  }
  read_version(message.text, log_.version);
  if (message.level != Level::kInfo && message.level != Level::kWarning) return;
  if (const auto connection = read_connection(message)) {
    take_connection(*connection, log_);
    return;
  }
  if (const auto setting = read_setting(message.text)) {
    if (Setting* known = entry(log_.settings, setting->first)) {
      if (known->evidence.times == 0) known->value = setting->second;
      count(known->evidence, message);
    }
    return;
  }
  if (take_gdr(message)) return;
  if (const auto fact = find_fact(message.text)) {
    count(log_.facts[static_cast<std::size_t>(*fact)], message);
  }
  read_communicator(message.text, log_);
  read_network(message.text, log_);
}

Log LogReader::finish() {
  lines_.finish();
  log_.lines = lines_.count();
  return std::move(log_);
}

}  // namespace gdr::nccl
