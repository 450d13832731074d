// SPDX-License-Identifier: Apache-2.0
#include "driftless/model/architecture.h"

#include <array>

namespace driftless::model {
namespace {

constexpr std::array kTrmPositions = {Positions::None, Positions::Rope, Positions::Rope2d,
                                      Positions::Learned};
constexpr std::array kEqrPositions = {Positions::None, Positions::Rope, Positions::Rope2d};

constexpr std::array kArchitectures = {
    Architecture{.value = Arch::Trm, .name = "trm", .positions = kTrmPositions},
    Architecture{.value = Arch::Hrm,
                 .name = "hrm",
                 .tying = Tying::ByState,
                 .halting = HaltRule::Lead,
                 .gradients = Gradients::LastCalls,
                 .positions = kTrmPositions},
    Architecture{.value = Arch::Eqr,
                 .name = "eqr",
                 .start = StartStates::Drawn,
                 .after_l = After::Damp,
                 .after_h = After::Damp,
                 .positions = kEqrPositions},
    Architecture{.value = Arch::TrmUntied,
                 .name = "trm-untied",
                 .tying = Tying::ByCycle,
                 .positions = kTrmPositions},
    Architecture{.value = Arch::TrmStochastic,
                 .name = "trm-stochastic",
                 .after_h = After::Perturb,
                 .positions = kTrmPositions},
};

}  // namespace

std::span<const Architecture> architectures() { return kArchitectures; }

}  // namespace driftless::model
