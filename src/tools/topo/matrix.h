// The matrix of nvidia-smi topo -m: how near each device is to each other.
//
//   const Matrix matrix = make_matrix(inventory, devices);
//   matrix.at(0, 1).text();  // "NV18", "PIX"
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/grade.h"
#include "host/inventory.h"
#include "topo/devices.h"

namespace gdr::topo {

struct Cell {
  bool self = false;
  std::optional<host::PciPath> path;  // over PCI; nothing: unknown
  unsigned nvlinks = 0;               // between two GPUs: these come first
  std::string text() const;           // "X", "NV4", "PIX", "N/A"
};

class Matrix {
 public:
  Matrix() = default;
  explicit Matrix(std::size_t size) : size_(size), cells_(size * size) {}
  std::size_t size() const { return size_; }
  Cell& at(std::size_t row, std::size_t column) { return cells_[row * size_ + column]; }
  const Cell& at(std::size_t row, std::size_t column) const { return cells_[row * size_ + column]; }

 private:
  std::size_t size_ = 0;
  std::vector<Cell> cells_;
};

Matrix make_matrix(const host::Inventory& inventory, const std::vector<Device>& devices);

// Processors and NUMA node near a device: "0-31,64-95" and "0"; "N/A" where the node is not known.
struct Affinity {
  std::string processors, node;
};
Affinity affinity_of(const host::Inventory& inventory, const Device& device);

}  // namespace gdr::topo
