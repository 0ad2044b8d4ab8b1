#include "mpi/shared_object.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <fstream>

#include "scratch_folder.h"

namespace gdr::mpi {
namespace {

const char* const kItself = "/proc/self/exe";

TEST(SharedObject, OfThisProgramNeedsTheCLibrary) {
  const auto object = read_shared_object(host::Files("/"), "proc/self/exe");
  ASSERT_TRUE(object.has_value());
  EXPECT_TRUE(object->needs("libc.so."));
  EXPECT_FALSE(object->needs("libcuda.so"));
  EXPECT_TRUE(object->names_complete);
  EXPECT_FALSE(object->mentions("MPIX_Query_cuda_support"));
}

TEST(SharedObject, CutOffOrAlteredAnywhereDoesNoHarm) {
  const test::ScratchFolder scratch;
  const std::string path = scratch.at("library");
  std::string bytes(4096, '\0');
  std::ifstream(kItself, std::ios::binary).read(bytes.data(), 4096);
  for (std::size_t size = 0; size < bytes.size(); size += 61) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(size));
    read_shared_object(host::Files(scratch.root()), "library");
  }
  for (std::size_t at = 16; at < 1024; at += 3) {
    std::string altered = bytes;
    altered[at] = static_cast<char>(0xff);
    std::ofstream(path, std::ios::binary) << altered;
    read_shared_object(host::Files(scratch.root()), "library");
  }
}

TEST(SharedObject, OfATextIsNone) {
  const test::ScratchFolder scratch;
  scratch.write("text", "INPUT ( /usr/lib/libucp.so.0 )\n");
  EXPECT_FALSE(read_shared_object(host::Files(scratch.root()), "text").has_value());
  EXPECT_FALSE(read_shared_object(host::Files(scratch.root()), "nothing").has_value());
}

}  // namespace
}  // namespace gdr::mpi
