// SPDX-License-Identifier: Apache-2.0
#include "driftless/api/driftless_c.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

#include "driftless/api/driftless.h"
#include "driftless/base/error.h"

struct driftless_engine {  // NOLINT(readability-identifier-naming): the name of the C interface
  driftless::Engine engine;
};

namespace {

thread_local std::string last_error;

/// Runs what may throw; an exception becomes a code and a message.
template <class Action>
int guarded(const Action& action) noexcept {
  try {
    action();
    return DRIFTLESS_OK;
  } catch (const std::exception& error) {
    try {
      last_error = error.what();
    } catch (...) {
      last_error.clear();  // no memory for the message
    }
    return driftless::error_code(error);
  } catch (...) {
    return DRIFTLESS_ERROR_INTERNAL;
  }
}

template <class T>
void require_given(const T* pointer, const char* what) {
  DRIFTLESS_REQUIRE(pointer != nullptr, driftless::ErrorCode::InvalidArgument, what,
                    "; got NULL, expected a pointer");
}

driftless::SolveOptions options_of(const driftless_solve_options& given) {
  driftless::SolveOptions options{.max_steps = given.max_steps};
  if (given.all_steps != 0) options.halting = driftless::Halting::AfterAllSteps;
  if (given.on_step == nullptr) return options;
  options.on_step = [given](const driftless::StepView& step) {
    const int stop = given.on_step(given.user, static_cast<size_t>(step.board), step.step,
                                   step.tokens.data(), step.halt_logit);
    DRIFTLESS_REQUIRE(stop == 0, driftless::ErrorCode::InvalidArgument,
                      "solve: ended by on_step, which returned ", stop);
  };
  return options;
}

}  // namespace

int driftless_load(const char* path, int64_t threads, driftless_engine** engine) {
  return guarded([&] {
    require_given(path, "load: path");
    require_given(engine, "load: engine");
    *engine = nullptr;
    *engine = new driftless_engine{driftless::Engine::load(path, {.threads = threads})};
  });
}

void driftless_free(driftless_engine* engine) { delete engine; }

int64_t driftless_cells(const driftless_engine* engine) {
  return engine == nullptr ? 0 : engine->engine.cells();
}

int64_t driftless_vocabulary(const driftless_engine* engine) {
  return engine == nullptr ? 0 : engine->engine.vocabulary();
}

int driftless_solve(driftless_engine* engine, const uint8_t* tokens, size_t boards,
                    const driftless_solve_options* options, uint8_t* answers, int64_t* steps) {
  return guarded([&] {
    require_given(engine, "solve: engine");
    if (boards == 0) return;
    require_given(tokens, "solve: tokens");
    require_given(answers, "solve: answers");
    const auto cells = static_cast<size_t>(engine->engine.cells());
    constexpr auto kMost = static_cast<size_t>(std::numeric_limits<ptrdiff_t>::max());
    DRIFTLESS_REQUIRE(boards <= kMost / (cells + sizeof(driftless::Solution)),
                      driftless::ErrorCode::InvalidArgument, "solve: boards; got ", boards,
                      ", more than memory can hold");
    std::vector<driftless::Board> given;
    given.reserve(boards);
    for (size_t i = 0; i < boards; ++i) given.push_back({.tokens = {tokens + i * cells, cells}});
    const auto solutions = engine->engine.solve(
        given, options == nullptr ? driftless::SolveOptions{} : options_of(*options));
    for (size_t i = 0; i < boards; ++i) {
      std::copy(solutions[i].tokens.begin(), solutions[i].tokens.end(), answers + i * cells);
      if (steps != nullptr) steps[i] = solutions[i].steps;
    }
  });
}

const char* driftless_last_error(void) { return last_error.c_str(); }

const char* driftless_version(void) { return DRIFTLESS_VERSION; }
