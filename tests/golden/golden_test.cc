// SPDX-License-Identifier: Apache-2.0
// Commands keep the bytes of what they write: predictions, packed models, records. commands.txt has
// the commands, expected.txt a hash of each one's files. Numbers that changed on purpose are
// recorded anew by
//   DRIFTLESS_GOLDEN_UPDATE=1 build/release/tests/golden_tests
// and a machine that expected.txt does not know is added with a program built from the commit it
// names:
//   DRIFTLESS_GOLDEN_UPDATE=1 DRIFTLESS_GOLDEN_PROGRAM=.../bin/driftless
//   build/release/tests/golden_tests
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftless/base/files/file.h"
#include "driftless/base/sha256.h"

#include "tests/testing/run_program.h"

namespace driftless {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using testing::text_of;

const fs::path kFolder = DRIFTLESS_SOURCE "/tests/golden";
const std::string kEverywhere = "everywhere";

struct Command {
  std::string name;
  std::string where;
  std::string line;
};

void PrintTo(const Command& command, std::ostream* out) { *out << command.line; }

std::string environment(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

std::vector<Command> read_commands() {
  std::vector<Command> commands;
  std::ifstream file(kFolder / "commands.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    const size_t first = line.find(": ");
    const size_t second = line.find(": ", first + 2);
    commands.push_back({line.substr(0, first), line.substr(first + 2, second - first - 2),
                        line.substr(second + 2)});
  }
  return commands;
}

std::string sha256_of_text(const std::string& text) {
  return sha256_hex(std::as_bytes(std::span(text)));
}

/// What float results depend on: the processor's vector units, by which oneDNN chooses its kernels,
/// and the libraries' versions.
std::string machine() {
  std::string text = DRIFTLESS_LIBRARIES;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const bool names_it = line.starts_with("vendor_id") || line.starts_with("model name");
    if (names_it) text += ", " + line.substr(std::min(line.size(), line.find(": ") + 2));
    if (!line.starts_with("flags")) continue;
    std::istringstream flags(line);
    for (std::string flag; flags >> flag;)
      if (flag.find("avx") != flag.npos || flag.find("amx") != flag.npos || flag == "fma")
        text += " " + flag;
    break;  // The first processor speaks for all.
  }
  return text;
}

/// expected.txt: one "name where hash" a line; where a machine's key stands, a comment tells it.
class Expected {
 public:
  using Place = std::pair<std::string, std::string>;  // where, name

  Expected() {
    std::ifstream file(kFolder / "expected.txt");
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("# machine "))
        machines_[line.substr(10, 8)] = line.substr(20);
      else if (line.starts_with("#"))
        opening_ += line + "\n";
      std::istringstream words(line);
      std::string name, where, hash;
      if (!line.starts_with("#") && words >> name >> where >> hash) hashes_[{where, name}] = hash;
    }
  }

  /// The key under which a command's hash lies on this machine.
  static std::string key(const Command& command) {
    return command.where == kEverywhere ? kEverywhere : sha256_of_text(machine()).substr(0, 8);
  }
  const std::string* find(const Command& command) const {
    const auto found = hashes_.find({key(command), command.name});
    return found == hashes_.end() ? nullptr : &found->second;
  }
  void record(const Command& command, const std::string& hash) {
    hashes_[{key(command), command.name}] = hash;
    if (command.where != kEverywhere) machines_[key(command)] = machine();
    write();
  }

 private:
  void write() const {
    std::string text = opening_;
    for (const auto& [name, words] : machines_)
      text.append("# machine ").append(name).append(": ").append(words).append("\n");
    for (const auto& [place, hash] : hashes_)
      text.append(place.second + " ").append(place.first + " ").append(hash).append("\n");
    write_file_atomic(kFolder / "expected.txt", text);
  }

  std::string opening_;
  std::map<Place, std::string> hashes_;
  std::map<std::string, std::string> machines_;
};

/// Without what may differ from run to run or from version to version: times, versions, the echo of
/// what was asked for.
Json measured(Json record) {
  if (!record.is_object()) return record;
  for (const char* key : {"version", "commit", "timing", "machine", "command", "config", "schema"})
    record.erase(key);
  return record;
}

std::string comparable(const fs::path& path) {
  const std::string text = text_of(path);
  if (path.extension() == ".json") return measured(Json::parse(text)).dump();
  if (path.extension() != ".jsonl") return text;
  std::istringstream lines(text);
  std::string all;
  for (std::string line; std::getline(lines, line);)
    all += measured(Json::parse(line)).dump() + "\n";
  return all;
}

/// Names for the rows of Mini-ARC's puzzle table: the made-up tasks of arc.json and some variants.
std::string identifiers() {
  constexpr size_t kRows = 9453;
  Json names = {"<blank>", "made-1", "made-2"};
  for (const char* task : {"made-1", "made-2"})
    for (const char* change : {"|||t1|||0213456789", "|||t4|||0123456798", "|||t6|||0987654321"})
      names.push_back(std::string(task) + change);
  while (names.size() < kRows) names.push_back("unused-" + std::to_string(names.size()));
  return names.dump();
}

/// Hash of all files that the command leaves in its folder, by name.
std::string run(const Command& command) {
  const testing::TempDir dir;
  fs::create_symlink(DRIFTLESS_SOURCE "/models", dir.path() / "models");
  fs::create_symlink(kFolder, dir.path() / "golden");
  write_file_atomic(dir.path() / "identifiers.json", identifiers());
  const fs::path program = environment("DRIFTLESS_GOLDEN_PROGRAM", DRIFTLESS_PROGRAM);
  const testing::Outcome outcome =
      testing::run_program("cd " + dir.path().string() + " && driftless() { " + program.string() +
                           " \"$@\"; } && (" + command.line + ")");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(dir.path()))
    if (entry.is_regular_file() && entry.path().extension() != ".html" &&
        entry.path().filename() != "identifiers.json")
      files[entry.path().filename()] = comparable(entry.path());
  EXPECT_FALSE(files.empty());
  std::string all;
  for (const auto& [name, text] : files) all.append(name).append("\n").append(text);
  return sha256_of_text(all);
}

class Golden : public ::testing::TestWithParam<Command> {};

TEST_P(Golden, CommandKeepsItsBytes) {
  const bool updates = !environment("DRIFTLESS_GOLDEN_UPDATE", "").empty();
  Expected expected;
  const std::string* hash = expected.find(GetParam());
  if (hash == nullptr && !updates)
    GTEST_SKIP() << "expected.txt has no float results of this machine: " << machine();
  const std::string found = run(GetParam());
  if (HasFailure()) return;
  if (updates)
    expected.record(GetParam(), found);
  else
    EXPECT_EQ(found, *hash) << "the files of this command have changed: " << GetParam().line;
}

INSTANTIATE_TEST_SUITE_P(Commands, Golden, ::testing::ValuesIn(read_commands()),
                         [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace driftless
