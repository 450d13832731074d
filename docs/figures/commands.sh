# Every figure of the documents, with the command that makes it. From the root of the repository, with driftless in
# the path: sh docs/figures/commands.sh
set -e
driftless report docs/results/ladder-sudoku-trm.jsonl --figure ladder --out docs/figures/ladder-sudoku-trm.svg
driftless report docs/results/ladder-sudoku-small.jsonl --figure ladder --out docs/figures/ladder-sudoku-small.svg
driftless report docs/results/ladder-sudoku-trm.jsonl --schemes none int8/tensor/static nvfp4 mxint4 mxfp4 fp4_e2m1/tensor/static int4/tensor/static --figure ladder --out docs/figures/ladder-short-sudoku-trm.svg
driftless report docs/results/ladder-sudoku-mlp-256.jsonl --figure ladder --out docs/figures/ladder-sudoku-mlp-256.svg
driftless report docs/results/maze-ladder.jsonl --figure ladder --out docs/figures/ladder-maze-small.svg
driftless report docs/results/hrm-small-ladder.jsonl --figure ladder --out docs/figures/ladder-hrm-small.svg
driftless report docs/results/mini-arc-ladder.jsonl --figure ladder --out docs/figures/ladder-mini-arc.svg
driftless report docs/results/mini-arc-eqr-ladder.jsonl --figure ladder --out docs/figures/ladder-mini-arc-eqr.svg
driftless report docs/results/stochastic.jsonl docs/results/stochastic-twin.jsonl --figure ladder --out docs/figures/ladder-stochastic-small.svg
driftless report docs/results/untied.jsonl docs/results/untied-tied.jsonl --figure ladder --out docs/figures/ladder-untied-small.svg
driftless report docs/results/contraction-sudoku-trm.jsonl --figure trajectory --out docs/figures/trajectory-sudoku-trm.svg
driftless report docs/results/contraction-sudoku-trm.jsonl --figure steps --out docs/figures/steps-sudoku-trm.svg
driftless report docs/results/eqr-depth.jsonl --schemes none mxint4 int4/tensor/static int4/channel:none int4/channel:int4/token --figure steps --out docs/figures/steps-eqr-small.svg
driftless report docs/results/granularity-sudoku-trm.jsonl docs/results/granularity-channel-sudoku-trm.jsonl --figure granularity --out docs/figures/granularity-sudoku-trm.svg
driftless report docs/results/decomposition-sudoku-trm.jsonl --figure rows --out docs/figures/decomposition-sudoku-trm.svg
driftless report docs/results/channel-weights-sudoku-trm.jsonl --figure rows --out docs/figures/channel-weights-sudoku-trm.svg
driftless report docs/results/exponent-rules-sudoku-trm.jsonl --figure rows --out docs/figures/exponent-rules-sudoku-trm.svg
driftless report docs/results/low-bits-sudoku-trm.jsonl --figure rows --out docs/figures/low-bits-sudoku-trm.svg
driftless report docs/results/dose-response-sudoku-trm.jsonl --figure dose --out docs/figures/dose-sudoku-trm.svg
driftless report docs/results/maze-ladder.jsonl --figure dose --out docs/figures/dose-maze-small.svg
driftless report docs/results/depth-precision-sudoku-small.jsonl --figure depth --out docs/figures/depth-sudoku-small.svg
driftless report docs/results/eqr-breadth.jsonl --figure breadth --out docs/figures/breadth-eqr-small.svg
driftless report docs/results/ladder-sudoku-trm.jsonl docs/results/ladder-sudoku-small.jsonl docs/results/eqr-depth.jsonl docs/results/stochastic.jsonl docs/results/untied.jsonl docs/results/maze-ladder.jsonl docs/results/hrm-small-ladder.jsonl docs/results/mini-arc-ladder.jsonl docs/results/mini-arc-eqr-ladder.jsonl --figure axis --out docs/figures/axis-all.svg
driftless report docs/results/qat.jsonl --figure qat --out docs/figures/qat-sudoku-small.svg
driftless report docs/results/qat-trajectories.jsonl --figure trajectory --out docs/figures/trajectory-qat.svg
driftless report docs/results/training/sudoku-small.jsonl docs/results/training/sudoku-trm.jsonl docs/results/training/eqr-small.jsonl docs/results/training/maze-small.jsonl docs/results/training/hrm-small-2.jsonl docs/results/training/mini-arc-2.jsonl --figure training --out docs/figures/training-all.svg
driftless report docs/results/evals/sudoku-trm.json docs/results/evals/sudoku-small.json docs/results/evals/maze-small.json --figure evals --out docs/figures/evals-float.svg
driftless report docs/results/evals/sudoku-trm.json docs/results/evals/native-sudoku-trm-mxint4-qat.json docs/results/evals/native-sudoku-trm-mxint3-qat.json docs/results/evals/sudoku-small.json docs/results/evals/native-sudoku-small-mxint4.json docs/results/evals/native-sudoku-small-mxint4-qat.json docs/results/evals/native-sudoku-small-mxint3-qat.json docs/results/evals/maze-small.json docs/results/evals/native-maze-small-mxint4.json --figure evals --out docs/figures/evals-native.svg
driftless report docs/results/evals/rounding-trm-float-halt.json docs/results/evals/rounding-trm-round-halt.json docs/results/evals/halting-sudoku-trm-s4m3-clip.json docs/results/evals/halting-sudoku-trm-s4m3-gptq.json docs/results/evals/rounding-small-float-halt.json docs/results/evals/rounding-small-round-halt.json docs/results/evals/halting-sudoku-small-s4m3-clip.json docs/results/evals/halting-sudoku-small-s4m3-gptq.json docs/results/evals/halting-sudoku-small-s4m3-gptaq.json --figure evals --out docs/figures/evals-rounding.svg
driftless report docs/results/evals/delta-trm-float.json docs/results/evals/delta-trm-descent.json docs/results/evals/delta-trm-clip.json docs/results/evals/delta-small-float.json docs/results/evals/delta-small-descent.json docs/results/evals/delta-small-round.json --figure evals --out docs/figures/evals-delta.svg
driftless report docs/results/delta-sudoku-small.jsonl --figure rows --out docs/figures/delta-sudoku-small.svg
driftless report docs/results/engine-bench.json --figure speed --out docs/figures/speed-sudoku-small.svg
driftless report docs/results/rate-robustness-seed2-constant.jsonl docs/results/rate-robustness-constant.jsonl docs/results/rate-robustness-constant-raw.jsonl docs/results/rate-robustness-falling-to-fifth.jsonl docs/results/rate-robustness-falling.jsonl docs/results/rate-robustness-doubled-falling.jsonl docs/results/rate-robustness-falling-decay-tenth.jsonl docs/results/rate-robustness-falling-decay-0.jsonl --figure robustness --out docs/figures/robustness-sudoku-rate.svg
