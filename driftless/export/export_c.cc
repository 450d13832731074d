// SPDX-License-Identifier: Apache-2.0
#include "driftless/export/export_c.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstdio>

#include "driftless/base/error.h"
#include "driftless/base/text/text.h"
#include "driftless/export/assets.h"
#include "driftless/export/c_data.h"
#include "driftless/export/c_text.h"
#include "driftless/export/identifier.h"
#include "driftless/native/native_reasoner.h"

namespace driftless::exporter {
namespace {

constexpr int64_t kMostTile = 64;  // two sums for each row are on the stack

/// A kernel set beside plain C, and the condition under which it is taken.
struct Kernels {
  std::string_view name;
  const char* macro;
  const char* condition;
  std::string_view (*text)();
  CArena CExport::*arena;
};

/// Best first.
constexpr std::array kKernels = {
    Kernels{"mve", "MVE", "defined(__ARM_FEATURE_MVE)", c_kernels_mve, &CExport::vector},
    Kernels{"dsp", "DSP", "defined(__ARM_FEATURE_DSP)", c_kernels_dsp, &CExport::dsp},
    Kernels{"riscv", "RISCV", "defined(__riscv_v_min_vlen) && __riscv_v_min_vlen >= 128",
            c_kernels_riscv, &CExport::vector}};

std::vector<const Kernels*> chosen_kernels(const COptions& options) {
  std::vector<std::string_view> names = {"c"};
  for (const Kernels& kernels : kKernels) names.push_back(kernels.name);
  for (const std::string& name : options.kernels)
    DRIFTLESS_REQUIRE(std::find(names.begin(), names.end(), name) != names.end(),
                      ErrorCode::InvalidArgument, "kernels; got '", name, "', expected some of ",
                      join(names, ", "), did_you_mean(name, names));
  std::vector<const Kernels*> chosen;
  for (const Kernels& kernels : kKernels)
    if (std::find(options.kernels.begin(), options.kernels.end(), kernels.name) !=
        options.kernels.end())
      chosen.push_back(&kernels);
  return chosen;
}

/// Takes the best set that the compiler's target has.
std::string choice_text(std::span<const Kernels* const> chosen) {
  std::string text;
  for (const Kernels* kernels : chosen)
    text += std::string(text.empty() ? "#if " : "#elif ") + kernels->condition +
            "\n#define REASONER_KERNELS REASONER_KERNELS_" + kernels->macro + "\n";
  if (text.empty()) return "#define REASONER_KERNELS REASONER_KERNELS_C";
  return text + "#else\n#define REASONER_KERNELS REASONER_KERNELS_C\n#endif";
}

/// The parts without their includes of each other.
std::string without_includes(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = text.substr(at, end - at);
    if (!line.starts_with("#include \"parts.h\"")) out += line;
    at = end;
  }
  return out;
}

std::string named(const std::string& text, const std::string& name) {
  std::string upper = name;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return replaced(replaced(text, "REASONER", upper), "reasoner", name);
}

std::string section_text(const std::string& section) {
  return section.empty() ? "" : "__attribute__((section(\"" + section + "\")))";
}

void require_section(const std::string& section) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
  };
  DRIFTLESS_REQUIRE(std::all_of(section.begin(), section.end(), is_plain),
                    ErrorCode::InvalidArgument, "section for constants; got '", section,
                    "', expected letters, digits, '.', '_' and '-', such as .extflash");
}

void require_fits(const char* what, int64_t bytes, int64_t most) {
  DRIFTLESS_REQUIRE(most == 0 || bytes <= most, ErrorCode::InvalidArgument, what,
                    "; the model has ", bytes, " bytes, expected at most ", most,
                    "; a narrower model or, for memory, a smaller --tile needs less");
}

CArena arena_of(const CModel& model, const Workspace& kernels) {
  return {.bytes = arena_bytes(model, kernels), .least = least_bytes(model, kernels)};
}

/// The self-test's board, as the exported code has it.
std::vector<uint8_t> test_board(const model::ModelConfig& config) {
  std::vector<uint8_t> tokens;
  for (int64_t i = 0; i < config.seq_len; ++i)
    tokens.push_back(static_cast<uint8_t>((7 * i + 3) % config.vocab_size));
  return tokens;
}

uint64_t self_test_hash(reason::Reasoner& reasoner) {
  const std::vector<uint8_t> tokens = test_board(reasoner.config());
  reasoner.reset(0, {.tokens = tokens});
  const int64_t slot = 0;
  reasoner.step({&slot, 1});
  const reason::States states = reasoner.states(0);
  const reason::Readout readout = reasoner.read(0);
  const std::array<float, 2> halt = {readout.halt_logit, readout.continue_logit};
  return state_hash(states.h, states.l, halt);
}

std::string source_text(const CModel& model, const store::PackedModel& packed,
                        const COptions& options) {
  const std::string data = model_data(model, packed);
  std::string text = mixer_macros(model) + replaced(without_includes(c_parts()), "/*@section@*/",
                                                    section_text(options.section));
  if (model.has_attention()) text += rope_data(model) + without_includes(c_attention());
  return text + data + without_includes(c_recursion());
}

}  // namespace

uint64_t state_hash(std::span<const float> h, std::span<const float> l,
                    std::span<const float> halt) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const auto values : {h, l, halt})
    for (const float value : values)
      for (int byte = 0; byte < 32; byte += 8)
        hash = (hash ^ (std::bit_cast<uint32_t>(value) >> byte & 0xff)) * 0x100000001b3;
  return hash;
}

CExport export_c(const store::PackedModel& packed, const COptions& options) {
  require_identifier(options.name);
  require_section(options.section);
  DRIFTLESS_REQUIRE(options.tile >= 1 && options.tile <= kMostTile, ErrorCode::InvalidArgument,
                    "tile; got ", options.tile, ", expected 1 to ", kMostTile);
  const auto chosen = chosen_kernels(options);
  const auto reasoner = native::make_native_reasoner(packed, {.slots = 1});  // refuses by layer
  const CModel model = c_model_of(packed, options.tile);
  CExport out{.files = {},
              .weight_bytes = 0,
              .table_bytes = table_bytes(model, packed),
              .plain_c = arena_of(model, kPlainC),
              .dsp = arena_of(model, kDsp),
              .vector = arena_of(model, kVector),
              .multiply_adds = multiply_adds(model)};
  for (const CLinear* layer : model.layers()) out.weight_bytes += layer->bytes();
  require_fits("constants", out.flash_bytes(), options.most_flash);
  require_fits("arena with kernels in plain C", out.plain_c.bytes, options.most_ram);
  for (const Kernels* kernels : chosen)
    require_fits(("arena with kernels '" + std::string(kernels->name) + "'").c_str(),
                 (out.*kernels->arena).bytes, options.most_ram);
  out.hash = self_test_hash(*reasoner);
  const std::string header = replaced(
      replaced(replaced(std::string(c_header()), "/*@sizes@*/", size_macros(model, out.hash)),
               "/*@kernels@*/", choice_text(chosen)),
      "/*@arena@*/", arena_text(model));
  out.files.push_back({options.name + ".h", named(header, options.name)});
  out.files.push_back(
      {options.name + ".c", named(source_text(model, packed, options), options.name)});
  for (const Kernels* kernels : chosen)
    out.files.push_back({options.name + "_kernels_" + std::string(kernels->name) + ".c",
                         named(std::string(kernels->text()), options.name)});
  return out;
}

}  // namespace driftless::exporter
