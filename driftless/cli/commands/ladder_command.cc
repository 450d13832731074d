// SPDX-License-Identifier: Apache-2.0
// driftless ladder: what each number format does to a model.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/cli/command.h"
#include "driftless/cli/flags/run_flags.h"
#include "driftless/cli/study_input.h"
#include "driftless/cli/terminal/pictures.h"
#include "driftless/cli/terminal/progress.h"
#include "driftless/cli/terminal/streams.h"
#include "driftless/cli/terminal/terminal.h"
#include "driftless/cli/terminal/watch.h"
#include "driftless/run/study/run_study.h"
#include "driftless/study/ladder.h"
#include "driftless/study/ladder_export.h"

namespace driftless::cli {
namespace {

struct LadderOptions {
  run::StudyOptions flags;
  run::SchemeRows rows{.schemes = run::default_ladder()};
  std::string json;
  std::string csv;
  std::string latex;
  bool as_markdown = false;
  ColorFlag color;
};

bool prints_file(const LadderOptions& options) {
  for (const std::string& file : {options.csv, options.latex, options.json})
    if (file == kStandardStream) return true;
  return false;
}

study::TableStyle style_of(const LadderOptions& options, const Terminal& terminal) {
  if (options.as_markdown) return study::TableStyle::Markdown;
  const bool has_color = find_ink(options.color, terminal) == Ink::Colored;
  return has_color ? study::TableStyle::Colored : study::TableStyle::Plain;
}

/// Rows as they come, for who sits at a terminal; the sorted table then takes their place, or
/// follows them where they have left the screen.
class Preview {
 public:
  Preview(const std::vector<study::Row>& rows, const LadderOptions& options,
          const Terminal& terminal)
      : table_(rows, style_of(options, terminal)),
        is_shown_(terminal.is_live && !options.as_markdown && !prints_file(options)),
        columns_(terminal.columns),
        most_lines_(terminal.rows - 2) {}

  void add(const study::Json& record) {
    if (!is_shown_) return;
    make_way();
    if (lines_ == 0) write(table_.head());
    write(table_.line(record));
  }

  void give_way() const {
    if (lines_ == 0) return;
    make_way();
    write_out(lines_ <= most_lines_ ? "\x1b[" + std::to_string(lines_) + "A\r\x1b[J" : "\n");
  }

 private:
  void write(const std::string& line) {
    write_out(line);
    lines_ += (shown_columns(line) - 1 + columns_ - 1) / columns_;  // a long line wraps
  }

  study::LadderLines table_;
  bool is_shown_;
  int64_t columns_;
  int64_t most_lines_;
  int64_t lines_ = 0;
};

void print(const std::vector<study::Json>& records, const LadderOptions& options) {
  if (!options.csv.empty()) write_output(options.csv, study::ladder_csv(records));
  if (!options.latex.empty()) write_output(options.latex, study::ladder_latex(records));
  if (!options.json.empty()) {
    const study::Json sorted = study::sort_for_ladder(records);
    write_output(options.json, sorted.dump(2) + "\n");
  }
  if (prints_file(options)) return;
  std::printf("%s", study::ladder_table(records, style_of(options, find_terminal())).c_str());
  const study::Json& first = records.front();
  const std::string note =
      "n " + first.at("n").dump() + " boards of " + first.at("data").at("file").get<std::string>() +
      ", " + first.at("config").at("steps").dump() + " steps, coverage " +
      first.at("config").at("coverage").get<std::string>() +
      "; intervals 95 %; p: McNemar's exact test; time: of " + "the float model's steps";
  std::printf("%s%s\n%s%s", options.as_markdown ? "\n" : "", note.c_str(),
              run::calibration_notes(records).c_str(), study::native_notes(records).c_str());
}

void run_ladder(const LadderOptions& options) {
  const run::StudyFiles files = open_study(options.flags);
  const std::vector<study::Row> rows = run::ladder_rows(options.rows, files);
  Preview preview(rows, options, find_terminal());
  const std::vector<study::Json> records =
      run::run_study(files, {.name = "ladder",
                             .rows = rows,
                             .watch = watch_study("ladder"),
                             .on_record = [&](const study::Json& record) { preview.add(record); }});
  preview.give_way();
  if (!records.empty()) print(records, options);
}

}  // namespace

void add_ladder_command(const Verb& verb) {
  auto options = std::make_shared<LadderOptions>();
  verb.add_input("model", options->flags.model, "checkpoint, packed model or PyTorch file")
      .required();
  const Flag source =
      verb.add_input("--source", options->flags.source,
                     "the checkpoint that a packed model was made from, for the float row");
  verb.add_input("--start", options->flags.start,
                 "the checkpoint that a packed model's quantized training started from, likewise")
      .excludes(source);
  verb.add_input("--data", options->flags.data,
                 "boards with answers: a file of the model's task, a data-set folder, or -")
      .required();
  add_scheme_row_flags(verb, options->rows);
  add_study_flags(verb, options->flags);
  add_calibration_flags(verb, options->flags.calibration);
  verb.add_output("--out", options->flags.out, "append records to this file, skip those it has");
  verb.add_json(options->json, "print or write the records as JSON");
  verb.add_output("--csv", options->csv, "the table with every digit, or - for stdout alone");
  verb.add_output("--latex", options->latex, "the table as a LaTeX tabular, or - likewise");
  verb.add_switch("--markdown", options->as_markdown, "print a Markdown table");
  add_color_flag(verb, options->color);
  verb.example(
      "driftless ladder models/sudoku-small.safetensors --data models/demo-sudoku.csv "
      "--limit 4 --schemes none int4/tensor mxint4 --out ladder.jsonl");
  verb.runs([options] { run_ladder(*options); });
}

}  // namespace driftless::cli
