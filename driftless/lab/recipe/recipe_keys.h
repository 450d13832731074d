// SPDX-License-Identifier: Apache-2.0
// The keys of a recipe as tables, which reading, describing and comparing recipes share.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "driftless/base/text/enum_names.h"
#include "driftless/lab/recipe/recipe.h"

namespace driftless::lab {

using Target = std::variant<int64_t*, double*, bool*, std::string*, model::Arch*, model::Positions*,
                            model::Mixer*>;

constexpr std::array<EnumName<model::Mixer>, 2> kMixerNames = {
    {{model::Mixer::Attention, "attention"}, {model::Mixer::Tokens, "tokens"}}};

enum class Resume { MustMatch, MayDiffer };
enum class Need { Optional, Required };

// One key of a recipe: where its value goes, and what it may be.
struct Key {
  std::string_view section;
  std::string_view name;
  Target target;
  double low = 0;
  double high = std::numeric_limits<double>::max();
  Need need = Need::Optional;
  Resume resume = Resume::MustMatch;
  std::string_view old_name = {};  ///< read as well; descriptions in files keep to it
};

/// [task] to [output], in file order.
std::vector<Key> keys_of(Recipe& recipe);
/// [[task.pool]]
std::vector<Key> pool_keys_of(Recipe::PoolPart& part);
/// [[recursion.stage]]
std::vector<Key> stage_keys_of(Recipe::Stage& stage);

std::string value_text(const Target& target);

/// Before any key is read: our Sudoku model.
Recipe default_recipe();

}  // namespace driftless::lab
