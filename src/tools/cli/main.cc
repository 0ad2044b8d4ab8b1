#include "cli/entry.h"
#include "cli/hidden.h"

int main(int argc, char** argv) {
  return gdr::cli::enter(argc, argv, gdr::cli::add_all, gdr::cli::run_hidden);
}
