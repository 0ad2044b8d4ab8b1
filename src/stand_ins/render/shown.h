// Which render nodes `gdr run` shows a program: one for each software GPU, from a number on that it
// chose because no driver of this machine has taken one there.
//
//   const Shown shown = shown_from_environment();
//   if (const int gpu = gpu_at("/dev/dri/renderD128", shown); gpu >= 0) ...
#pragma once

#include <cstdint>
#include <string_view>

namespace gdr::render {

// Set by `gdr run`: the number of the first. Unset: none are shown.
inline constexpr char kFirstVariable[] = "GDR_RENDER_FIRST";
// All are /dev/dri/renderDNUMBER, where NUMBER is the device's minor number, too.
inline constexpr std::string_view kFolder = "/dev/dri";
inline constexpr std::string_view kPrefix = "/dev/dri/renderD";
inline constexpr int kDrmMajor = 226;                        // of all of DRM's character devices
inline constexpr int kFirstNumber = 128, kLastNumber = 191;  // the kernel's, of render nodes

struct Shown {
  int first = 0;
  int count = 0;            // 0: none
  std::uint64_t bytes = 0;  // of each GPU
};

// Of GDR_RENDER_FIRST and GDR_SOFT_GPUS. Wrong values: none.
Shown shown_from_environment();

// The GPU whose node has this path; -1: none has.
int gpu_at(std::string_view path, const Shown& shown);

}  // namespace gdr::render
