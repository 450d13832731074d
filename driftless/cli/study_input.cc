// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/study_input.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "driftless/base/error.h"
#include "driftless/base/sha256.h"
#include "driftless/cli/backend.h"
#include "driftless/cli/terminal/progress.h"
#include "driftless/reason/linear_layers.h"
#include "driftless/study/record/results_file.h"

namespace driftless::cli {
namespace {

std::string name_of(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

/// The checkpoint with other numbers of cycles and steps.
store::Checkpoint varied(const store::Checkpoint& checkpoint, const model::ModelConfig& config) {
  return {.config = config, .tensors = checkpoint.tensors, .metadata = checkpoint.metadata};
}

/// What stands beside a packed model; "" for none.
const std::string& origin_of(const StudyFlags& flags) {
  return flags.source.empty() ? flags.start : flags.source;
}

/// The float model: that of the file, or the origin of a packed one.
store::Checkpoint load_float(const StudyFlags& flags) {
  const bool is_packed = store::is_packed(flags.model);
  DRIFTLESS_REQUIRE(is_packed || origin_of(flags).empty(), ErrorCode::InvalidArgument,
                    "--source and --start: for packed models only; got ", flags.model,
                    ", a float checkpoint");
  DRIFTLESS_REQUIRE(!is_packed || !origin_of(flags).empty(), ErrorCode::InvalidArgument,
                    flags.model,
                    ": a packed model has no float weights to compare with; expected a float "
                    "checkpoint, or ladder with --source CHECKPOINT, what it was packed from, or "
                    "--start CHECKPOINT, what its quantized training started from");
  return load_float_model(is_packed ? origin_of(flags) : flags.model);
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

std::optional<store::PackedModel> load_packed_of(const StudyFlags& flags) {
  if (origin_of(flags).empty()) return {};
  store::PackedModel packed = store::load_packed(flags.model);
  const std::string got = sha256_of_file(origin_of(flags));
  DRIFTLESS_REQUIRE(flags.source.empty() || got == packed.source_sha256, ErrorCode::BadFile,
                    flags.source, ": not what ", flags.model, " was packed from; got SHA-256 ", got,
                    ", expected ", packed.source_sha256,
                    "; for a model that was trained further, --start");
  packed.plan = in_order(packed.plan, packed.config);
  return packed;
}

/// Floats, and integers in floats, of a native study run on the CPU.
BackendOptions simulating(BackendOptions options) {
  if (options.device == "native") options.device = "cpu";
  return options;
}

/// What a record tells of the command only by naming the flag.
study::Json unrecorded_flags(const StudyFlags& flags) {
  study::Json json = study::Json::object();
  if (!flags.source.empty()) json["source"] = name_of(flags.source);
  if (!flags.start.empty()) json["start"] = name_of(flags.start);
  if (!flags.arc.identifiers.empty()) json["identifiers"] = name_of(flags.arc.identifiers);
  if (flags.arc.variants > 0) json["variants"] = flags.arc.variants;
  if (flags.calibration.may_overlap) json["calibration-may-overlap"] = true;
  if (!flags.overrides.empty()) json["set"] = flags.overrides;
  return json;
}

// Boards and rows at a time. A large device wants many boards, and its float32 products cost so
// much that more rows should share the float model's.
constexpr int64_t kCpuBatch = 32;
constexpr int64_t kCudaBatch = 640;
constexpr int64_t kCudaRowsTogether = 6;

/// The perturbation that `dynamics` follows must not vanish in the states' rounding.
void require_resolution(std::span<const study::Row> rows, const BackendOptions& options) {
  const bool has_dynamics =
      std::any_of(rows.begin(), rows.end(), [](const study::Row& row) { return row.dynamics; });
  DRIFTLESS_REQUIRE(!has_dynamics || options.dtype == "f32", ErrorCode::InvalidArgument,
                    "study: dynamics perturbs states by 1e-3, less than bfloat16 resolves; got "
                    "--dtype ",
                    options.dtype, ", expected f32");
}

}  // namespace

void add_study_flags(const Verb& verb, StudyFlags& flags) {
  verb.add_option("--limit", flags.limit, "take only the first N boards").positive();
  verb.add_input("--identifiers", flags.arc.identifiers,
                 "ARC: JSON list that names the rows of the model's puzzle table (default: "
                 "identifiers.json beside the model)");
  verb.add_option("--variants", flags.arc.variants,
                  "ARC: ask about at most N variants of each test input (default: all)")
      .positive();
  add_device_flags(verb, flags.backend);
  verb.add_option("--batch", flags.batch,
                  "boards at a time, which bound the memory (default: by device)")
      .positive();
  verb.add_option("--seed", flags.seed, "of random states, noise and perturbations")
      .shows_default();
}

study::Execution execution_of(const StudyFlags& flags) {
  return flags.backend.device == "native" ? study::Execution::Native : study::Execution::Simulated;
}

StudyFiles::StudyFiles(const StudyFlags& flags)
    : flags_(flags), checkpoint_(load_float(flags)), packed_(load_packed_of(flags)) {
  DRIFTLESS_REQUIRE(!packed_ || packed_->config == checkpoint_.config, ErrorCode::BadFile,
                    origin_of(flags), ": another configuration than ", flags.model,
                    "; expected the checkpoint that it comes from");
  require_device(flags.backend);
  examples_ = examples_of(flags.data);
  require_fits(checkpoint_, examples_, flags.data);
  if (flags.limit > 0 && flags.limit < std::ssize(examples_))
    examples_.resize(static_cast<size_t>(flags.limit));
  const std::string& file = flags.calibration.data;
  std::vector<task::Example> calibration;
  if (!file.empty()) calibration = examples_of(file);
  require_fits(checkpoint_, calibration, file);
  calibration_ = std::make_shared<CalibrationBoards>(
      flags.calibration, CalibrationBoards::Source{.task = task_of(checkpoint_),
                                                   .cells = checkpoint_.config.seq_len,
                                                   .file = std::move(calibration),
                                                   .scored = examples_,
                                                   .noise_seed = flags.seed});
  origin_ = {.version = DRIFTLESS_VERSION,
             .model_file = name_of(flags.model),
             .model_sha256 = sha256_of_file(flags.model),
             .data_file = name_of(flags.data),
             .data_sha256 = sha256_of_path(flags.data),
             .calibration_file = file.empty() ? kGenerated : name_of(file),
             .calibration_sha256 = file.empty() ? "" : sha256_of_path(file),
             .backend = backend_name(simulating(flags.backend)),
             .flags = unrecorded_flags(flags)};
}

std::vector<task::Example> StudyFiles::examples_of(const std::string& path) const {
  const task::Task& task = task_of(checkpoint_);
  if (checkpoint_.config.task != model::Task::Arc) return read_boards(task, {.path = path});
  ArcOptions options = flags_.arc;
  options.seed = flags_.seed;
  return read_arc_boards(checkpoint_, flags_.model, {.path = path}, options).rows;
}

study::StudyInput StudyFiles::input(std::string name) const {
  const bool is_cuda = flags_.backend.device == "cuda";
  return {.name = std::move(name),
          .config = checkpoint_.config,
          .task = task_of(checkpoint_),
          .examples = examples_,
          .calibration = [boards = calibration_](
                             int64_t count, uint64_t seed) { return boards->draw(count, seed); },
          .origin = origin_,
          .seed = flags_.seed,
          .batch = flags_.batch > 0 ? flags_.batch
                   : is_cuda        ? kCudaBatch
                                    : kCpuBatch,
          .rows_together = is_cuda ? kCudaRowsTogether : study::kRowsTogether,
          .threads = flags_.backend.threads};
}

void StudyFiles::complete(std::span<study::Row> rows) const {
  const CalibrationFlags& flags = flags_.calibration;
  for (study::Row& row : rows) {
    if (!study::needs_calibration(row)) continue;
    if (flags.boards > 0)
      row.calibration_boards = flags.boards;
    else if (row.calibration_boards == 0)
      row.calibration_boards = calibration_->usual_count();
    row.calibration_seed = flags.seed.value_or(row.calibration_seed);
  }
}

study::Backend StudyFiles::backend() const {
  return {.make =
              [this](const study::ReasonerRequest& request) {
                BackendOptions options = simulating(flags_.backend);
                if (request.execution == study::Execution::Native) options.device = "native";
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
                calibrate(model, flags_.backend, request.boards, plans);
                return plans;
              }};
}

std::vector<study::Json> run_study(const StudyFiles& files, const StudyFlags& flags,
                                   const std::string& name, std::span<const study::Row> rows,
                                   int64_t first_row) {
  require_resolution(rows, flags.backend);
  const auto communicator = study::make_communicator();
  study::StudyInput input = files.input(name);
  input.first_row = first_row;
  std::vector<study::Json> records;
  std::unique_ptr<study::ResultsFile> results;
  if (!flags.out.empty() && communicator->rank() == 0)
    results = std::make_unique<study::ResultsFile>(flags.out, input.origin);
  Progress progress(name);
  study::run_rows(rows, input, files.backend(), *communicator,
                  {.is_done =
                       [&](const study::Json& key) {
                         const study::Json* const found = results ? results->find(key) : nullptr;
                         if (found != nullptr) records.push_back(*found);
                         return found != nullptr;
                       },
                   .add =
                       [&](const study::Json& record) {
                         if (results) results->append(record);
                         records.push_back(record);
                       },
                   .progress =
                       [&](const study::StudyProgress& now) {
                         progress.set_total(now.total);
                         progress.show(now.done, now.rows);
                       }});
  return records;
}

}  // namespace driftless::cli
