#include "mpi/modules.h"

#include <algorithm>
#include <cctype>

#include "base/environment.h"

namespace gdr::mpi {
namespace {

constexpr unsigned kDeepest = 6;
constexpr std::size_t kMostFiles = 4000;

constexpr const char* kUsualFolders[] = {"/usr/share/modulefiles",
                                         "/usr/share/Modules/modulefiles",
                                         "/usr/share/modules/modulefiles",
                                         "/etc/modulefiles",
                                         "/opt/modulefiles",
                                         "/opt/modules/modulefiles",
                                         "/opt/ohpc/pub/modulefiles",
                                         "/usr/share/lmod/lmod/modulefiles",
                                         "/opt/hpcx/modulefiles",
                                         "/opt/nvidia/hpc_sdk/modulefiles"};

// The parts of a line: Tcl keeps them apart by spaces, Lua by parentheses and commas.
std::vector<std::string> tokens_of(std::string_view line) {
  std::vector<std::string> tokens;
  std::string token;
  const auto end = [&] {
    if (!token.empty()) tokens.push_back(std::move(token));
    token.clear();
  };
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    const bool variable = c == '{' && !token.empty() && token.back() == '$';  // ${name}
    if (variable) {
      const std::size_t close = line.find('}', at);
      if (close == line.npos) break;
      token += line.substr(at + 1, close - at - 1);
      at = close;
      // A slash or a space ends the name, as it does without braces.
    } else if (std::string_view(" \t\r\"'([{};").find(c) != std::string_view::npos) {
      end();
    } else if (c == ',' || c == ')' || c == ']') {
      end();
      tokens.emplace_back(1, c);  // ends a value, or a part of one
    } else {
      token += c;
    }
  }
  end();
  return tokens;
}

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Empty: it depends on something that is not known here.
std::string expand(const std::string& token, const Variables& variables) {
  std::string text;
  for (std::size_t at = 0; at < token.size(); ++at) {
    if (token[at] != '$') {
      text += token[at];
      continue;
    }
    std::size_t end = at + 1;
    while (end < token.size() && is_name(token[end])) ++end;
    const auto found = variables.find(token.substr(at + 1, end - at - 1));
    if (found == variables.end()) return {};
    text += found->second;
    at = end - 1;
  }
  return text;
}

// [file join $root bin], pathJoin(base, "bin") and base .. "/bin"
std::string value_of(const std::vector<std::string>& tokens, std::size_t from,
                     const Variables& variables) {
  std::string value;
  bool joins = false;
  for (std::size_t i = from; i < tokens.size(); ++i) {
    const std::string& token = tokens[i];
    if (token == "pathJoin" || token == "file" || token == "join") {
      joins = true;
      continue;
    }
    if (token == ".." || token == "=" || token == "--") continue;
    if (token == "," && (joins || value.empty())) continue;
    if (token == "," || token == ")" || token == "]") break;
    const auto plain = variables.find(token);  // a Lua variable has no '$'
    const std::string part = plain != variables.end() ? plain->second : expand(token, variables);
    if (part.empty()) return {};
    value += (joins && !value.empty() ? "/" : "") + part;
  }
  return value;
}

bool is_for_mpi(std::string name) {
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::any_of(
      std::initializer_list<const char*>{"mpi", "mpich", "mvapich", "hpcx", "hpc-x", "nvhpc",
                                         "oneapi"},
      [&](const char* word) { return name.find(word) != std::string::npos; });
}

class Walk {
 public:
  Walk(const Machine& machine, std::vector<Module>& found) : machine_(machine), found_(found) {}

  void folder(const std::string& root, const std::string& below, unsigned depth) {
    const std::string path = below.empty() ? root : root + "/" + below;
    for (const std::string& name : machine_.entries(path)) {
      if (name.starts_with('.') || ++files_ > kMostFiles) continue;
      const std::string inside = below.empty() ? name : below + "/" + name;
      const std::string real = machine_.real_path(root + "/" + inside);
      const host::FileKind kind = machine_.files.kind(Machine::below_root(real));
      if (kind == host::FileKind::kFolder) {
        if (depth < kDeepest) folder(root, inside, depth + 1);
      } else if (is_for_mpi(inside)) {
        file(root, inside);
      }
    }
  }

 private:
  void file(const std::string& root, const std::string& inside) {
    const std::string path = root + "/" + inside;
    for (const std::string& bin :
         folders_of_module(machine_.files.text(Machine::below_root(path)))) {
      std::string name = inside;
      if (name.ends_with(".lua")) name.resize(name.size() - 4);
      found_.push_back({name, path, bin});
    }
  }

  const Machine& machine_;
  std::vector<Module>& found_;
  std::size_t files_ = 0;
};

}  // namespace

std::vector<std::string> folders_of_module(std::string_view text) {
  std::vector<std::string> folders;
  Variables variables;
  for (const std::string_view line : split(text, '\n')) {
    const std::vector<std::string> tokens = tokens_of(line);
    if (tokens.size() < 3 || tokens[0].starts_with('#') || tokens[0].starts_with("--")) continue;
    const bool local = tokens[0] == "local" && tokens.size() > 3;
    if (tokens[0] == "set" || tokens[0] == "setenv" || local || tokens[1] == "=") {
      const std::string& name =
          tokens[0] == "set" || tokens[0] == "setenv" || local ? tokens[1] : tokens[0];
      if (const std::string value = value_of(tokens, 2, variables); !value.empty()) {
        variables[name] = value;
      }
      continue;
    }
    const bool path = tokens[0] == "prepend-path" || tokens[0] == "prepend_path" ||
                      tokens[0] == "append-path" || tokens[0] == "append_path";
    if (!path || tokens[1] != "PATH") continue;
    const std::string value = value_of(tokens, 2, variables);
    if (value.starts_with('/')) folders.push_back(value);
  }
  return folders;
}

std::vector<Module> mpi_modules(const Machine& machine) {
  std::vector<std::string> roots = machine.folders("MODULEPATH");
  for (const char* folder : kUsualFolders) {
    if (std::ranges::find(roots, folder) == roots.end()) roots.emplace_back(folder);
  }
  std::vector<Module> found;
  Walk walk(machine, found);
  for (const std::string& root : roots) walk.folder(root, "", 0);
  return found;
}

}  // namespace gdr::mpi
