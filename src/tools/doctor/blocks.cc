#include "doctor/blocks.h"

#include "doctor/checks/gather.h"

namespace gdr::doctor {
namespace {

struct Alike {
  Line line;
  std::vector<std::string> subjects;
};

// Checks that gather their findings have one for each block already; those that judge each GPU keep
// one for each GPU, for the JSON document and the metrics.
std::vector<Alike> alike_ones(const std::vector<Line>& lines) {
  constexpr std::size_t kLookBack = 128;  // a capture may claim any number that are all different
  std::vector<Alike> all;
  for (const Line& line : lines) {
    Alike* known = nullptr;
    const std::size_t end = all.size() > kLookBack ? all.size() - kLookBack : 0;
    for (std::size_t i = all.size(); i > end && known == nullptr; --i) {
      Alike& other = all[i - 1];
      if (other.line.check != line.check) break;  // findings of one check follow each other
      if (!line.finding->subject.empty() && alike(*other.line.finding, *line.finding)) {
        known = &other;
      }
    }
    if (known == nullptr) known = &all.emplace_back(Alike{line, {}});
    known->subjects.push_back(line.finding->subject);
  }
  return all;
}

// "GPU 0000:19:00.0": "GPUs"
std::string nouns_of(const std::string& subject) {
  return subject.substr(0, subject.find(' ')) + "s";
}

}  // namespace

std::vector<Block> blocks_of(const Report& report) {
  std::vector<Block> blocks;
  for (const Alike& each : alike_ones(in_order(report))) {
    blocks.push_back({each.line, subject_of(each.subjects, nouns_of(each.subjects.front()),
                                            each.line.finding->outcome)});
  }
  return blocks;
}

}  // namespace gdr::doctor
