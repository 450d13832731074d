// SPDX-License-Identifier: Apache-2.0
#include "driftless/quant/plan/hadamard.h"

#include <algorithm>
#include <cmath>

#include "driftless/base/error.h"

namespace driftless::quant {
namespace {

bool is_prime(int64_t n) {
  if (n < 2) return false;
  for (int64_t divisor = 2; divisor * divisor <= n; ++divisor) {
    if (n % divisor == 0) return false;
  }
  return true;
}

/// chi(a) for a = 0 ... q - 1: 0 for zero, 1 for nonzero squares modulo q, -1 for the rest.
std::vector<int16_t> quadratic_character(int64_t q) {
  std::vector<int16_t> chi(static_cast<size_t>(q), -1);
  chi[0] = 0;
  for (int64_t a = 1; a < q; ++a) chi[static_cast<size_t>(a * a % q)] = 1;
  return chi;
}

/// The bordered matrix S of order q + 1: zero diagonal, S S^T = q I, skew for q = 3 mod 4 and
/// symmetric for q = 1 mod 4.
std::vector<int16_t> conference_matrix(int64_t q) {
  const auto chi = quadratic_character(q);
  const int64_t n = q + 1;
  std::vector<int16_t> s(static_cast<size_t>(n * n), 0);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      int16_t& entry = s[static_cast<size_t>(i * n + j)];
      if (i > 0 && j > 0) {
        entry = chi[static_cast<size_t>((i - j + q) % q)];
      } else if (i != j) {
        entry = (i > 0 && q % 4 == 3) ? -1 : 1;
      }
    }
  }
  return s;
}

/// I + S.
std::vector<int16_t> paley_one(int64_t q) {
  auto h = conference_matrix(q);
  for (int64_t i = 0; i <= q; ++i) h[static_cast<size_t>(i * (q + 2))] = 1;
  return h;
}

/// Each entry c of S becomes c [1 1; 1 -1], each zero of the diagonal [1 -1; -1 -1].
std::vector<int16_t> paley_two(int64_t q) {
  const auto s = conference_matrix(q);
  const int64_t n = q + 1;
  std::vector<int16_t> h(static_cast<size_t>(4 * n * n));
  const auto set = [&](int64_t i, int64_t j, int value) {
    h[static_cast<size_t>(i * 2 * n + j)] = static_cast<int16_t>(value);
  };
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const int c = s[static_cast<size_t>(i * n + j)];
      set(2 * i, 2 * j, i == j ? 1 : c);
      set(2 * i, 2 * j + 1, i == j ? -1 : c);
      set(2 * i + 1, 2 * j, i == j ? -1 : c);
      set(2 * i + 1, 2 * j + 1, i == j ? -1 : -c);
    }
  }
  return h;
}

bool is_core_order(int64_t k) {
  if (k == 1) return true;
  if (k % 4 != 0) return false;
  const bool one = (k - 1) % 4 == 3 && is_prime(k - 1);
  const bool two = (k / 2 - 1) % 4 == 1 && is_prime(k / 2 - 1);
  return one || two;
}

/// The smallest core k with order = k * 2^p, or 0.
int64_t core_order_of(int64_t order) {
  int64_t smallest = 0;
  for (int64_t k = order; k >= 1; k = k % 2 == 0 ? k / 2 : 0) {
    if (is_core_order(k)) smallest = k;
  }
  return smallest;
}

std::vector<int16_t> core_matrix(int64_t k) {
  if (k == 1) return {1};
  return is_prime(k - 1) ? paley_one(k - 1) : paley_two(k / 2 - 1);
}

void require_shape(int64_t got_rows, int64_t got_cols, int64_t rows, int64_t cols,
                   const char* what) {
  DRIFTLESS_REQUIRE(got_rows == rows && got_cols == cols, ErrorCode::InvalidArgument,
                    "hadamard: shape of the ", what, "; got ", got_rows, " x ", got_cols,
                    ", expected ", rows, " x ", cols);
}

}  // namespace

bool is_hadamard_order(int64_t order) { return order >= 1 && core_order_of(order) > 0; }

int64_t hadamard_order_for(int64_t length) {
  int64_t order = length;
  while (!is_hadamard_order(order)) ++order;
  return order;
}

