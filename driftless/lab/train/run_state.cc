// SPDX-License-Identifier: Apache-2.0
#include "driftless/lab/train/run_state.h"

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "driftless/base/error.h"
#include "driftless/base/text/text.h"
#include "driftless/model/shapes.h"
#include "driftless/store/checkpoint.h"
#include "driftless/store/safetensors.h"
#include "driftless/store/tensor.h"

namespace driftless::lab {
namespace {

constexpr std::array<std::pair<at::ScalarType, store::DType>, 6> kTypes = {
    {{at::kFloat, store::DType::F32},
     {at::kBFloat16, store::DType::BF16},
     {at::kByte, store::DType::U8},
     {at::kInt, store::DType::I32},
     {at::kBool, store::DType::Bool},
     {at::kHalf, store::DType::F16}}};

store::DType to_dtype(at::ScalarType type) {
  for (const auto& [ours, theirs] : kTypes)
    if (ours == type) return theirs;
  fail(ErrorCode::Internal, "run state: no file type for ", at::toString(type));
}

at::ScalarType to_scalar_type(store::DType dtype, const std::string& where) {
  for (const auto& [ours, theirs] : kTypes)
    if (theirs == dtype) return ours;
  fail(ErrorCode::BadFile, where, ": got element type ", store::info(dtype).name,
       ", expected one that a run saves");
}

void write_tensors(const std::filesystem::path& path,
                   const std::map<std::string, at::Tensor>& tensors,
                   const store::Metadata& metadata) {
  std::map<std::string, at::Tensor> host;
  std::map<std::string, store::TensorView> views;
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor& bytes = host[name] = tensor.detach().to(at::kCPU).contiguous();
    views[name] = {to_dtype(bytes.scalar_type()), bytes.sizes().vec(),
                   std::span(static_cast<const std::byte*>(bytes.data_ptr()), bytes.nbytes())};
  }
  store::write_safetensors(path, views, metadata);
}

at::Tensor read_tensor(const store::Safetensors& file, const std::string& name,
                       const std::vector<int64_t>& shape, at::Device device) {
  const auto found = file.tensors().find(name);
  DRIFTLESS_REQUIRE(found != file.tensors().end(), ErrorCode::BadFile, file.where(),
                    ": no tensor '", name, "'");
  const store::TensorView& view = found->second;
  DRIFTLESS_REQUIRE(view.shape == shape, ErrorCode::BadFile, file.where(), ": tensor '", name,
                    "'; got shape ", store::shape_text(view.shape), ", expected ",
                    store::shape_text(shape));
  at::Tensor tensor = at::empty(shape, to_scalar_type(view.dtype, file.where()));
  std::copy(view.bytes.begin(), view.bytes.end(), static_cast<std::byte*>(tensor.data_ptr()));
  return tensor.to(device);
}

std::filesystem::path state_path(const std::filesystem::path& folder) {
  return folder / "state.safetensors";
}
std::filesystem::path carry_path(const std::filesystem::path& folder, int64_t step) {
  return folder / ("carry-" + std::to_string(step) + ".safetensors");
}

// Older carries, and temporary files that a killed run left behind.
void remove_leftovers(const std::filesystem::path& folder, int64_t step) {
  std::vector<std::filesystem::path> old;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool is_carry = name.starts_with("carry-") && entry.path() != carry_path(folder, step);
    if (is_carry || name.find(".safetensors.tmp.") != std::string::npos)
      old.push_back(entry.path());
  }
  for (const auto& path : old) std::filesystem::remove(path);
}

std::optional<Carry> load_carry(const std::filesystem::path& path, at::Device device) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  const store::Safetensors file = store::read_safetensors(path);
  const auto shape = [&](const std::string& name) {
    const auto found = file.tensors().find(name);
    return found == file.tensors().end() ? std::vector<int64_t>{} : found->second.shape;
  };
  const std::vector<int64_t> boards = shape("inputs");
  const std::vector<int64_t> states = shape("states.h");
  DRIFTLESS_REQUIRE(
      boards.size() == 2 && states.size() == 3 && states[0] == boards[0] && states[1] >= boards[1],
      ErrorCode::BadFile, file.where(), ": got inputs ", store::shape_text(boards), " and states ",
      store::shape_text(states), ", expected [B, S] and [B, T, D]");
  const auto read = [&](const std::string& name, const std::vector<int64_t>& expected) {
    return read_tensor(file, name, expected, device);
  };
  const bool is_following = file.tensors().contains("followed.h");
  const bool has_puzzles = file.tensors().contains("puzzles");  // carries of older runs have none
  return Carry{{read("states.h", states), read("states.l", states)},
               read("inputs", boards),
               read("labels", boards),
               read("steps", {boards[0]}),
               read("halted", {boards[0]}),
               has_puzzles ? read("puzzles", {boards[0]})
                           : at::zeros({boards[0]}, at::TensorOptions(at::kInt).device(device)),
               is_following ? TensorStates{read("followed.h", states), read("followed.l", states)}
                            : TensorStates{}};
}

