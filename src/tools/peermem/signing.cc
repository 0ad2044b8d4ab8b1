#include "peermem/signing.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "base/environment.h"
#include "base/output_file.h"
#include "base/printable.h"
#include "peermem/whole_file.h"
#include "process/private_folder.h"
#include "text/command.h"

namespace gdr::peermem {
namespace {

constexpr const char* kSecureBoot =
    "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
constexpr std::string_view kSignatureEnd = "~Module signature appended~\n";

// "mok_signing_key=/root/mok.key", perhaps in quotes.
std::string setting(const host::Files& files, const std::string& name) {
  std::string value;
  for (const std::string& line : files.lines_with("etc/dkms/framework.conf", name)) {
    if (!line.starts_with(name + "=")) continue;
    value = line.substr(name.size() + 1);
    std::erase(value, '"');
  }
  return value.starts_with("/") ? value : std::string();
}

std::string hash_of(const std::string& headers) {
  constexpr std::string_view kName = "CONFIG_MODULE_SIG_HASH=\"";
  if (headers.empty()) return "sha256";
  for (const std::string& line : host::Files("/").lines_with(
           headers.substr(1) + "/include/config/auto.conf", std::string(kName))) {
    const std::string hash = line.substr(std::min(line.size(), kName.size()));
    return hash.substr(0, hash.find('"'));
  }
  return "sha256";
}

}  // namespace

std::string read_enforcement(const host::Files& files) {
  // Four bytes of attributes, and then 1.
  const std::string secure = files.part(kSecureBoot, 0, 5);
  if (secure.size() == 5 && secure[4] == 1) return "Secure Boot is on";
  const std::string lockdown = files.line("sys/kernel/security/lockdown");
  if (lockdown.find("[integrity]") != std::string::npos ||
      lockdown.find("[confidentiality]") != std::string::npos) {
    return "the kernel is locked down";
  }
  if (files.line("sys/module/module/parameters/sig_enforce") == "Y") {
    return "the kernel runs with module.sig_enforce";
  }
  return {};
}

Result<std::optional<SigningKey>> find_key(const host::Files& files, const std::string& key,
                                           const std::string& certificate) {
  if (key.empty() != certificate.empty()) {
    return Error{EINVAL, "--key and --cert belong together; give both"};
  }
  if (!key.empty()) {
    for (const std::string& file : {key, certificate}) {
      if (access(file.c_str(), R_OK) != 0) return from_errno(file);
    }
    return std::optional<SigningKey>(
        {std::filesystem::absolute(key), std::filesystem::absolute(certificate), "given"});
  }
  const std::array<SigningKey, 3> known = {{
      {setting(files, "mok_signing_key"), setting(files, "mok_certificate"), "of DKMS"},
      {"/var/lib/dkms/mok.key", "/var/lib/dkms/mok.pub", "of DKMS"},
      {"/var/lib/shim-signed/mok/MOK.priv", "/var/lib/shim-signed/mok/MOK.der", "of this system"},
  }};
  for (const SigningKey& one : known) {
    if (one.key.empty() || one.certificate.empty()) continue;
    if (files.exists(one.key.substr(1)) && files.exists(one.certificate.substr(1))) {
      return std::optional(one);
    }
  }
  return std::optional<SigningKey>();
}

std::string why_key_will_not_do(const std::string& enforcement,
                                const std::optional<SigningKey>& key, const fix::Runner& run) {
  if (enforcement.empty()) return {};
  if (!key) {
    return enforcement +
           ", so the kernel loads signed modules only, and there is no key; give --key and --cert, "
           "or make DKMS's: sudo dkms generate_mok && sudo mokutil --import /var/lib/dkms/mok.pub";
  }
  const std::string enrol =
      fmt::format("enrol it first: {}, reboot, and choose 'Enroll MOK'",
                  text::Command("sudo mokutil --import {}", key->certificate).text());
  if (!run) return {};
  const Result<fix::Ran> ran = run({"mokutil", "--test-key", key->certificate});
  if (!ran) {
    return fmt::format(
        "{}, and whether the key {} is enrolled cannot be told ({}); install mokutil", enforcement,
        key->whose, ran.error().message);
  }
  if (ran->output.find("already enrolled") != std::string::npos) return {};
  return fmt::format("{}, and the key {} ({}) is not enrolled; {}", enforcement, key->whose,
                     printable(key->certificate), enrol);
}

Result<std::string> signed_bytes(const std::string& bytes, const SigningKey& key,
                                 const std::string& headers, const std::string& scratch,
                                 const fix::Runner& run) {
  const auto folder = process::PrivateFolder::make("peermem", scratch);
  if (!folder) return folder.error();
  const std::string file = folder->name() + "/nvidia-peermem.ko";
  if (Result<void> put = write_output(file, bytes, Existing::kRefuse); !put) return put.error();
  const std::string sign_file = headers + "/scripts/sign-file";
  std::vector<std::string> command = {"kmodsign"};
  if (!headers.empty() && access(sign_file.c_str(), X_OK) == 0) command = {"env", sign_file};
  for (const std::string& word : {hash_of(headers), key.key, key.certificate, file}) {
    command.push_back(word);
  }
  const Result<fix::Ran> ran = run(command);
  if (!ran) {
    return Error{ran.error().code,
                 "the module cannot be signed: " + ran.error().message +
                     "; install the kernel's headers, which have sign-file (or sbsigntool)"};
  }
  if (ran->status != 0) {
    return Error{EIO, fmt::format("signing with {} failed: {}", key.key,
                                  printable(ran->output.substr(0, ran->output.find('\n'))))};
  }
  Result<std::string> made = read_whole_file(file);
  if (made && !made->ends_with(kSignatureEnd)) {
    return Error{EIO, "signing with " + key.key + " left the module without a signature"};
  }
  return made;
}

}  // namespace gdr::peermem
