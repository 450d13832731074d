// SPDX-License-Identifier: Apache-2.0
#include "driftless/model/schedule.h"

#include <gtest/gtest.h>

#include "driftless/model/presets.h"
#include "driftless/model/shapes.h"

namespace driftless::model {
namespace {

/// One letter a call: l or h for the updated state, capital where the call has a gradient.
std::string picture(const ModelConfig& config) {
  std::string text;
  for (const NetworkCall& call : schedule(config)) {
    const bool is_l = call.updates == State::L;
    EXPECT_EQ(call.injection, is_l ? Injection::AnswerAndInput : Injection::Scratch);
    text += call.has_gradient ? (is_l ? 'L' : 'H') : (is_l ? 'l' : 'h');
  }
  return text;
}

std::vector<int64_t> networks_called(const ModelConfig& config) {
  std::vector<int64_t> called;
  for (const NetworkCall& call : schedule(config)) called.push_back(call.network);
  return called;
}

TEST(Schedule, TrmDifferentiatesItsLastRound) {
  EXPECT_EQ(picture(find_preset("trm-sudoku-mlp").config), "llllllhllllllhLLLLLLH");
  EXPECT_EQ(picture(find_preset("trm-maze").config), "llllhllllhLLLLH");
  EXPECT_EQ(networks_called(find_preset("trm-maze").config), std::vector<int64_t>(15, 0));
}

TEST(Schedule, EqrFollowsTrm) {
  EXPECT_EQ(picture(find_preset("eqr-maze-unique").config), "llllhllllhLLLLH");
}

TEST(Schedule, HrmDifferentiatesOneCallOfEachNetwork) {
  EXPECT_EQ(picture(find_preset("hrm-sudoku").config), "llhlLH");
  EXPECT_EQ(networks_called(find_preset("hrm-sudoku").config),
            (std::vector<int64_t>{0, 0, 1, 0, 0, 1}));
}

TEST(Schedule, UntiedWalksItsNetworksInEveryRound) {
  ModelConfig config = find_preset("trm-maze").config;
  config.arch = Arch::TrmUntied;
  config.h_cycles = 2;
  config.l_cycles = 3;
  EXPECT_EQ(picture(config), "lllhLLLH");
  EXPECT_EQ(networks_called(config), (std::vector<int64_t>{0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(networks(config).size(), 4u);
}

/// One letter a call: d where it damps, p where it perturbs, - where nothing follows.
std::string what_follows(const ModelConfig& config) {
  std::string text;
  for (const NetworkCall& call : schedule(config))
    text += call.after == After::Damp ? 'd' : call.after == After::Perturb ? 'p' : '-';
  return text;
}

TEST(Schedule, CallsSayWhatFollowsThem) {
  ModelConfig config = find_preset("trm-maze").config;
  EXPECT_EQ(what_follows(config), "---------------");
  config.arch = Arch::TrmStochastic;
  EXPECT_EQ(what_follows(config), "----p----p----p");
  EXPECT_EQ(what_follows(find_preset("eqr-maze-unique").config), "ddddddddddddddd");
}

}  // namespace
}  // namespace driftless::model
