// SPDX-License-Identifier: Apache-2.0
// Opening, describing and packing models; c_slots.cc runs them.
#include "driftless/api/driftless_c.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <nlohmann/json.hpp>

#include "driftless/api/c_calls.h"
#include "driftless/base/sha256.h"
#include "driftless/integer/kernels/kernel_set.h"
#include "driftless/model/config_json.h"
#include "driftless/model/shapes.h"
#include "driftless/run/model.h"
#include "driftless/run/rounding.h"
#include "driftless/store/packed_model.h"

namespace {

using driftless::ErrorCode;
using driftless::api::copied;
using driftless::api::guarded;
using driftless::api::require_given;
using driftless::api::text_or;
namespace run = driftless::run;
namespace store = driftless::store;

/// The caller's options; what its version of the struct does not have is zero.
driftless_open_options complete(const driftless_open_options* given) {
  driftless_open_options options = {};
  if (given == nullptr) return options;
  DRIFTLESS_REQUIRE(given->size >= sizeof(size_t) && given->size <= sizeof(options),
                    ErrorCode::InvalidArgument, "open: size of the options; got ", given->size,
                    ", expected sizeof(driftless_open_options) = ", sizeof(options));
  std::memcpy(&options, given, given->size);
  return options;
}

run::SchemeText scheme_of(const driftless_open_options& options) {
  run::SchemeText scheme;
  scheme.weights = text_or(options.weights, scheme.weights);
  scheme.acts = text_or(options.acts, scheme.acts);
  scheme.coverage = text_or(options.coverage, scheme.coverage);
  scheme.bias = text_or(options.bias, scheme.bias);
  scheme.scales = text_or(options.scales, scheme.scales);
  scheme.attention = text_or(options.attention, scheme.attention);
  scheme.plan = text_or(options.plan, "");
  if (options.smooth != 0) scheme.smooth = options.smooth;
  scheme.hadamard = options.hadamard != 0;
  scheme.delta = options.delta != 0;
  scheme.calibration.data = text_or(options.calibration_data, "");
  scheme.calibration.boards = options.calibration_boards;
  if (options.calibration_seed != 0) scheme.calibration.seed = options.calibration_seed;
  scheme.calibration.may_overlap = options.calibration_may_overlap != 0;
  DRIFTLESS_REQUIRE(options.calibration_boards >= 0, ErrorCode::InvalidArgument,
                    "open: calibration_boards; got ", options.calibration_boards,
                    ", expected 0 or more");
  return scheme;
}

run::BackendOptions backend_of(const driftless_open_options& options) {
  DRIFTLESS_REQUIRE(options.threads >= 0 && options.slots >= 0, ErrorCode::InvalidArgument,
                    "open: threads and slots; got ", options.threads, " and ", options.slots,
                    ", expected 0 or more");
  run::BackendOptions backend;
  backend.device = text_or(options.device, backend.device);
  backend.dtype = text_or(options.dtype, backend.dtype);
  if (options.threads > 0) backend.threads = options.threads;
  backend.slots = options.slots;
  return backend;
}

store::ModelFile parse_model(const void* bytes, size_t size) {
  const auto* const first = static_cast<const std::byte*>(bytes);
  const store::Safetensors file({first, first + size}, "memory");
  if (!file.metadata().contains("packed")) return {.checkpoint = store::parse_checkpoint(file)};
  store::PackedModel packed = store::parse_packed(file);
  store::Checkpoint checkpoint{.config = packed.config, .tensors = {}, .metadata = {}};
  return {.checkpoint = std::move(checkpoint), .packed = std::move(packed)};
}

std::unique_ptr<driftless_engine> make_engine(store::ModelFile model, std::string path,
                                              const driftless_open_options& options) {
  auto engine = std::make_unique<driftless_engine>();
  engine->path = std::move(path);
  engine->backend = backend_of(options);
  engine->scheme = run::planned_scheme(scheme_of(options), model, engine->backend, {});
  engine->reasoner = run::make_reasoner(model, engine->scheme.plan, engine->backend);
  engine->is_packed = model.packed.has_value();
  engine->checkpoint.config = model.checkpoint.config;
  engine->found = std::move(model.found);
  return engine;
}

}  // namespace