/// "L_level.cycles.3.layers.0..." is called "L_level.layers.0..." in a tied model.
std::string tied_name(const std::string& name) {
  constexpr std::string_view kCycles = ".cycles.";
  const size_t begin = name.find(kCycles);
  if (begin == std::string::npos) return name;
  return name.substr(0, begin) + name.substr(name.find('.', begin + kCycles.size()));
}

}  // namespace

at::Tensor& extra_tensor(RunState& state, const model::ParamSpec& spec) {
  if (spec.role == model::ParamRole::PuzzleTable) return state.puzzle_table;
  return spec.name == "H_init" ? state.initial.h : state.initial.l;
}

void save_run(const std::filesystem::path& folder, const RunState& state, const Carry& carry) {
  const OptimizerState& o = state.optimizer;
  DRIFTLESS_REQUIRE(at::isfinite(o.values).all().item<bool>(), ErrorCode::Numeric, "step ",
                    state.step, ": a weight is not finite; the last checkpoint is kept");
  std::filesystem::create_directories(folder);
  const store::Metadata metadata = {{"step", std::to_string(state.step)}, {"recipe", state.recipe}};
  std::map<std::string, at::Tensor> boards = {
      {"states.h", carry.states.h}, {"states.l", carry.states.l}, {"inputs", carry.inputs},
      {"labels", carry.labels},     {"steps", carry.steps},       {"halted", carry.halted},
      {"puzzles", carry.puzzles}};
  if (carry.followed.h.defined()) {
    boards["followed.h"] = carry.followed.h;
    boards["followed.l"] = carry.followed.l;
  }
  write_tensors(carry_path(folder, state.step), boards, metadata);
  std::map<std::string, at::Tensor> tensors = {
      {"values", o.values}, {"moment1", o.moment1}, {"moment2", o.moment2}, {"ema", o.ema}};
  if (state.initial.h.defined()) tensors["H_init"] = state.initial.h;
  if (state.initial.l.defined()) tensors["L_init"] = state.initial.l;
  if (state.puzzle_table.defined()) tensors["puzzle_emb.weights"] = state.puzzle_table;
  if (state.teacher.defined()) tensors["teacher"] = state.teacher;
  // Files have called these scales steps from the start.
  if (state.scales.values.defined()) {
    tensors["steps.values"] = state.scales.values;
    tensors["steps.moment1"] = state.scales.moment1;
    tensors["steps.moment2"] = state.scales.moment2;
    tensors["steps.ema"] = state.scales.ema;
  }
  write_tensors(state_path(folder), tensors, metadata);
  remove_leftovers(folder, state.step);
}

int64_t state_step(const store::Safetensors& file) {
  const auto found = file.metadata().find("step");
  const auto step = found == file.metadata().end() ? std::nullopt : parse_int(found->second);
  DRIFTLESS_REQUIRE(step.has_value() && *step >= 0, ErrorCode::BadFile, file.where(),
                    ": metadata 'step'; expected a step count");
  return *step;
}

bool has_run(const std::filesystem::path& folder) {
  return std::filesystem::exists(state_path(folder));
}

