#include "options.h"

#include <getopt.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fail.h"

namespace gdr::bench {
namespace {

constexpr char kHelp[] =
    "usage: bench_gpu_path [--gpus A,B] [--memory alloc|vmm] [--sizes LIST] [--in-flight N]\n"
    "                      [--seconds S]\n"
    "RC writes and reads of GPU memory between two processes, beside bare copies of the CUDA "
    "driver\n"
    "and beside staging through pinned memory. Run it by `gdr run`.\n"
    "  --gpus A,B      GPU of this process and of its peer (0,1; with one GPU 0,0)\n"
    "  --memory KIND   GPU memory from cuMemAlloc (alloc) or cuMemCreate (vmm) (alloc)\n"
    "  --sizes LIST    bytes of a transfer, such as 4K,1M (4K,64K,256K,1M,4M,16M,64M,256M)\n"
    "  --in-flight N   of the pipelined cases, 2 to 16 (4)\n"
    "  --seconds S     for the measuring, 1 to 3600 (90); three rounds of each size in any case\n";

[[noreturn]] void wrong(const std::string& what) {
  std::fprintf(stderr, "%s: %s; see %s --help\n", kProgram, what.c_str(), kProgram);
  std::exit(2);
}

bool read_number(std::string_view text, long least, long most, long& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= least &&
         number <= most;
}

int number_of(const char* option, const char* text, long least, long most) {
  long number = 0;
  if (!read_number(text, least, most, number)) {
    wrong(std::string(option) + " takes " + std::to_string(least) + " to " + std::to_string(most) +
          ", found '" + text + "'");
  }
  return static_cast<int>(number);
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

std::size_t size_of(std::string_view text) {
  std::string_view digits = text;
  long unit = 1;
  if (!digits.empty() && (digits.back() == 'K' || digits.back() == 'M')) {
    unit = digits.back() == 'K' ? 1 << 10 : 1 << 20;
    digits.remove_suffix(1);
  }
  long number = 0;
  if (!read_number(digits, 1, (1 << 30) / unit, number) || number * unit % 8 != 0) {
    wrong("--sizes takes multiples of 8 up to 1024M, found '" + std::string(text) + "'");
  }
  return static_cast<std::size_t>(number * unit);
}

void take(Options& options, int option, const char* text) {
  const std::string_view value = text;
  if (option == 'g') {
    const auto parts = split(value);
    long ordinals[2] = {};
    if (parts.size() != 2 || !read_number(parts[0], 0, 63, ordinals[0]) ||
        !read_number(parts[1], 0, 63, ordinals[1])) {
      wrong("--gpus takes two ordinals such as 0,1, found '" + std::string(value) + "'");
    }
    std::copy(std::begin(ordinals), std::end(ordinals), options.gpus);
  } else if (option == 'm') {
    if (value != "alloc" && value != "vmm") {
      wrong("--memory takes alloc or vmm, found '" + std::string(value) + "'");
    }
    options.vmm = value == "vmm";
  } else if (option == 's') {
    options.sizes.clear();
    for (const std::string_view part : split(value)) options.sizes.push_back(size_of(part));
  } else if (option == 'n') {
    options.in_flight = number_of("--in-flight", text, 2, 16);
  } else {
    options.seconds = number_of("--seconds", text, 1, 3600);
  }
}

}  // namespace

std::size_t Options::largest() const { return *std::max_element(sizes.begin(), sizes.end()); }

Options parse_options(int argc, char** argv) {
  static const option kLong[] = {{"gpus", required_argument, nullptr, 'g'},
                                 {"memory", required_argument, nullptr, 'm'},
                                 {"sizes", required_argument, nullptr, 's'},
                                 {"in-flight", required_argument, nullptr, 'n'},
                                 {"seconds", required_argument, nullptr, 't'},
                                 {"help", no_argument, nullptr, 'h'},
                                 {nullptr, 0, nullptr, 0}};
  Options options;
  opterr = 0;
  while (true) {
    const int option = getopt_long(argc, argv, ":h", kLong, nullptr);
    if (option == -1) break;
    if (option == 'h') {
      std::fputs(kHelp, stdout);
      std::exit(0);
    }
    if (option == ':') wrong(std::string(argv[optind - 1]) + " lacks its value");
    if (option == '?') wrong(std::string("no such option: ") + argv[optind - 1]);
    take(options, option, optarg);
  }
  if (optind < argc) wrong(std::string("takes options only, found '") + argv[optind] + "'");
  return options;
}

}  // namespace gdr::bench