int driftless_open(const char* path, const driftless_open_options* options,
                   driftless_engine** engine) {
  return guarded([&] {
    require_given(engine, "open: engine");
    *engine = nullptr;
    require_given(path, "open: path");
    *engine = make_engine(store::open_model(path), path, complete(options)).release();
  });
}

int driftless_open_memory(const void* bytes, size_t size, const driftless_open_options* options,
                          driftless_engine** engine) {
  return guarded([&] {
    require_given(engine, "open: engine");
    *engine = nullptr;
    require_given(bytes, "open: bytes");
    *engine = make_engine(parse_model(bytes, size), "", complete(options)).release();
  });
}

int driftless_load(const char* path, int64_t threads, driftless_engine** engine) {
  return guarded([&] {
    require_given(engine, "load: engine");
    *engine = nullptr;
    require_given(path, "load: path");
    DRIFTLESS_REQUIRE(threads > 0, ErrorCode::InvalidArgument, "load: threads; got ", threads,
                      ", expected at least 1");
    store::ModelFile model = store::open_model(path);
    driftless_open_options options = {};
    if (!model.packed) options.weights = options.acts = "mxint4,window=4";
    options.device = "native";
    options.threads = threads;
    *engine = make_engine(std::move(model), path, options).release();
  });
}

void driftless_free(driftless_engine* engine) { delete engine; }

int driftless_pack(const char* path, const driftless_open_options* options, const char* method,
                   const char* out) {
  return guarded([&] {
    require_given(path, "pack: path");
    require_given(out, "pack: out");
    const driftless_open_options given = complete(options);
    const run::SchemeText asked = run::packing_scheme(scheme_of(given));
    const run::Method chosen = run::parse_method(text_or(method, "nearest"));
    const store::Checkpoint checkpoint = run::require_float(store::open_model(path), path);
    run::BackendOptions backend = backend_of(given);
    backend.device = "native";
    const run::PlannedScheme scheme = run::planned_scheme(asked, checkpoint, backend, {});
    store::PackedModel packed = run::pack(checkpoint, scheme, chosen, backend, asked.calibration);
    packed.source_sha256 = driftless::sha256_of_file(path);
    store::save_packed(out, packed);
  });
}

int64_t driftless_cells(const driftless_engine* engine) {
  return engine == nullptr ? 0 : engine->checkpoint.config.seq_len;
}

int64_t driftless_vocabulary(const driftless_engine* engine) {
  return engine == nullptr ? 0 : engine->checkpoint.config.vocab_size;
}

int64_t driftless_slots(const driftless_engine* engine) {
  return engine == nullptr ? 0 : engine->reasoner->slot_count();
}

int64_t driftless_state_rows(const driftless_engine* engine) {
  return engine == nullptr ? 0 : driftless::model::positions_count(engine->checkpoint.config);
}

int64_t driftless_state_columns(const driftless_engine* engine) {
  return engine == nullptr ? 0 : engine->checkpoint.config.hidden_size;
}

int driftless_describe(const driftless_engine* engine, char** json) {
  return guarded([&] {
    require_given(engine, "describe: engine");
    require_given(json, "describe: json");
    using Json = nlohmann::ordered_json;
    const driftless::model::ModelConfig& config = engine->checkpoint.config;
    Json found = Json::object();
    for (const store::Finding& finding : engine->found) found[finding.what] = finding.text;
    const Json record = {{"path", engine->path},
                         {"task", config.task},
                         {"parameters", driftless::model::trainable_count(config)},
                         {"max_steps", config.halt_max_steps},
                         {"scheme", engine->scheme.text},
                         {"calibration", engine->scheme.calibration},
                         {"device", engine->backend.device},
                         {"dtype", engine->backend.dtype},
                         {"threads", engine->backend.threads},
                         {"slots", engine->reasoner->slot_count()},
                         {"is_packed", engine->is_packed},
                         {"instruction_set", driftless::integer::kernels().name},
                         {"config", Json::parse(driftless::model::config_to_json(config))},
                         {"found", found}};
    *json = copied(record.dump());
  });
}