LoadedRun load_run(const std::filesystem::path& folder, const model::ModelConfig& config,
                   at::ScalarType activations, at::Device device) {
  const store::Safetensors file = store::read_safetensors(state_path(folder));
  const int64_t size = ParameterLayout(config).size();
  // Of a state that travels some are bfloat16.
  const auto flat = [&](const std::string& name) {
    const at::Tensor tensor = read_tensor(file, name, {size}, device);
    DRIFTLESS_REQUIRE(tensor.is_floating_point(), ErrorCode::BadFile, file.where(), ": tensor '",
                      name, "'; got ", at::toString(tensor.scalar_type()),
                      ", expected F32 or BF16");
    return tensor.to(at::kFloat);
  };
  LoadedRun run;
  run.state.step = state_step(file);
  const auto recipe = file.metadata().find("recipe");
  DRIFTLESS_REQUIRE(recipe != file.metadata().end(), ErrorCode::BadFile, file.where(),
                    ": no metadata 'recipe'");
  run.state.recipe = recipe->second;
  run.state.optimizer = fresh_optimizer_state(flat("values"), activations);
  run.state.optimizer.moment1 = flat("moment1");
  run.state.optimizer.moment2 = flat("moment2");
  run.state.optimizer.ema = file.tensors().contains(kTravellingAverage)
                                ? run.state.optimizer.values + flat(kTravellingAverage)
                                : flat("ema");
  for (const model::ParamSpec& spec : model::parameters(config))
    if (spec.role != model::ParamRole::Weight)
      extra_tensor(run.state, spec) = read_tensor(file, spec.name, spec.shape, device);
  if (file.tensors().contains("teacher")) run.state.teacher = flat("teacher");
  if (const auto scales = file.tensors().find("steps.values"); scales != file.tensors().end()) {
    const auto read = [&](const char* name) {
      return read_tensor(file, name, scales->second.shape, device);
    };
    run.state.scales = fresh_optimizer_state(read("steps.values"), at::kFloat);
    run.state.scales.moment1 = read("steps.moment1");
    run.state.scales.moment2 = read("steps.moment2");
    run.state.scales.ema = read("steps.ema");
  }
  run.carry = load_carry(carry_path(folder, run.state.step), device);
  return run;
}

NamedTensors load_weights(const std::filesystem::path& path, const model::ModelConfig& config) {
  const store::Checkpoint checkpoint = store::load_checkpoint(path);
  NamedTensors named;
  for (const model::ParamSpec& spec : model::parameters(config)) {
    auto found = checkpoint.tensors.find(spec.name);
    if (found == checkpoint.tensors.end()) found = checkpoint.tensors.find(tied_name(spec.name));
    if (found == checkpoint.tensors.end() && spec.name == model::kLogScaleName) {
      named[spec.name] = at::zeros(spec.shape, at::kFloat);
      continue;
    }
    const bool is_there = found != checkpoint.tensors.end();
    DRIFTLESS_REQUIRE(is_there && found->second.shape == spec.shape, ErrorCode::BadConfig,
                      path.string(), ": tensor '", spec.name, "': got ",
                      is_there ? store::shape_text(found->second.shape) : "none",
                      ", expected the recipe's ", store::shape_text(spec.shape));
    named[spec.name] = at::tensor(at::ArrayRef<float>(found->second.values)).view(spec.shape);
  }
  return named;
}

store::Checkpoint to_checkpoint(const model::ModelConfig& config, const NamedTensors& named) {
  store::Checkpoint checkpoint;
  checkpoint.config = config;
  for (const auto& [name, tensor] : named) {
    const at::Tensor values = tensor.to(at::kFloat).contiguous();
    const float* data = values.data_ptr<float>();
    checkpoint.tensors[name] = {values.sizes().vec(),
                                std::vector<float>(data, data + values.numel())};
  }
  return checkpoint;
}

void save_weights(const std::filesystem::path& path, const model::ModelConfig& config,
                  const NamedTensors& named, int64_t step, store::DType dtype) {
  store::Checkpoint checkpoint = to_checkpoint(config, named);
  checkpoint.metadata = {{"step", std::to_string(step)}};
  store::save_checkpoint(path, checkpoint, dtype);
}

void export_weights(const std::filesystem::path& path, const model::ModelConfig& config,
                    const RunState& state, store::DType dtype) {
  NamedTensors named = to_named(ParameterLayout(config), state.optimizer.ema);
  RunState extras = state;
  for (const model::ParamSpec& spec : model::parameters(config))
    if (spec.role != model::ParamRole::Weight)
      named[spec.name] = extra_tensor(extras, spec).to(at::kCPU);
  save_weights(path, config, named, state.step, dtype);
}

}  // namespace driftless::lab
