// A room of bounded size that strangers share. Each may take as much as it leaves over: one alone
// has half of it at most, two that take all they get a third each, and so on; so there is a place
// for whoever comes next, however many take all they get.
#pragma once

#include <cstddef>

namespace gdr {

constexpr bool has_fair_share_left(std::size_t its_own, std::size_t everybodys, std::size_t room) {
  return everybodys < room && its_own < room - everybodys;
}

}  // namespace gdr
