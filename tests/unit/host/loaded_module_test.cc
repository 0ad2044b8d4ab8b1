#include "host/registration/loaded_module.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace gdr::host {
namespace {

namespace fs = std::filesystem;

class LoadedModuleTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "loaded-module.XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }

  void load(const std::string& module, const std::string& version) const {
    const fs::path folder = root_ / "sys/module" / module;
    fs::create_directories(folder);
    if (!version.empty()) std::ofstream(folder / "version") << version << "\n";
  }
  std::vector<std::string> loaded() const {
    std::vector<std::string> texts;
    for (const LoadedModule& module : loaded_peer_memory(Files(root_.string()))) {
      texts.push_back(module.text());
    }
    return texts;
  }

  fs::path root_;
};

TEST_F(LoadedModuleTest, NamesWhatIsLoadedWithItsVersion) {
  EXPECT_TRUE(loaded().empty());
  load("nvidia_peermem", "gdrkit-0.1.0");
  EXPECT_EQ(loaded(), std::vector<std::string>{"nvidia_peermem gdrkit-0.1.0"});
  load("nv_peer_mem", "");
  EXPECT_EQ(loaded(), (std::vector<std::string>{"nvidia_peermem gdrkit-0.1.0", "nv_peer_mem"}));
}

}  // namespace
}  // namespace gdr::host
