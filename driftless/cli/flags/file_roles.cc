// SPDX-License-Identifier: Apache-2.0
#include "driftless/cli/flags/file_roles.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include <sys/stat.h>
#include <unistd.h>

#include "driftless/base/error.h"
#include "driftless/base/files/file.h"

namespace driftless::cli {
namespace {

using Path = std::filesystem::path;

/// What a path names, behind all links.
struct Place {
  std::string name;  // of the argument
  FileRole role;
  Path path;                          // as given
  std::optional<struct stat> status;  // none: nothing there yet
  Path target;                        // where a new file appears
};

std::optional<struct stat> status_of(const Path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return status;
}

Place place_of(const FileArgument& argument, const Path& path) {
  Place place{argument.name, argument.role, path, status_of(path), {}};
  if (place.status) return place;
  std::error_code error;
  place.target = std::filesystem::absolute(follow_links(path));
  Path canonical = std::filesystem::weakly_canonical(place.target, error);
  if (!error) place.target = std::move(canonical);
  return place;
}

bool is_file(const Place& place) { return place.status && S_ISREG(place.status->st_mode); }
bool is_folder(const Place& place) { return place.status && S_ISDIR(place.status->st_mode); }

bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// Whether both are one file, which one of them would destroy.
bool is_same(const Place& a, const Place& b) {
  if (!a.status && !b.status) return a.target == b.target;
  return is_file(a) && is_file(b) && is_same(*a.status, *b.status);
}

/// Whether the file is one of the folder or of its folders; readers of boards go no deeper.
bool holds(const Place& folder, const Place& file) {
  if (!is_folder(folder) || !is_file(file)) return false;
  using Walk = std::filesystem::recursive_directory_iterator;
  using Options = std::filesystem::directory_options;
  std::error_code error;
  for (Walk entry(folder.path, Options::follow_directory_symlink | Options::skip_permission_denied,
                  error);
       !error && entry != Walk(); entry.increment(error)) {
    const auto found = status_of(entry->path());
    if (found && is_same(*found, *file.status)) return true;
    if (entry.depth() > 0) entry.disable_recursion_pending();
  }
  return false;
}

void require_writable(const Place& place) {
  DRIFTLESS_REQUIRE(!is_folder(place), ErrorCode::Io, place.path.string(),
                    ": cannot write there; got a folder, expected the name of a file");
  if (place.status) {
    DRIFTLESS_REQUIRE(::access(place.path.c_str(), W_OK) == 0, ErrorCode::Io, place.path.string(),
                      ": cannot write there; got ", std::strerror(errno));
    if (!is_file(place)) return;
  }
  const Path parent = follow_links(place.path).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  DRIFTLESS_REQUIRE(::access(folder.c_str(), W_OK | X_OK) == 0, ErrorCode::Io, place.path.string(),
                    ": cannot write there; folder ", folder, ": ", std::strerror(errno));
}

void require_apart(const Place& output, const Place& other) {
  const bool is_input = other.role == FileRole::Input;
  if (is_input && !other.status) return;  // nothing there to destroy
  if (!(is_same(output, other) || (is_input && holds(other, output)))) return;
  fail(ErrorCode::InvalidArgument, output.name, ": ", other.name,
       is_input ? " reads that file" : " writes that file too", "; got ", output.path.string(),
       ", expected another name");
}

/// What readers look for beside a file: a training configuration, the names of a puzzle table, and
/// the solutions of ARC's challenges. Verbs that fill a folder look for none of them.
std::vector<Path> companions_of(const Path& path) {
  const Path folder = path.parent_path();
  std::vector<Path> beside = {folder / "all_config.yaml", folder / "identifiers.json"};
  std::string name = path.filename().string();
  const std::string ending = "_challenges.json";
  if (name.ends_with(ending)) {
    name.replace(name.size() - ending.size(), ending.size(), "_solutions.json");
    beside.push_back(folder / name);
  }
  return beside;
}

std::vector<Place> places_of(std::span<const FileArgument> arguments) {
  const bool fills_folder =
      std::any_of(arguments.begin(), arguments.end(),
                  [](const FileArgument& argument) { return argument.role == FileRole::Part; });
  std::vector<Place> places;
  for (const FileArgument& argument : arguments)
    for (const Path& path : argument.paths()) {
      if (path.empty() || path == "-") continue;
      places.push_back(place_of(argument, path));
      if (argument.role != FileRole::Input || fills_folder) continue;
      for (const Path& beside : companions_of(path)) places.push_back(place_of(argument, beside));
    }
  return places;
}

}  // namespace

void require_separate(std::span<const FileArgument> arguments) {
  std::vector<Place> places = places_of(arguments);
  struct stat printed {};
  if (::fstat(STDOUT_FILENO, &printed) == 0)
    places.push_back({"standard output", FileRole::Part, "-", printed, {}});
  for (size_t i = 0; i < places.size(); ++i) {
    const Place& place = places[i];
    if (place.role == FileRole::Input || place.path == "-") continue;
    for (size_t j = 0; j < places.size(); ++j)
      if (j > i || places[j].role == FileRole::Input) require_apart(place, places[j]);
  }
  for (const Place& place : places)
    if (place.role == FileRole::Output) require_writable(place);
}

}  // namespace driftless::cli
