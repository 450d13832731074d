// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/compare/side_by_side.h"

#include <algorithm>
#include <array>
#include <utility>

#include "driftless/base/error.h"

namespace driftless::run {
namespace {

constexpr int64_t kFirst = 0;

class SideBySide : public reason::Reasoner {
 public:
  explicit SideBySide(std::vector<std::unique_ptr<reason::Reasoner>> parts)
      : parts_(std::move(parts)) {}

  [[nodiscard]] const model::ModelConfig& config() const override {
    return parts_.front()->config();
  }
  [[nodiscard]] int64_t slot_count() const override { return std::ssize(parts_); }

  void reset(int64_t slot, const reason::Board& board) override { part(slot).reset(kFirst, board); }

  void step(std::span<const int64_t> slots, reason::StepObserver* observer) override {
    for (auto slot = slots.begin(); slot != slots.end(); ++slot)
      DRIFTLESS_REQUIRE(std::find(slots.begin(), slot, *slot) == slot, ErrorCode::InvalidArgument,
                        "step: slot ", *slot, " is named twice");
    constexpr std::array<int64_t, 1> kOnly = {kFirst};
    for (const int64_t slot : slots) part(slot).step(kOnly, observer);
  }

  [[nodiscard]] reason::Readout read(int64_t slot) const override {
    return part(slot).read(kFirst);
  }
  [[nodiscard]] reason::States states(int64_t slot) const override {
    return part(slot).states(kFirst);
  }
  void set_states(int64_t slot, const reason::States& states) override {
    part(slot).set_states(kFirst, states);
  }

 private:
  [[nodiscard]] reason::Reasoner& part(int64_t slot) const {
    DRIFTLESS_REQUIRE(slot >= 0 && slot < slot_count(), ErrorCode::InvalidArgument, "slot; got ",
                      slot, ", expected 0 to ", slot_count() - 1);
    return *parts_[static_cast<size_t>(slot)];
  }

  std::vector<std::unique_ptr<reason::Reasoner>> parts_;
};

}  // namespace

std::unique_ptr<reason::Reasoner> side_by_side(
    std::vector<std::unique_ptr<reason::Reasoner>> parts) {
  DRIFTLESS_REQUIRE(!parts.empty(), ErrorCode::InvalidArgument,
                    "side by side: no reasoner; expected at least 1");
  for (const auto& part : parts)
    DRIFTLESS_REQUIRE(part->config() == parts.front()->config(), ErrorCode::InvalidArgument,
                      "side by side: reasoners of different configurations; expected one model");
  return std::make_unique<SideBySide>(std::move(parts));
}

}  // namespace driftless::run
