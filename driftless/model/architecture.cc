// SPDX-License-Identifier: Apache-2.0
#include "driftless/model/architecture.h"

#include <array>
#include <string_view>

namespace driftless::model {
namespace {

constexpr std::array kTrmPositions = {Positions::None, Positions::Rope, Positions::Rope2d,
                                      Positions::Learned};
constexpr std::array kEqrPositions = {Positions::None, Positions::Rope, Positions::Rope2d};

constexpr std::array<std::string_view, 1> kTrmModules = {"trm"};
constexpr std::array<std::string_view, 2> kHrmModules = {"hrm", "hrm_act_v1"};
constexpr std::array<std::string_view, 1> kEqrModules = {"eqr"};

constexpr std::array kArchitectures = {
    Architecture{
        .value = Arch::Trm, .name = "trm", .positions = kTrmPositions, .modules = kTrmModules},
    Architecture{.value = Arch::Hrm,
                 .name = "hrm",
                 .tying = Tying::ByState,
                 .halting = HaltRule::Lead,
                 .gradients = Gradients::LastCalls,
                 .positions = kTrmPositions,
                 .modules = kHrmModules,
                 .fills_prefix = true},
    Architecture{.value = Arch::Eqr,
                 .name = "eqr",
                 .start = StartStates::Drawn,
                 .after_l = After::Damp,
                 .after_h = After::Damp,
                 .positions = kEqrPositions,
                 .modules = kEqrModules},
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