Hadamard::Hadamard(int64_t length, int64_t order)
    : input_length_(length),
      output_length_((length + order - 1) / order * order),
      order_(order),
      core_order_(core_order_of(order)),
      core_(core_matrix(core_order_)),
      signs_(core_.begin(), core_.end()),
      columns_(core_.size()) {
  for (int64_t i = 0; i < core_order_; ++i)
    for (int64_t j = 0; j < core_order_; ++j)
      columns_[static_cast<size_t>(j * core_order_ + i)] =
          signs_[static_cast<size_t>(i * core_order_ + j)];
}

Hadamard Hadamard::whole(int64_t length) {
  DRIFTLESS_REQUIRE(length >= 1, ErrorCode::InvalidArgument, "hadamard: length; got ", length,
                    ", expected at least 1");
  return {length, hadamard_order_for(length)};
}

Hadamard Hadamard::blocks(int64_t length, int64_t block) {
  DRIFTLESS_REQUIRE(length >= 1, ErrorCode::InvalidArgument, "hadamard: length; got ", length,
                    ", expected at least 1");
  DRIFTLESS_REQUIRE(is_hadamard_order(block), ErrorCode::InvalidArgument, "hadamard: block; got ",
                    block, ", expected an order such as 16, 32 or 12");
  return {length, block};
}

void Hadamard::rotate(std::span<float> block, std::span<float> scratch, bool transposed) const {
  // Sylvester's doubling over the 2^p copies of the core, which is symmetric.
  for (int64_t half = core_order_; half < order_; half *= 2) {
    for (int64_t start = 0; start < order_; start += 2 * half) {
      for (int64_t i = start; i < start + half; ++i) {
        float& low = block[static_cast<size_t>(i)];
        float& high = block[static_cast<size_t>(i + half)];
        const float sum = low + high;
        high = low - high;
        low = sum;
      }
    }
  }
  const float norm = 1 / std::sqrt(static_cast<float>(order_));
  const auto core = static_cast<size_t>(core_order_);
  if (core == 1) {
    // A sum of one term, which begins with zero: -0 becomes 0.
    for (float& x : block) x = (0.0f + x) * norm;
    return;
  }
  for (size_t start = 0; start < block.size(); start += core) {
    // All sums side by side, each in the order of its terms.
    std::fill_n(scratch.begin(), core, 0.0f);
    for (size_t j = 0; j < core; ++j) {
      const float x = block[start + j];
      const float* const signs = (transposed ? signs_ : columns_).data() + j * core;
      for (size_t i = 0; i < core; ++i) scratch[i] += signs[i] * x;
    }
    for (size_t i = 0; i < core; ++i) block[start + i] = scratch[i] * norm;
  }
}

void Hadamard::apply(ConstMat in, Mat out) const {
  require_shape(in.rows, in.cols, in.rows, input_length_, "input");
  require_shape(out.rows, out.cols, in.rows, output_length_, "output");
  std::vector<float> scratch(static_cast<size_t>(core_order_));
  for (int64_t row = 0; row < in.rows; ++row) {
    const auto target = out.row(row);
    const auto source = in.row(row);
    std::copy(source.begin(), source.end(), target.begin());
    apply_in_place(target, scratch);
  }
}

void Hadamard::apply_in_place(std::span<float> vector, std::span<float> scratch) const {
  DRIFTLESS_ASSERT(std::ssize(vector) == output_length_ && std::ssize(scratch) >= core_order_);
  std::fill(vector.begin() + input_length_, vector.end(), 0.0f);
  for (int64_t start = 0; start < output_length_; start += order_) {
    rotate(vector.subspan(static_cast<size_t>(start), static_cast<size_t>(order_)), scratch, false);
  }
}

void Hadamard::invert(ConstMat in, Mat out) const {
  require_shape(in.rows, in.cols, in.rows, output_length_, "input");
  require_shape(out.rows, out.cols, in.rows, input_length_, "output");
  std::vector<float> scratch(static_cast<size_t>(core_order_));
  std::vector<float> padded(static_cast<size_t>(output_length_));
  for (int64_t row = 0; row < in.rows; ++row) {
    const auto source = in.row(row);
    std::copy(source.begin(), source.end(), padded.begin());
    for (int64_t start = 0; start < output_length_; start += order_) {
      rotate(std::span(padded).subspan(static_cast<size_t>(start), static_cast<size_t>(order_)),
             scratch, true);
    }
    std::copy_n(padded.begin(), input_length_, out.row(row).begin());
  }
}

}  // namespace driftless::quant
