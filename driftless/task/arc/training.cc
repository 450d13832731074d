// SPDX-License-Identifier: Apache-2.0
#include "driftless/task/arc/training.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "driftless/base/error.h"
#include "driftless/task/arc/augment.h"
#include "driftless/task/arc/rows.h"

namespace driftless::task::arc {
namespace {

enum class Role { Asked, Other };

class Builder {
 public:
  Builder(const TrainingOptions& options, Rng& rng) : options_(options), rng_(rng) {
    set_.names.emplace_back(kBlankName);
  }

  void add(const Puzzle& puzzle, Role role) {
    DRIFTLESS_REQUIRE(seen_.insert(puzzle.name).second, ErrorCode::InvalidArgument, "task ",
                      puzzle.name, ": got it twice, expected one task a name");
    try {
      add_variant(puzzle, role);
      for (const Variant& variant : distinct_variants(puzzle, options_.variants, rng_))
        add_variant(apply(variant, puzzle), role);
    } catch (const Error& error) {
      fail(error.code(), "task ", puzzle.name, ": ", error.what());
    }
  }

  TrainingSet take() { return std::move(set_); }

 private:
  void add_variant(const Puzzle& puzzle, Role role) {
    std::vector<const Pair*> learned;
    for (const Pair& pair : puzzle.train) learned.push_back(&pair);
    if (role == Role::Other)
      for (const Pair& pair : puzzle.test) learned.push_back(&pair);
    std::erase_if(learned, [](const Pair* pair) { return !pair->output; });
    const size_t top_left = learned.empty() ? 0 : rng_.below(learned.size());
    for (size_t i = 0; i < learned.size(); ++i)
      add_row(puzzle, *learned[i],
              i == top_left ? Canvas{.side = options_.side}
                            : random_place(*learned[i], options_.side, rng_),
              set_.train);
    if (role == Role::Asked)
      for (const Pair& pair : puzzle.test)
        add_row(puzzle, pair, {.side = options_.side}, set_.test);
    set_.names.push_back(puzzle.name);
  }

  void add_row(const Puzzle& puzzle, const Pair& pair, const Canvas& canvas,
               std::vector<Example>& rows) const {
    Example row{.name = puzzle.name,
                .input = encode(pair.input, canvas),
                .label = {},
                .puzzle = std::ssize(set_.names)};
    if (pair.output)
      row.label = encode(*pair.output, canvas);
    else
      row.label.resize(row.input.size(), 0);
    rows.push_back(std::move(row));
  }

  const TrainingOptions& options_;
  Rng& rng_;
  TrainingSet set_;
  std::set<std::string> seen_;
};

}  // namespace

TrainingSet training_set(std::span<const Puzzle> asked, std::span<const Puzzle> others,
                         const TrainingOptions& options, Rng& rng) {
  Builder builder(options, rng);
  for (const Puzzle& puzzle : asked) builder.add(puzzle, Role::Asked);
  for (const Puzzle& puzzle : others) builder.add(puzzle, Role::Other);
  return builder.take();
}

}  // namespace driftless::task::arc
