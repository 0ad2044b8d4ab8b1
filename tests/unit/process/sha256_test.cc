#include "process/sha256.h"

#include <gtest/gtest.h>

#include <string>

namespace gdr::process {
namespace {

std::span<const std::uint8_t> bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string hex(const Digest& digest) {
  std::string text;
  for (const std::uint8_t byte : digest) {
    for (const int digit : {byte >> 4, byte & 15}) text += "0123456789abcdef"[digit];
  }
  return text;
}

std::string hash(const std::string& text) { return hex(sha256(bytes(text))); }
std::string hmac(const std::string& key, const std::string& text) {
  Hmac hmac(bytes(key));
  hmac.add(bytes(text));
  return hex(hmac.end());
}

// FIPS 180-4's examples, and NIST's of a million letters.
TEST(Sha256, IsThatOfTheStandard) {
  EXPECT_EQ(hash(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hash(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// A length before, at and behind the end of a block, and where the length itself needs one more.
TEST(Sha256, EndsInTheRightBlock) {
  EXPECT_EQ(hash(std::string(55, 'a')),
            "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
  EXPECT_EQ(hash(std::string(56, 'a')),
            "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
  EXPECT_EQ(hash(std::string(64, 'a')),
            "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

// RFC 4231, test cases 1, 2, 3, 6 and 7.
TEST(HmacSha256, IsThatOfTheStandard) {
  EXPECT_EQ(hmac(std::string(20, '\x0b'), "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hmac("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hmac(std::string(20, '\xaa'), std::string(50, '\xdd')),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  EXPECT_EQ(
      hmac(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  EXPECT_EQ(hmac(std::string(131, '\xaa'),
                 "This is a test using a larger than block-size key and a larger than block-size "
                 "data. The key needs to be hashed before being used by the HMAC algorithm."),
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

TEST(Sha256, IsTheSameInPieces) {
  const std::string text(200, 'b');
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    Sha256 pieces;
    pieces.add(bytes(text).first(cut));
    pieces.add(bytes(text).subspan(cut));
    EXPECT_EQ(hex(pieces.end()), hash(text)) << cut;
  }
}

// RFC 7914, 11: the first 32 bytes of 64, which are the first block.
TEST(SlowKey, IsThatOfTheStandard) {
  EXPECT_EQ(hex(slow_key(bytes("passwd"), bytes("salt"), 1)),
            "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc");
  EXPECT_EQ(hex(slow_key(bytes("Password"), bytes("NaCl"), 80'000)),
            "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56");
}

TEST(Digests, AreEqualInEveryByteOrNot) {
  const Digest one = sha256({});
  EXPECT_TRUE(are_equal(one, sha256({})));
  for (std::size_t i = 0; i < one.size(); ++i) {
    Digest other = one;
    other[i] ^= 1;
    EXPECT_FALSE(are_equal(one, other)) << i;
  }
}

}  // namespace
}  // namespace gdr::process
