// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/study/study_files.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "driftless/base/error.h"
#include "driftless/base/files/standard_input.h"
#include "driftless/base/sha256.h"
#include "driftless/reason/plan/linear_layers.h"
#include "driftless/run/model.h"
#include "driftless/run/study/study_rows.h"

namespace driftless::run {
namespace {

std::string name_of(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

/// Of a file, a folder, or standard input.
std::string sha256_of_boards(const std::string& path) {
  return path == kStandardStream ? sha256_hex(read_input(path)) : sha256_of_path(path);
}

/// The checkpoint with other numbers of cycles and steps.
store::Checkpoint varied(const store::Checkpoint& checkpoint, const model::ModelConfig& config) {
  return {.config = config, .tensors = checkpoint.tensors, .metadata = checkpoint.metadata};
}

/// What stands beside a packed model; "" for none.
const std::string& origin_of(const StudyOptions& options) {
  return options.source.empty() ? options.start : options.source;
}

/// The plan as quant::resolve orders it; a file has its own order.
quant::QuantPlan in_order(const quant::QuantPlan& plan, const model::ModelConfig& config) {
  quant::QuantPlan ordered = plan;
  ordered.layers.clear();
  for (const quant::LinearLayer& layer : reason::linear_layers(config))
    if (const quant::LayerPlan* const planned = plan.find(layer.name))
      ordered.layers.push_back(*planned);
  return ordered;
}

std::optional<store::PackedModel> load_packed_of(const StudyOptions& options) {
  if (origin_of(options).empty()) return {};
  store::PackedModel packed = store::load_packed(options.model);
  const std::string got = sha256_of_file(origin_of(options));
  DRIFTLESS_REQUIRE(options.source.empty() || got == packed.source_sha256, ErrorCode::BadFile,
                    options.source, ": not what ", options.model, " was packed from; got SHA-256 ",
                    got, ", expected ", packed.source_sha256,
                    "; for a model that was trained further, --start");
  packed.plan = in_order(packed.plan, packed.config);
  return packed;
}

/// What a record tells of the command only by naming the flag.
study::Json unrecorded_flags(const StudyOptions& options) {
  study::Json json = study::Json::object();
  if (!options.source.empty()) json["source"] = name_of(options.source);
  if (!options.start.empty()) json["start"] = name_of(options.start);
  if (!options.arc.identifiers.empty()) json["identifiers"] = name_of(options.arc.identifiers);
  if (options.arc.variants > 0) json["variants"] = options.arc.variants;
  if (options.calibration.may_overlap) json["calibration-may-overlap"] = true;
  if (!options.overrides.empty()) json["set"] = options.overrides;
  return json;
}

}  // namespace

std::string float_model_file(const StudyOptions& options) {
  const bool is_packed = store::is_packed(options.model);
  DRIFTLESS_REQUIRE(is_packed || origin_of(options).empty(), ErrorCode::InvalidArgument,
                    "--source and --start: for packed models only; got ", options.model,
                    ", a float checkpoint");
  DRIFTLESS_REQUIRE(!is_packed || !origin_of(options).empty(), ErrorCode::InvalidArgument,
                    options.model,
                    ": a packed model has no float weights to compare with; expected a float "
                    "checkpoint, or ladder with --source CHECKPOINT, what it was packed from, or "
                    "--start CHECKPOINT, what its quantized training started from");
  return is_packed ? origin_of(options) : options.model;
}

StudyFiles::StudyFiles(const StudyOptions& options, store::Checkpoint checkpoint)
    : options_(options), checkpoint_(std::move(checkpoint)), packed_(load_packed_of(options)) {
  options_.arc.seed = options.seed;
  DRIFTLESS_REQUIRE(!packed_ || packed_->config == checkpoint_.config, ErrorCode::BadFile,
                    origin_of(options), ": another configuration than ", options.model,
                    "; expected the checkpoint that it comes from");
  find_device(options.backend.device);
  examples_ = examples_of(options.data);
  if (options.limit > 0 && options.limit < std::ssize(examples_))
    examples_.resize(static_cast<size_t>(options.limit));
  const std::string& file = options.calibration.data;
  std::vector<task::Example> calibration;
  if (!file.empty()) calibration = examples_of(file);
  calibration_ = std::make_shared<CalibrationBoards>(
      options.calibration, CalibrationBoards::Source{.task = task_of(checkpoint_),
                                                     .cells = checkpoint_.config.seq_len,
                                                     .file = std::move(calibration),
                                                     .scored = examples_,
                                                     .noise_seed = options.seed});
  origin_ = {.version = DRIFTLESS_VERSION,
             .model_file = name_of(options.model),
             .model_sha256 = sha256_of_file(options.model),
             .data_file = name_of(options.data),
             .data_sha256 = sha256_of_boards(options.data),
             .calibration_file = file.empty() ? kGenerated : name_of(file),
             .calibration_sha256 = file.empty() ? "" : sha256_of_boards(file),
             .backend = backend_name(simulating(options.backend)),
             .flags = unrecorded_flags(options)};
}

std::vector<task::Example> StudyFiles::examples_of(const std::string& path) const {
  return read_boards_for(checkpoint_, options_.model, {.path = path}, options_.arc).examples;
}

study::Execution StudyFiles::execution() const {
  return find_device(options_.backend.device).execution;
}

study::StudyInput StudyFiles::input(std::string name) const {
  const Device& device = find_device(options_.backend.device);
  return {.name = std::move(name),
          .config = checkpoint_.config,
          .task = task_of(checkpoint_),
          .examples = examples_,
          .calibration = [boards = calibration_](
                             int64_t count, uint64_t seed) { return boards->draw(count, seed); },
          .origin = origin_,
          .seed = options_.seed,
          .batch = options_.batch > 0 ? options_.batch : device.study_batch,
          .rows_together = device.study_rows,
          .threads = options_.backend.threads};
}

void StudyFiles::complete(std::span<study::Row> rows) const {
  const CalibrationOptions& options = options_.calibration;
  for (study::Row& row : rows) {
    if (execution() == study::Execution::Native) row = native_row(std::move(row));
    if (!study::needs_calibration(row)) continue;
    if (options.boards > 0)
      row.calibration_boards = options.boards;
    else if (row.calibration_boards == 0)
      row.calibration_boards = calibration_->usual_count();
    row.calibration_seed = options.seed.value_or(row.calibration_seed);
  }
}

study::Backend StudyFiles::backend() const {
  return {.make =
              [this](const study::ReasonerRequest& request) {
                BackendOptions options = request.execution == study::Execution::Native
                                             ? options_.backend
                                             : simulating(options_.backend);
                options.slots = request.slots;
                if (packed_ && request.plan == packed_->plan && request.config == packed_->config)
                  return make_reasoner(*packed_, options);
                return make_reasoner(varied(checkpoint_, request.config), request.plan, options);
              },
          .calibrate =
              [this](const study::CalibrationRequest& request) {
                store::Checkpoint model = varied(checkpoint_, request.config);
                model.config.halt_max_steps = request.steps;
                std::vector<quant::QuantPlan> plans = request.plans;
                calibrate(model, options_.backend, options_.calibration, request.boards, plans);
                return plans;
              }};
}

}  // namespace driftless::run
