// SPDX-License-Identifier: Apache-2.0
// bfloat16 products with AMX: one instruction multiplies two tiles into 16 x 16 float32 sums.
#include <immintrin.h>

#include "driftless/integer/kernels/amx_config.h"
#include "driftless/simulate/kernels/tiles.h"

namespace driftless::simulate {
namespace {

constexpr int64_t kTileBytes = 64;  // of a row
constexpr int64_t kLanes = 16;

/// The first `count` lanes, none where it is negative.
inline __mmask16 first_lanes(int64_t count) noexcept {
  return count >= kLanes ? __mmask16{0xffff}
                         : static_cast<__mmask16>(count <= 0 ? 0 : (1u << count) - 1u);
}

/// 16 values of `low`, then 16 of `high`.
inline __m512i to_bf16(__m512 low, __m512 high) noexcept {
  return __builtin_bit_cast(__m512i, _mm512_cvtne2ps_pbh(high, low));
}

/// 32 values, zeros from `count` on.
inline __m512i load_bf16(const float* values, int64_t count) noexcept {
  return to_bf16(_mm512_maskz_loadu_ps(first_lanes(count), values),
                 _mm512_maskz_loadu_ps(first_lanes(count - kLanes), values + kLanes));
}

void pack_rows(const float* a, const RowsView& view, uint16_t* packed) noexcept {
  for (int64_t first = 0; first < view.rows; first += kTileRows)
    for (int64_t k = 0; k < view.columns; k += kTileDepth)
      for (int64_t row = first; row < first + kTileRows; ++row, packed += kTileDepth) {
        const int64_t count = row < view.rows ? view.columns - k : 0;
        const float* const values = a + (count > 0 ? row * view.stride + k : 0);
        _mm512_store_si512(packed, load_bf16(values, count));
      }
}

void pack_pairs_of_rows(const float* b, const RowsView& view, uint16_t* packed) noexcept {
  // Word 2i of a pair row is value i of the first row, word 2i + 1 value i of the second.
  alignas(64) uint16_t order[kTileDepth];
  for (int64_t i = 0; i < kLanes; ++i) {
    order[2 * i] = static_cast<uint16_t>(i);
    order[2 * i + 1] = static_cast<uint16_t>(kLanes + i);
  }
  const __m512i interleave = _mm512_load_si512(order);
  for (int64_t column = 0; column < view.columns; column += kLanes) {
    const __mmask16 columns = first_lanes(view.columns - column);
    for (int64_t first = 0; first < view.rows; first += kTileDepth)
      for (int64_t k = first; k < first + kTileDepth; k += 2, packed += kTileDepth) {
        const float* const values = b + (k < view.rows ? k * view.stride + column : 0);
        const __mmask16 low = k < view.rows ? columns : __mmask16{0};
        const __mmask16 high = k + 1 < view.rows ? columns : __mmask16{0};
        const __m512i rows =
            to_bf16(_mm512_maskz_loadu_ps(low, values),
                    _mm512_maskz_loadu_ps(high, values + (high ? view.stride : 0)));
        _mm512_store_si512(packed, _mm512_permutexvar_epi16(interleave, rows));
      }
  }
}

void pack_pairs_of_columns(const float* b, const RowsView& view, uint16_t* packed) noexcept {
  // Pair p of row r goes to row p, column r of its tile.
  const __m512i rows =
      _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                         _mm512_set1_epi32(static_cast<int>(kLanes)));
  for (int64_t first = 0; first < view.rows; first += kTileRows)
    for (int64_t k = 0; k < view.columns; k += kTileDepth, packed += kTileSize)
      for (int64_t r = 0; r < kTileRows; ++r) {
        const int64_t count = first + r < view.rows ? view.columns - k : 0;
        const float* const values = b + (count > 0 ? (first + r) * view.stride + k : 0);
        _mm512_i32scatter_epi32(packed + 2 * r, rows, load_bf16(values, count), 4);
      }
}

/// Where one tile of c goes: in place, or through `spare` where the tile reaches beyond c.
struct Corner {
  float* c;
  int64_t stride;
  int64_t rows, columns;  // of the tile that belong to c
  float* spare;

