// peermem_check CASE [NUMBER...]: plain ibv_reg_mr of "GPU" memory, and what follows (cases.h).
// Runs in the guest of tests/vm/peermem.py.
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "fail.h"

int main(int count, char** words) {
  using namespace peermem_check;
  const std::string what = count > 1 ? words[1] : "";
  const auto number = [&](int place, unsigned otherwise) {
    return count > place ? static_cast<unsigned>(strtoul(words[place], nullptr, 10)) : otherwise;
  };
  if (what == "transfers") {
    transfers();
  } else if (what == "freed") {
    frees_under_a_registration();
  } else if (what == "freed-while-mapped") {
    frees_while_it_is_mapped();
  } else if (what == "freed-slowly") {
    deregisters_while_it_is_freed();
  } else if (what == "neighbours") {
    registers_neighbours();
  } else if (what == "replaced") {
    replaces_while_it_is_pinned();
  } else if (what == "huge") {
    registers_more_than_there_is();
  } else if (what == "left-to-child" && count > 2) {
    leaves_the_device_to_a_child(words[2]);
  } else if (what == "once") {
    registers_once();
  } else if (what == "hold") {
    holds(number(2, 1));
  } else if (what == "dma-buf") {
    transfers_dma_bufs();
  } else if (what == "dma-buf-moved") {
    moves_a_dma_buf();
  } else if (what == "dma-buf-orphan") {
    outlives_the_exporter();
  } else if (what == "dma-buf-hold") {
    holds_a_dma_buf();
  } else if (what == "race") {
    races(number(2, 4), number(3, 1000));
  } else {
    errno = 0;
    fail(
        "usage: peermem_check "
        "transfers|freed|freed-while-mapped|freed-slowly|neighbours|replaced|huge|"
        "left-to-child FILE|once|hold MIB|race THREADS COUNT");
  }
}
