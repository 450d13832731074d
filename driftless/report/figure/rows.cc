// SPDX-License-Identifier: Apache-2.0
#include "driftless/report/figure/rows.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "driftless/report/figure/scale.h"
#include "driftless/report/figure/svg.h"

namespace driftless::report {
namespace {

struct VariationText {
  Variation variation;
  std::string_view name;
  std::string_view place;  ///< in the configuration
};

constexpr std::array<VariationText, 12> kVariations = {
    {{Variation::Coverage, "coverage", "/coverage"},
     {Variation::Bias, "bias", "/bias"},
     {Variation::Scales, "scales per", "/scales"},
     {Variation::Smooth, "smooth", "/smooth"},
     {Variation::Hadamard, "hadamard", "/hadamard"},
     {Variation::Delta, "delta", "/delta"},
     {Variation::HCycles, "H cycles", "/h_cycles"},
     {Variation::LCycles, "L cycles", "/l_cycles"},
     {Variation::Steps, "steps", "/steps"},
     {Variation::CalibrationBoards, "calibration boards", "/calibration/boards"},
     {Variation::Rollouts, "rollouts", "/rollouts/count"},
     {Variation::Noise, "noise", "/rollouts/noise"}}};

Json value_at(const Json& config, std::string_view place) {
  const Json::json_pointer pointer{std::string(place)};
  return config.contains(pointer) ? config.at(pointer) : Json();
}

void erase_word(std::string& text, std::string_view word) {
  const size_t at = text.find(word);
  if (at != std::string::npos) text.erase(at, word.size());
}

/// Whether one word names both sides: int4 and int4/tensor/static.
bool is_same_format(std::string weights, std::string acts) {
  for (std::string* side : {&weights, &acts})
    for (const std::string_view word : {"/static", "/dynamic", "/tensor"}) erase_word(*side, word);
  return weights == acts;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string key_of(const Json& record, Split split) {
  return record.at("checkpoint").dump() + record.at("data").dump() + record.at("n").dump() +
         (split == Split::ByStudy ? record.at("study").dump() : "");
}

}  // namespace

std::vector<Group> groups_of(const Results& results, std::span<const std::string_view> studies,
                             Split split) {
  std::vector<Group> groups;
  for (const Json& record : results.records) {
    const std::string study = record.at("study");
    if (!studies.empty() && std::find(studies.begin(), studies.end(), study) == studies.end())
      continue;
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return key_of(*group.front(), split) == key_of(record, split);
    });
    if (same == groups.end())
      groups.push_back({&record});
    else
      same->push_back(&record);
  }
  for (Group& group : groups)
    std::stable_sort(group.begin(), group.end(), [](const Json* a, const Json* b) {
      return std::pair(a->at("study").get<std::string>(), a->at("row").get<int64_t>()) <
             std::pair(b->at("study").get<std::string>(), b->at("row").get<int64_t>());
    });
  return groups;
}

std::string scheme_name(const Json& config) {
  const std::string weights = config.at("weights");
  std::string acts = config.at("acts");
  if (weights == "none" && acts == "none") return "float";
  if (weights == acts || is_same_format(weights, acts)) return acts;
  if (acts == "none") return weights + " weights alone";
  if (weights == "none") return acts + " activations alone";
  return weights + " weights, " + acts + " activations";
}

std::string scheme_word(const Json& config) {
  const std::string weights = config.at("weights");
  const std::string acts = config.at("acts");
  return is_same_format(weights, acts) ? acts : weights + ":" + acts;
}

std::string row_name(const Json& record, const Group& group, std::span<const Variation> without) {
  const Json& config = record.at("config");
  std::string name = scheme_name(config);
  for (const VariationText& text : kVariations) {
    if (std::find(without.begin(), without.end(), text.variation) != without.end()) continue;
    std::set<std::string> values;
    for (const Json* other : group)
      if (scheme_name(other->at("config")) == scheme_name(config))
        values.insert(value_at(other->at("config"), text.place).dump());
    const Json value = value_at(config, text.place);
    if (values.size() < 2 || value.is_null() || value == false) continue;
    name += ", " + std::string(text.name) + (value == true ? "" : " " + text_of(value));
  }
  return name;
}

bool is_float(const Json& record) { return record.at("execution") == "float"; }

Estimate estimate(const Json& share) {
  const auto number = [&](std::string_view key) {
    return share.contains(key) && share.at(key).is_number() ? share.at(key).get<double>() : kNoEnd;
  };
  return {number(share.contains("share") ? "share" : "mean"), number("low"), number("high")};
}

std::string verdict_text(const Json& record) {
  const Json& verdict = record.at("verdict");
  if (is_float(record) || !verdict.is_object()) return "";
  return verdict.at("latent");
}

Tone verdict_tone(const Json& record) {
  const std::string verdict = verdict_text(record);
  if (verdict.empty()) return Tone::Ink;
  return verdict == "contracts" ? Tone::Blue : Tone::Orange;
}

std::string model_name(std::string_view file) {
  return std::filesystem::path(file).stem().string();
}

std::string group_name(const Group& group) {
  const Json& first = *group.front();
  return model_name(first.at("checkpoint").at("file").get<std::string>()) + ", " +
         grouped(first.at("n").get<int64_t>()) + " boards";
}

}  // namespace driftless::report
