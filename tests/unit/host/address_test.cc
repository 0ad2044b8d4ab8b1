#include "host/pci/address.h"

#include <gtest/gtest.h>

namespace gdr::host {
namespace {

TEST(PciAddress, IsTheSameHoweverItIsWritten) {
  for (const char* text :
       {"3b:00.0", "3B:00.0", "0000:3b:00.0", "0000:3B:00.0", "00000000:3B:00.0"}) {
    EXPECT_EQ(full_address(text), "0000:3b:00.0") << text;
  }
  EXPECT_EQ(full_address("10000:01:00.7"), "10000:01:00.7") << "a domain of five digits";
  EXPECT_EQ(full_address("00010000:01:00.7"), "10000:01:00.7");
}

TEST(PciAddress, IsNothingOfWhatIsNone) {
  for (const char* text : {"", ":", "3b:00", "3b:00.8", "3g:00.0", "0000:3b:00.0 ", "mlx5_0",
                           "../3b:00.0", "0000:0000:3b:00.0"}) {
    EXPECT_EQ(full_address(text), "") << text;
  }
}

TEST(PciAddress, HasTheCardOfItsFunctionsInCommon) {
  EXPECT_EQ(card_of("0000:41:00.1"), "0000:41:00");
  EXPECT_EQ(card_of("0000:41:00.1"), card_of("0000:41:00.0"));
  EXPECT_NE(card_of("0000:41:01.0"), card_of("0000:41:00.0"));
}

}  // namespace
}  // namespace gdr::host
