// SPDX-License-Identifier: Apache-2.0
// The architectures as rows of one table: how each differs from the others, in the few words that
// backends, training and readers switch on. Outside this module nobody asks which row it is.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace driftless::model {

/// Trm: one network for both states. Hrm: L_level and H_level. Eqr: TRM's network with damped,
/// noisy updates and random initial states. TrmUntied: each of the L+1 inner positions has weights
/// of its own, shared by the H rounds. TrmStochastic: every update of z_H adds Gaussian noise whose
/// scale is learned for each channel, in evaluation too; the updates of z_L between are TRM's.
enum class Arch { Trm, Hrm, Eqr, TrmUntied, TrmStochastic };

enum class Positions { None, Rope, Rope2d, Learned };

/// Which weights a network call uses: the same ones always, one set for each of the two states, or
/// one for each inner cycle and one for z_H.
enum class Tying { All, ByState, ByCycle };

/// What a board starts from: the vectors H_init and L_init, or draws of truncated normals.
enum class StartStates { Learned, Drawn };

/// When the model itself wants to stop: the halt logit is above a threshold, mostly 0, or leads the
/// continue logit by more than that, which is then trained too, on the step after the one that is
/// differentiated. Never: it was trained to make all steps; no architecture's rule.
enum class HaltRule { Logit, Lead, Never };

/// What becomes of a state after a network call. Damp: state <- (1 - lambda) * before + lambda *
/// after + noise_scale * N(0, I). Perturb: adds N(0, I) times a learned deviation of the channel.
enum class After { Nothing, Damp, Perturb };

/// Which calls training differentiates: the whole last round, or its last L and H call.
enum class Gradients { LastRound, LastCalls };

struct Architecture {
  Arch value;
  std::string_view name;  ///< in files and on the command line
  Tying tying = Tying::All;
  StartStates start = StartStates::Learned;
  HaltRule halting = HaltRule::Logit;
  After after_l = After::Nothing;
  After after_h = After::Nothing;
  Gradients gradients = Gradients::LastRound;
  std::span<const Positions> positions = {};  ///< that the reference implementations have
  /// Modules of published code that hold it, without their package.
  std::span<const std::string_view> modules = {};
  /// Whether that code has as many prefix rows as a row of its puzzle table fills, and no key for
  /// another number.
  bool fills_prefix = false;

  [[nodiscard]] constexpr bool has(After after) const {
    return after_l == after || after_h == after;
  }
  [[nodiscard]] constexpr bool draws_noise() const {
    return has(After::Damp) || has(After::Perturb);
  }
};

std::span<const Architecture> architectures();

}  // namespace driftless::model