  Corner(const TileProductArgs& args, int64_t i, int64_t j, float* memory) noexcept
      : c(args.c + i * kTileRows * args.c_stride + j * kTileRows),
        stride(args.c_stride),
        rows(args.m - i * kTileRows),
        columns(args.n - j * kTileRows),
        spare(memory) {}

  [[nodiscard]] bool is_whole() const noexcept { return rows >= kTileRows && columns >= kTileRows; }
  [[nodiscard]] float* target() const noexcept { return is_whole() ? c : spare; }
  [[nodiscard]] int64_t target_bytes() const noexcept {
    return is_whole() ? stride * static_cast<int64_t>(sizeof(float)) : kTileBytes;
  }
  /// After the tile was stored at target().
  void finish() const noexcept {
    if (is_whole()) return;
    const __mmask16 lanes = first_lanes(columns);
    for (int64_t r = 0; r < (rows < kTileRows ? rows : kTileRows); ++r)
      _mm512_mask_storeu_ps(c + r * stride, lanes, _mm512_load_ps(spare + r * kTileRows));
  }
};

/// Tiles (i, j) to (i + 1, j + 1) of c, as far as they exist. Registers: 0 to 3 hold c, 4 and 5 a,
/// 6 and 7 b; the numbers are part of the instructions, hence no loops.
void multiply_block(const TileProductArgs& args, int64_t i, int64_t j) noexcept {
  const bool has_row = i + 1 < args.tiles.m;
  const bool has_column = j + 1 < args.tiles.n;
  const int64_t depth = args.tiles.k;
  const uint16_t* a = args.a + i * depth * kTileSize;
  const uint16_t* b = args.b + j * depth * kTileSize;
  const uint16_t* next_a = has_row ? a + depth * kTileSize : a;
  const uint16_t* next_b = has_column ? b + depth * kTileSize : b;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (int64_t s = 0; s < depth; ++s) {
    const int64_t at = s * kTileSize;
    _tile_loadd(4, a + at, kTileBytes);
    _tile_loadd(6, b + at, kTileBytes);
    _tile_dpbf16ps(0, 4, 6);
    if (has_column) {
      _tile_loadd(7, next_b + at, kTileBytes);
      _tile_dpbf16ps(1, 4, 7);
    }
    if (!has_row) continue;
    _tile_loadd(5, next_a + at, kTileBytes);
    _tile_dpbf16ps(2, 5, 6);
    if (has_column) _tile_dpbf16ps(3, 5, 7);
  }
  alignas(64) float spare[kTileRows * kTileRows];
  const Corner first(args, i, j, spare);
  _tile_stored(0, first.target(), first.target_bytes());
  first.finish();
  if (has_column) {
    const Corner right(args, i, j + 1, spare);
    _tile_stored(1, right.target(), right.target_bytes());
    right.finish();
  }
  if (has_row) {
    const Corner below(args, i + 1, j, spare);
    _tile_stored(2, below.target(), below.target_bytes());
    below.finish();
  }
  if (has_row && has_column) {
    const Corner last(args, i + 1, j + 1, spare);
    _tile_stored(3, last.target(), last.target_bytes());
    last.finish();
  }
}

/// The larger operand passes once; the smaller one stays in the nearest cache.
void multiply(const TileProductArgs& args) noexcept {
  _tile_loadconfig(&integer::kAmxConfig);
  if (args.tiles.m < args.tiles.n) {
    for (int64_t j = 0; j < args.tiles.n; j += 2)
      for (int64_t i = 0; i < args.tiles.m; i += 2) multiply_block(args, i, j);
  } else {
    for (int64_t i = 0; i < args.tiles.m; i += 2)
      for (int64_t j = 0; j < args.tiles.n; j += 2) multiply_block(args, i, j);
  }
  _tile_release();
}

}  // namespace

namespace amx {
extern constinit const TileKernels kKernels = {"amx", pack_rows, pack_pairs_of_rows,
                                               pack_pairs_of_columns, multiply};
}  // namespace amx

}  // namespace driftless::simulate
