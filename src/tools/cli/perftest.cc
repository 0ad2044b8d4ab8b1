#include "cli/perftest.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/environment.h"
#include "cli/perftest_options.h"

namespace gdr::cli {
namespace {

using Kind = PerftestOption::Kind;

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

class Translator {
 public:
  explicit Translator(const std::vector<std::string>& words) : typed_(words) {}

  Result<FromPerftest> run() {
    for (at_ = 0; at_ < typed_.size(); ++at_) {
      const std::string& word = typed_[at_];
      if (word == "--") break;
      const Result<bool> taken = word.starts_with("--") ? read_name(word) : read_letters(word);
      if (!taken) return taken.error();
      if (!*taken) made_.words.push_back(word);
    }
    made_.words.insert(made_.words.end(), typed_.begin() + static_cast<std::ptrdiff_t>(at_),
                       typed_.end());
    if (Result<void> named = name_port(); !named) return named.error();
    return std::move(made_);
  }

 private:
  // "--use_cuda=0", "--size 64".
  Result<bool> read_name(const std::string& word) {
    const std::size_t equals = word.find('=');
    const PerftestOption* option = find_perftest_option(word.substr(2, equals - 2));
    if (option == nullptr) return false;
    std::optional<std::string> value;
    if (equals != std::string::npos) value = word.substr(equals + 1);
    return take(*option, word.substr(0, equals), value);
  }

  // "-s", "-s65536", "-aF": letters without a value may stand together. A word with a letter that
  // perftest does not have is left to our own parser.
  Result<bool> read_letters(const std::string& word) {
    if (word.size() < 2 || word[0] != '-' || word[1] == 'h') return false;
    for (std::size_t i = 1; i < word.size(); ++i) {
      const PerftestOption* option = find_perftest_option(word[i]);
      if (option == nullptr) return false;
      if (takes_value(*option)) break;
    }
    for (std::size_t i = 1; i < word.size(); ++i) {
      const PerftestOption& option = *find_perftest_option(word[i]);
      std::optional<std::string> value;
      const bool has_value = takes_value(option);
      if (has_value && i + 1 < word.size()) value = word.substr(i + 1);
      Result<bool> taken = take(option, std::string("-") + word[i], value);
      if (!taken || has_value) return taken;
    }
    return true;
  }

  // The word behind it, if that can be its value.
  std::optional<std::string> next_value(const PerftestOption& option) {
    if (at_ + 1 >= typed_.size()) return std::nullopt;
    const std::string& next = typed_[at_ + 1];
    if (option.kind == Kind::kOptional ? !is_number(next) : next.starts_with('-')) {
      return std::nullopt;
    }
    ++at_;
    return next;
  }

  Result<bool> take(const PerftestOption& option, const std::string& typed,
                    std::optional<std::string> value) {
    if (takes_value(option) && !value) value = next_value(option);
    if (takes_value(option) && !value && option.kind != Kind::kOptional) {
      return Error{EINVAL, typed + " needs a value"};
    }
    switch (option.kind) {
      case Kind::kValue:
        say_ours(typed + " " + *value, option.ours, value);
        break;
      case Kind::kOptional:
        // Without a value the first GPU is meant.
        say_ours(value ? typed + "=" + *value : typed, value ? option.ours : "--memory gpu", value);
        break;
      case Kind::kFixed:
        say_ours(typed, option.ours, std::nullopt);
        break;
      case Kind::kDevice:
        device_ = *value;
        break;
      case Kind::kPort:
        port_ = *value;
        break;
      case Kind::kNotNeeded:
        made_.notes.push_back(fmt::format("{} is not needed: {}", typed, option.ours));
        break;
      case Kind::kRefused:
        return Error{EINVAL, fmt::format("perftest's {} is not there: {}", typed, option.ours)};
    }
    return true;
  }

  void say_ours(const std::string& typed, const std::string& ours,
                const std::optional<std::string>& value) {
    for (std::string_view word : split(ours, ' ')) made_.words.emplace_back(word);
    if (value) made_.words.push_back(*value);
    made_.notes.push_back(
        fmt::format("{} is {}{} here", typed, ours, value ? " " + *value : std::string()));
  }

  Result<void> name_port() {
    if (device_.empty() && port_.empty()) return {};
    if (device_.empty()) {
      return Error{EINVAL, fmt::format("-i {0} needs -d NAME, which make --nic NAME:{0}", port_)};
    }
    const std::string nic = port_.empty() ? device_ : device_ + ":" + port_;
    say_ours(port_.empty() ? "-d " + device_ : fmt::format("-d {} -i {}", device_, port_), "--nic",
             nic);
    return {};
  }

  const std::vector<std::string>& typed_;
  std::size_t at_ = 0;
  FromPerftest made_;
  std::string device_, port_;
};

}  // namespace

Result<FromPerftest> from_perftest(const std::vector<std::string>& words) {
  if (!words.empty() && words.front() == "compare") return FromPerftest{words, {}};
  return Translator(words).run();
}

manual::Aliases perftest_aliases() {
  manual::Aliases aliases{"Options of perftest",
                          "They are taken, too, and a line on standard error says what each is "
                          "called here. Letters may stand together, and a value may follow its "
                          "letter without a space.",
                          {}};
  for (const PerftestOption& one : perftest_options()) {
    if (one.kind == Kind::kRefused) continue;
    manual::Option option{{}, one.value, one.ours};
    if (one.letter != '\0') option.names.push_back(std::string("-") + one.letter);
    if (*one.name != '\0') option.names.push_back(std::string("--") + one.name);
    if (one.kind == Kind::kNotNeeded) option.text = std::string("Not needed: ") + one.ours + ".";
    if (takes_value(one) && one.kind != Kind::kPort) option.text += std::string(" ") + one.value;
    aliases.options.push_back(std::move(option));
  }
  return aliases;
}

}  // namespace gdr::cli
