// SPDX-License-Identifier: Apache-2.0
// The functions that JavaScript calls (web/src/instance.js). An instance has one session.
// JavaScript fills a buffer, calls, and reads the text that the call left: what it asked for, or
// one line that says what is wrong. Calls return 0, or 10 plus the error's code as the program
// exits with.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "driftless/base/error.h"
#include "driftless/base/text/json.h"
#include "driftless/integer/kernels/kernel_set.h"
#include "driftless/loop/kernels/epilogues.h"

#include "web/engine/boards.h"
#include "web/engine/session.h"

#define DRIFTLESS_EXPORT(name) extern "C" [[clang::export_name(#name)]]

namespace driftless::web {
namespace {

using Json = nlohmann::json;

struct Instance {
  std::vector<std::byte> input{};
  std::string text{};
  std::optional<Session> session{};
};

Instance& instance() {
  static Instance only;
  return only;
}

/// Runs a call. What is wrong becomes the text.
template <class Call>
int guarded(const Call& call) noexcept {
  constexpr int kFirst = 10;
  int code = static_cast<int>(ErrorCode::Internal);
  try {
    call(instance());
    return 0;
  } catch (const Error& error) {
    code = static_cast<int>(error.code());
    instance().text = error.what();
  } catch (const std::bad_alloc&) {
    instance().text = "model: needs more memory than there is";
  } catch (const std::exception& error) {
    instance().text = error.what();
  }
  return kFirst + code;
}

std::string_view text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Session& session_of(Instance& all) {
  DRIFTLESS_REQUIRE(all.session, ErrorCode::InvalidArgument, "model: none is loaded");
  return *all.session;
}

}  // namespace

/// Room for `bytes` bytes of input; null where there is none.
DRIFTLESS_EXPORT(input) std::byte* input(size_t bytes) {
  const int code = guarded([&](Instance& all) { all.input = std::vector<std::byte>(bytes); });
  return code == 0 ? instance().input.data() : nullptr;
}

DRIFTLESS_EXPORT(text) const char* text() { return instance().text.data(); }
DRIFTLESS_EXPORT(text_bytes) size_t text_bytes() { return instance().text.size(); }

/// Loads the model of the input's bytes but the last `choice_bytes`, which say as JSON how to run
/// it. The text says what it is.
DRIFTLESS_EXPORT(load) int load(size_t choice_bytes) {
  return guarded([&](Instance& all) {
    std::vector<std::byte> file = std::move(all.input);
    all.input = {};
    const std::string_view bytes = text_of(file);
    const Json choice = parse_json(bytes.substr(bytes.size() - choice_bytes), "options");
    file.resize(file.size() - choice_bytes);
    all.session.reset();
    const auto text_at = [&](const char* key) { return choice.at(key).get<std::string>(); };
    all.session.emplace(std::move(file),
                        Choice{.weights = text_at("weights"),
                               .activations = text_at("activations"),
                               .coverage = quant::parse_coverage(text_at("coverage")),
                               .attention = quant::parse_attention_precision(text_at("attention")),
                               .is_simulated = choice.at("simulate").get<bool>()});
    const model::ModelConfig& config = all.session->config();
    all.text = Json{{"task", config.task},
                    {"cells", config.seq_len},
                    {"vocabulary", config.vocab_size},
                    {"steps", config.halt_max_steps},
                    {"cycles", {config.h_cycles, config.l_cycles}},
                    {"architecture", std::string(to_string(config.arch))},
                    {"width", config.hidden_size},
                    {"scheme", all.session->scheme()},
                    {"native", all.session->is_native()},
                    {"kernels", std::string(integer::kernels().name)},
                    {"epilogues", std::string(loop::epilogues().name)}}
                   .dump();
  });
}

/// Puts the board of the input in, one byte a cell.
DRIFTLESS_EXPORT(start) int start(uint32_t seed) {
  return guarded([&](Instance& all) {
    const std::span<const std::byte> bytes = all.input;
    session_of(all).start({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, seed);
  });
}

DRIFTLESS_EXPORT(step) int step() {
  return guarded([&](Instance& all) { session_of(all).step(); });
}

// After a step.
DRIFTLESS_EXPORT(answer) const uint8_t* answer() { return instance().session->answer().data(); }
DRIFTLESS_EXPORT(halt_score) double halt_score() { return instance().session->halt_score(); }
DRIFTLESS_EXPORT(state) const float* state() { return instance().session->states().h.data(); }
DRIFTLESS_EXPORT(state_values) size_t state_values() {
  return instance().session->states().h.size();
}
DRIFTLESS_EXPORT(latent) const float* latent() { return instance().session->states().l.data(); }
DRIFTLESS_EXPORT(logits) const float* logits() { return instance().session->logits().data(); }
DRIFTLESS_EXPORT(hash) uint64_t hash() { return state_hash(instance().session->states()); }

/// Boards: the input is a request (boards.h), the text the answer.
DRIFTLESS_EXPORT(boards) int boards() {
  return guarded([&](Instance& all) { all.text = answer_request(text_of(all.input)); });
}

}  // namespace driftless::web
