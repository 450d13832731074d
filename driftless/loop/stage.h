// SPDX-License-Identifier: Apache-2.0
// A supervision step is a list of stages. A stage works on one board in place, in parts that do not
// depend on each other; the parts of one stage are over before the next stage starts.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "driftless/base/buffer.h"
#include "driftless/base/rng.h"
#include "driftless/loop/layout.h"
#include "driftless/reason/observer.h"

namespace driftless::loop {

/// One board and everything that lives as long as it does.
struct Slot {
  Buffer z_h, z_l;  // the states
  Buffer x;         // embedded input
  Buffer qkv;       // qkv_size() values, as the backend lays them out; attention only
  Buffer previous;  // the state before a network call; EqR only
  Buffer logits;    // [S, V]
  Buffer memory;    // SlotMemory::size() values for the calls of either state, those of z_L first
  std::array<float, 2> halt_logits{};  // halt, continue
  bool is_new = false;                 // has made no step since its board entered
  Rng rng{0};                          // where the model draws noise
  int64_t board_number = 0;            // for messages
};

/// How often layers quantize and multiply what is left of a change in the first round of a board,
/// when all of the input is new; later once.
inline constexpr int64_t kFirstPasses = 2;

/// What stages keep of a board from one call to the next that updates the same state. They claim
/// their places while they are built; all values are zero when a board enters.
class SlotMemory {
 public:
  /// Where so many values begin.
  [[nodiscard]] int64_t claim(int64_t count) {
    const int64_t first = size_;
    size_ += count;
    return first;
  }
  [[nodiscard]] int64_t size() const { return size_; }

 private:
  int64_t size_ = 0;
};

/// Whom a thread works for at the moment.
struct Work {
  Slot& slot;
  float* h;        // the state that the current network call updates
  float* memory;   // of the calls that update it
  int64_t passes;  // of layers that multiply changes
  int64_t part;
  int64_t parts;  // the stage's parts(), or parts_alone() where the thread has the board to itself
  int64_t worker;
  float* scratch;  // at least scratch_size() floats of this worker's own
  int64_t slot_index;
  int64_t call;
  reason::StepObserver* observer;  // or nullptr
};

class Stage {
 public:
  virtual ~Stage() = default;
  [[nodiscard]] virtual int64_t parts() const = 0;
  /// 1 for a stage that one thread runs faster uncut, and that gives the same result so.
  [[nodiscard]] virtual int64_t parts_alone() const { return parts(); }
  [[nodiscard]] virtual int64_t scratch_size() const { return 0; }
  virtual void run(const Work& work) const = 0;
};

using Stages = std::vector<std::unique_ptr<Stage>>;

/// Queries, keys and values of all rows, which attention may pad to whole vectors.
inline int64_t qkv_size(const Layout& layout) {
  constexpr int64_t kMostLanes = 32;
  const int64_t rows = (layout.padded_rows + kMostLanes - 1) / kMostLanes * kMostLanes;
  return 3 * rows * layout.width;
}

/// The rows of a part that are not padding.
inline int64_t real_rows(const Layout& layout, int64_t part) {
  const int64_t left = layout.rows - part * layout.part_rows;
  return left < layout.part_rows ? left : layout.part_rows;
}

/// Those of the part in work, which is all of them for a thread on its own.
struct PartRows {
  int64_t first, count;
};
inline PartRows rows_in_work(const Layout& layout, const Work& work) {
  if (work.parts == 1) return {0, layout.rows};
  return {work.part * layout.part_rows, real_rows(layout, work.part)};
}

}  // namespace driftless::loop
