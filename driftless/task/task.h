// SPDX-License-Identifier: Apache-2.0
// A task as one row of data: how its boards are read, written, made, turned, drawn and judged. What
// a task lacks is null; a command that needs it refuses by the task's name (need() of table.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driftless/base/rng.h"
#include "driftless/task/dihedral.h"
#include "driftless/task/drawing.h"
#include "driftless/task/score.h"

namespace driftless::task {

/// One board as a model sees it: equally many tokens in and out; 0 in the label does not count.
struct Example {
  std::string name;  ///< of the source, ARC task or variant; may be empty
  std::vector<uint8_t> input;
  std::vector<uint8_t> label;
  int64_t puzzle = 0;  ///< row of the model's puzzle table
  int64_t rating = 0;  ///< how hard the board is, where its file says
};

/// Grid: a file holds boards, each a question with its answer. Arc: a file holds puzzles of several
/// pairs, a model sees each under many variants, and their answers vote (task/arc).
enum class Family { Grid, Arc };

/// What may be asked of a generated board.
struct GeneratorOption {
  enum class Kind {
    Number,
    Bound,  ///< boards outside it are thrown away
    Switch  ///< 0 or 1
  };
  std::string_view name;  ///< of its flag, without the dashes
  std::string_view help;
  int64_t usual = 0;
  Kind kind = Kind::Number;
};

struct GeneratorRequest {
  int64_t cells;
  /// One for each option; none at all: whatever suits boards of that size.
  std::span<const int64_t> values = {};
};

struct Generator {
  std::span<const GeneratorOption> options;
  /// One try: nothing where the board is not what is asked. Throws InvalidArgument when no board
  /// could be.
  std::optional<Example> (*attempt)(const GeneratorRequest& request, Rng& rng);
  /// Side of the usual board, where boards may have any other; 0 where they may not.
  int64_t usual_side = 0;

  /// The option, or null.
  [[nodiscard]] const GeneratorOption* find(std::string_view name) const;
};

struct Task {
  std::string_view name;
  std::string_view description;
  /// Character of each token, for text; the first is the pad. Its size is the vocabulary size.
  std::string_view alphabet;
  /// Cells of the published boards; files may hold boards of other sizes.
  int64_t seq_len;
  Family family = Family::Grid;

  // Reading and writing.
  std::vector<Example> (*read)(const std::filesystem::path& path);
  /// The same of a text, which messages call `where`.
  std::vector<Example> (*parse)(std::string_view text, const std::string& where);
  /// A file's text, which parse() reads back.
  std::string (*write)(std::span<const Example> examples) = nullptr;
  /// Whether a text looks like a file of this task. Null: none does.
  bool (*claims)(std::string_view text) = nullptr;
  /// A board on one line, solved for its label. Throws InvalidArgument on what is none or has no
  /// solution.
  Example (*solve_line)(std::string_view line) = nullptr;
  /// Such a line, for who wants to see a board solved and has none; empty where there is none.
  std::string_view sample = {};

  // Judging.
  /// Compares a prediction with the label. Throws InvalidArgument when lengths differ or the input
  /// is no board of this task.
  Outcome (*check)(const Example& example, std::span<const uint8_t> prediction);
  /// Whether a board has further answers besides its label. Null: nobody knows.
  bool (*is_ambiguous)(const Example& example) = nullptr;
  /// What a right answer besides the label is called.
  std::string_view other_answer = "solution";
  /// Whether boards usually have several right answers, so that a score tells both shares.
  bool has_many_answers = false;
  /// Lines about the soundness of a file's boards. Throws BadFile, starting with `where`, when a
  /// label is no answer: readers of files see to that, those of data-set folders do not.
  std::string (*audit)(std::span<const Example> examples, const std::string& where) = nullptr;
  /// Lines of averages. Null: there are none.
  std::string (*stats)(std::span<const Example> examples) = nullptr;

  // Making.
  const Generator* generator = nullptr;
  /// The image of a board under a symmetry drawn uniformly. Null: the identity is the only one.
  Example (*random_image)(const Example& board, Rng& rng) = nullptr;
  /// Equal for two boards exactly when a symmetry turns one question into the other. Null: the
  /// question itself. Throws InvalidArgument on what is no board of the task.
  std::vector<uint8_t> (*canonical)(const Example& board) = nullptr;

  // Drawing.
  /// Lines of plain text.
  std::string (*draw)(std::span<const uint8_t> tokens) = nullptr;
  /// The most lines and columns that draw() takes.
  Extent (*drawn_extent)(int64_t cells) = nullptr;
  /// Lines of text with color sequences, none of them open at a line's end. Null: draw() must do.
  std::string (*paint)(const Picture& picture) = nullptr;
  Extent (*painted_extent)(int64_t cells) = nullptr;

  [[nodiscard]] int64_t vocab_size() const { return static_cast<int64_t>(alphabet.size()); }
  [[nodiscard]] bool is_arc() const { return family == Family::Arc; }
};

/// The tokens as text; tokens outside the vocabulary show as '?'.
std::string to_text(std::string_view alphabet, std::span<const uint8_t> tokens);

/// Exact where every counted cell is the label's; the check of tasks with no rules of their own.
Outcome check_counted_cells(const Example& example, std::span<const uint8_t> prediction);

}  // namespace driftless::task
