// SPDX-License-Identifier: Apache-2.0
// Matrix products of bfloat16 values with float32 sums on processors that multiply whole tiles.
//
// A tile is 16 rows of 64 bytes. c = a b is cut into tiles of 16 x 16; a sum of k products into
// steps of 32:
//   a, tile (i, s), row r:  a[16i+r][32s], a[16i+r][32s+1], ...                    (32 values)
//   b, tile (j, s), row p:  b[32s+2p][16j], b[32s+2p+1][16j], b[32s+2p][16j+1], ... (16 pairs)
// A packed operand holds its tiles in the order of i (or j), then s, zero beyond the matrix.
#pragma once

#include <cstdint>
#include <string_view>

namespace driftless::simulate {

inline constexpr int64_t kTileRows = 16;
inline constexpr int64_t kTileDepth = 32;
inline constexpr int64_t kTileSize = kTileRows * kTileDepth;

/// Rows of neighboring values.
struct RowsView {
  int64_t rows;
  int64_t columns;
  int64_t stride;
};

struct TileCounts {
  int64_t m, k, n;
};

struct TileProductArgs {
  const uint16_t* a;
  const uint16_t* b;
  TileCounts tiles;
  float* c;
  int64_t c_stride;
  int64_t m, n;  // of c
};

/// Packing rounds to nearest, ties to even; subnormal values become zero. Packed memory starts at a
/// multiple of 64 bytes.
struct TileKernels {
  std::string_view name;

  /// a, given as [m, k].
  void (*pack_rows)(const float* a, const RowsView& view, uint16_t* packed) noexcept;

  /// b, given as [k, n].
  void (*pack_pairs_of_rows)(const float* b, const RowsView& view, uint16_t* packed) noexcept;

  /// b, given as its transpose [n, k].
  void (*pack_pairs_of_columns)(const float* b, const RowsView& view, uint16_t* packed) noexcept;

  void (*multiply)(const TileProductArgs& args) noexcept;
};

/// What this processor can run and DRIFTLESS_ISA allows (base/isa.h), or nullptr. Throws as
/// isa_limit().
const TileKernels* tile_kernels();

}  // namespace driftless::simulate
