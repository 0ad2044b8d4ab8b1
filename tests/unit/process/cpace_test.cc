#include "process/cpace.h"

#include <gtest/gtest.h>

#include <string>

namespace gdr::process {
namespace {

template <typename Array>
Array from_hex(const std::string& text) {
  Array bytes{};
  EXPECT_EQ(text.size(), 2 * bytes.size());
  for (std::size_t i = 0; i < bytes.size() && 2 * i < text.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
  }
  return bytes;
}

constexpr std::array<std::uint8_t, 8> kPassword = {'P', 'a', 's', 's', 'w', 'o', 'r', 'd'};
constexpr std::array<std::string_view, 2> kAbout = {"ADa", "ADb"};
constexpr std::string_view kChannel =
    "\x0b"
    "A_initiator"
    "\x0b"
    "B_responder";

// The draft's test vector for ristretto255 and SHA-512.
struct Vector {
  std::string session = [] {
    const auto bytes = from_hex<std::array<std::uint8_t, 16>>("7e4b4791d6a8ef019b936c79fb7f2c57");
    return std::string(bytes.begin(), bytes.end());
  }();
  Cpace client{
      kPassword, kChannel, session,
      from_hex<Scalar>("da3d23700a9e5699258aef94dc060dfda5ebb61f02a5ea77fad53f4ff0976d08")};
  Cpace server{
      kPassword, kChannel, session,
      from_hex<Scalar>("d2316b454718c35362d83d69df6320f38578ed5984651435e2949762d900b80d")};
  CpaceKey key = from_hex<CpaceKey>(
      "b69effbf61b51d56401c0f65601abe428de8206feaaf0e32198896dcae7b35cd"
      "2b38950a39dfd5d4a79164614c2984f7daa460b588c1e80c3fa2068af7900447");
};

TEST(Cpace, MakesThePointsAndTheKeyOfTheDraft) {
  const Vector draft;
  EXPECT_EQ(draft.client.point(),
            from_hex<Point>("d6bac480f2c386c394efc7c47adb9925dcd2630b64f240c50f8d0eec482b9157"));
  EXPECT_EQ(draft.server.point(),
            from_hex<Point>("3ea7e0b19560d7c0b0f5734f63b955286dfa8232b5ebe63324e2d9e7433f7258"));
  EXPECT_EQ(draft.client.key_with(draft.server.point(), Side::kClient, kAbout), draft.key);
  EXPECT_EQ(draft.server.key_with(draft.client.point(), Side::kServer, kAbout), draft.key);
}

TEST(Cpace, TakesNoPointThatLeavesTheSecretOut) {
  const Vector draft;
  EXPECT_FALSE(draft.client.key_with(Point{}, Side::kClient, kAbout)) << "the neutral one";
  Point none;
  none.fill(0xff);
  EXPECT_FALSE(draft.client.key_with(none, Side::kClient, kAbout)) << "none of the group";
}

// As long as one, two and three bytes of length say.
TEST(Cpace, AgreesOnSecretsOfAnyLength) {
  for (const std::size_t length : {0, 1, 100, 127, 128, 5000, 20'000}) {
    const std::vector<std::uint8_t> secret(length, 'x');
    const Cpace client(secret, {}, {}, random_scalar()), server(secret, {}, {}, random_scalar());
    const auto key = client.key_with(server.point(), Side::kClient, {});
    ASSERT_TRUE(key) << length;
    EXPECT_EQ(server.key_with(client.point(), Side::kServer, {}), key) << length;
    std::vector<std::uint8_t> other = secret;
    other.push_back('x');
    const Cpace guess(other, {}, {}, random_scalar());
    EXPECT_NE(guess.key_with(client.point(), Side::kServer, {}), key) << length;
  }
}

}  // namespace
}  // namespace gdr::process
