// A capture: what the inventory and the checks that read files have asked of a machine, as a small
// tree that answers the same on another one. It is how a user reports a problem, and how a test is
// made of it.
//
//   const Capture capture = take_capture("/");
//   if (auto written = write_capture(capture, "host.tar"); !written) ...
//   // tar -xf host.tar -C host; gdr doctor --root host
//
// Nothing is read that was not asked for, and of that only what is known to be harmless is kept:
// see harmless.h.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace gdr::doctor {

struct Captured {
  enum class Kind : std::uint8_t { kFile, kFolder, kLink };
  Kind kind = Kind::kFile;
  bool name_only = false;  // seen in a listing, or asked for whether it is there
  std::string content;  // of a link: where it points, relative to its folder and within the capture
};

struct Capture {
  std::map<std::string, Captured> entries;  // by their paths below the root
  std::vector<std::string> missing;         // what it lacks, each in a sentence
};

// Carries out the inventory and all checks that cost nothing.
Capture take_capture(const std::string& root);

// `target` becomes a tar archive, or where it ends in a slash or is a folder that is empty, a tree.
// EEXIST: there is something already; EINVAL: a name that says another format; EPERM: the folder is
// another account's, or others can write to it.
Result<void> write_capture(const Capture& capture, const std::string& target);

// How many files there are of each shape of path: {"/sys/devices/pci*/config", 312}.
std::map<std::string, std::size_t> shapes_of(const Capture& capture);

// The same, one line per kind of file: "  312  /sys/devices/pci*/config".
std::vector<std::string> contents_of(const Capture& capture);

}  // namespace gdr::doctor
