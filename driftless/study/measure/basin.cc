// SPDX-License-Identifier: Apache-2.0
#include "driftless/study/measure/basin.h"

#include "driftless/base/error.h"
#include "driftless/study/measure/metrics.h"
#include "driftless/study/measure/principal_plane.h"
#include "driftless/study/record/rounded.h"

namespace driftless::study {
namespace {

std::vector<float> flat(const reason::States& states) {
  std::vector<float> both(states.h.begin(), states.h.end());
  both.insert(both.end(), states.l.begin(), states.l.end());
  return both;
}

}  // namespace

void Basin::start(size_t scheme, const reason::States& states) {
  paths_[scheme].emplace_back().before = flat(states);
}

void Basin::add(size_t scheme, size_t board, const reason::States& states) {
  Path& path = paths_[scheme][board];
  std::vector<float> now = flat(states);
  path.residual.push_back(rounded(distance(now, path.before)));
  path.before = std::move(now);
  path.latent.emplace_back(states.l.begin(), states.l.end());
}

void Basin::finish(size_t board, std::span<const float> attractor) {
  for (std::vector<Path>& paths : paths_)
    for (std::vector<float>& point : paths[board].latent)
      for (size_t i = 0; i < point.size(); ++i) point[i] -= attractor[i];
}

Json Basin::json() const {
  std::vector<std::vector<float>> points;
  for (const std::vector<Path>& paths : paths_)
    for (const Path& path : paths)
      points.insert(points.end(), path.latent.begin(), path.latent.end());
  const PrincipalPlane plane = principal_plane(points);
  const auto path_json = [&](const Path& path) {
    Json x = Json::array();
    Json y = Json::array();
    for (const std::vector<float>& point : path.latent) {
      const auto [along, across] = plane.project(point);
      x.push_back(rounded(along));
      y.push_back(rounded(across));
    }
    return Json{{"x", x}, {"y", y}, {"residual", path.residual}};
  };
  Json runs = Json::array();
  for (const std::vector<Path>& paths : paths_) {
    runs.push_back(Json::array());
    for (const Path& path : paths) runs.back().push_back(path_json(path));
  }
  return {{"share", {rounded(plane.share[0]), rounded(plane.share[1])}}, {"runs", runs}};
}

void require_basin(const Json& basin, int64_t steps, size_t schemes, std::string_view where) {
  const auto require = [&](bool is_sound, const char* what) {
    DRIFTLESS_REQUIRE(is_sound, ErrorCode::BadFile, where, ": trace: basin: ", what,
                      "; expected one for each of ", steps, " steps, ", schemes, " schemes");
  };
  require(basin.at("share").size() == 2, "share");
  for (const Json& share : basin.at("share")) static_cast<void>(share.get<double>());
  require(basin.at("runs").size() == schemes, "runs");
  for (const Json& boards : basin.at("runs"))
    for (const Json& path : boards)
      for (const char* const key : {"x", "y", "residual"}) {
        require(std::ssize(path.at(key)) == steps, key);
        for (const Json& value : path.at(key)) static_cast<void>(value.get<double>());
      }
}

}  // namespace driftless::study
