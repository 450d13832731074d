# SPDX-License-Identifier: Apache-2.0
# One line of ../qat.jsonl from the metrics.jsonl of a run: jq -sc --argjson run '{...}' -f record.jq metrics.jsonl
# $run says what the log does not: method, weights, acts, command; theirs where the paper has the row. What is the
# same for all runs from sudoku-small stands here; $run may replace it.
def score: {
  exact: {share: .exact, hits: (.exact * .boards | round), n: .boards, low: .exact_low95, high: .exact_high95},
  cells: {mean: .cell, n: .boards, low: null, high: null}};
map(select(.kind == "eval")) as $evals |
{qat: 1, method: null, weights: null, acts: null, coverage: "linear",
 checkpoint: {file: "sudoku-small.safetensors", sha256: "60ad5d5d0bfb2da7cef0af4c1312a138a7a1cb7055ab75e6619ccdb150a49320"},
 data: "sudoku_extreme_test.csv", seed: 1, steps: $evals[-1].step, n: $evals[0].boards,
 before: ($evals[0] | score), after: ($evals[-1] | score),
 float_exact: {share: 0.855424102666934, hits: 8532, n: 9974, low: 0.8483856000067724, high: 0.8621889294905107},
 theirs: {before: null, after: null}, command: null} + $run
