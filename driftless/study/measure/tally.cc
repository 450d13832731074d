// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/measure/tally.h"

#include <nlohmann/json.hpp>

#include "driftless/base/error.h"

namespace driftless::study {
namespace {

/// The entry called `name`, made where it is missing.
template <class Map>
auto& entry(Map& map, std::string_view name) {
  const auto found = map.find(name);
  return found != map.end() ? found->second : map[std::string(name)];
}

}  // namespace

void Tally::add(std::string_view name, int64_t index, double value) {
  DRIFTLESS_ASSERT(index >= 0);
  std::vector<Moments>& series = entry(series_, name);
  const auto at = static_cast<size_t>(index);
  if (series.size() <= at) series.resize(at + 1);
  series[at].add(value);
}

void Tally::add_vector(std::string_view name, std::span<const double> values) {
  std::vector<double>& sum = entry(vectors_, name);
  if (sum.empty()) sum.resize(values.size());
  DRIFTLESS_ASSERT(sum.size() == values.size());
  for (size_t i = 0; i < values.size(); ++i) sum[i] += values[i];
}

bool Tally::has(std::string_view name) const { return series_.find(name) != series_.end(); }

std::span<const Moments> Tally::series(std::string_view name) const {
  const auto found = series_.find(name);
  return found == series_.end() ? std::span<const Moments>() : found->second;
}

std::span<const double> Tally::vector(std::string_view name) const {
  const auto found = vectors_.find(name);
  return found == vectors_.end() ? std::span<const double>() : found->second;
}

std::vector<std::string_view> Tally::names() const {
  std::vector<std::string_view> names;
  names.reserve(series_.size());
  for (const auto& [name, series] : series_) names.push_back(name);
  return names;
}

void Tally::merge(const Tally& other) {
  for (const auto& [name, series] : other.series_) {
    std::vector<Moments>& mine = entry(series_, name);
    if (mine.size() < series.size()) mine.resize(series.size());
    for (size_t i = 0; i < series.size(); ++i) mine[i].merge(series[i]);
  }
  for (const auto& [name, values] : other.vectors_) add_vector(name, values);
}

std::vector<uint8_t> Tally::to_bytes() const {
  nlohmann::json series = nlohmann::json::object();
  for (const auto& [name, moments] : series_)
    for (const Moments& m : moments) series[name].push_back({m.n, m.sum, m.squares});
  return nlohmann::json::to_cbor({{"series", series}, {"vectors", vectors_}});
}

Tally Tally::from_bytes(std::span<const uint8_t> bytes) {
  Tally tally;
  try {
    const nlohmann::json packed = nlohmann::json::from_cbor(bytes);
    for (const auto& [name, moments] : packed.at("series").items())
      for (const auto& m : moments)
        tally.series_[name].push_back({.n = m.at(0), .sum = m.at(1), .squares = m.at(2)});
    packed.at("vectors").get_to(tally.vectors_);
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorCode::BadFile, "tally: the bytes are not those of a tally; ", error.what());
  }
  return tally;
}

}  // namespace driftless::study
