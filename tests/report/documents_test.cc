// SPDX-License-Identifier: Apache-2.0
// Every Markdown page of the project: its links lead to files and headings that exist, its prose
// has lines of at most 120 characters, its tables have at most six columns, and words are spelled
// the American way. A page of results opens with its finding and a figure; under every figure
// stands the command that makes it.
#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/testing/run_program.h"

namespace driftless {
namespace {

namespace fs = std::filesystem;
using testing::text_of;

std::vector<fs::path> pages() {
  std::vector<fs::path> found;
  for (const char* folder : {".", "docs", "docs/results", "models"})
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".md") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

/// The lines outside of code, with their numbers from 1.
std::vector<std::pair<int, std::string>> lines_of(const fs::path& page) {
  std::istringstream text(text_of(page));
  std::vector<std::pair<int, std::string>> lines;
  bool in_code = false;
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    const size_t start = line.find_first_not_of(' ');
    const bool is_fence = start != std::string::npos && line.compare(start, 3, "```") == 0;
    if (is_fence) in_code = !in_code;
    if (!is_fence && !in_code) lines.emplace_back(number, line);
  }
  return lines;
}

/// The anchor that a heading gets: letters and digits in lower case, spaces as dashes.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '_' || byte >= 0x80)
      anchor += static_cast<char>(std::tolower(byte));
    else if (c == ' ')
      anchor += '-';
  }
  return anchor;
}

std::set<std::string> anchors_of(const fs::path& page) {
  std::set<std::string> anchors;
  for (const auto& [number, line] : lines_of(page))
    if (line.starts_with("#")) anchors.insert(anchor_of(line.substr(line.find_first_not_of("# "))));
  return anchors;
}

int64_t characters(const std::string& line) {
  return std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;  // not inside a UTF-8 sequence
  });
}

/// What the links and pictures of a text lead to: TARGET of every "](TARGET)", src="TARGET" and
/// srcset="TARGET".
std::vector<std::string> targets_of(const std::string& text) {
  std::vector<std::string> targets;
  for (size_t at = 0; (at = text.find("](", at)) != std::string::npos;) {
    at += 2;
    const std::string target = text.substr(at, text.find(')', at) - at);
    if (target.find(' ') == std::string::npos) targets.push_back(target);
  }
  for (const std::string mark : {" src=\"", " srcset=\""})
    for (size_t at = 0; (at = text.find(mark, at)) != std::string::npos;) {
      at += mark.size();
      targets.push_back(text.substr(at, text.find('"', at) - at));
    }
  return targets;
}

TEST(Documents, LinksLeadSomewhere) {
  int64_t checked = 0;
  for (const fs::path& page : pages()) {
    std::string text;  // links may be broken over lines
    for (const auto& [number, line] : lines_of(page)) text += line + " ";
    for (const std::string& target : targets_of(text)) {
      if (target.starts_with("http")) continue;
      const size_t hash = target.find('#');
      const fs::path file =
          hash == 0 ? page : page.parent_path() / fs::path(target.substr(0, hash));
      ASSERT_TRUE(fs::exists(file)) << page << ": no file '" << target << "'";
      const bool has_place =
          hash == std::string::npos || anchors_of(file).contains(target.substr(hash + 1));
      EXPECT_TRUE(has_place) << page << ": no heading '" << target << "'";
      ++checked;
    }
  }
  EXPECT_GT(checked, 50);
}

TEST(Documents, ProseHasLinesOfAtMost120Characters) {
  for (const fs::path& page : pages())
    for (const auto& [number, line] : lines_of(page)) {
      const bool is_prose = line.find('|') == std::string::npos &&
                            line.find("http") == std::string::npos && !line.starts_with("<") &&
                            !line.starts_with("![");
      EXPECT_LE(is_prose ? characters(line) : 0, 120) << page << ":" << number;
    }
}

TEST(Documents, TablesHaveAtMostSixColumns) {
  for (const fs::path& page : pages())
    for (const auto& [number, line] : lines_of(page)) {
      const bool is_rule = line.starts_with("|--");
      EXPECT_LE(is_rule ? std::count(line.begin(), line.end(), '|') : 0, 7)
          << page << ":" << number;
    }
}

/// What stands between empty lines.
std::vector<std::string> paragraphs_of(const fs::path& page) {
  std::vector<std::string> paragraphs(1);
  for (const auto& [number, line] : lines_of(page)) {
    if (line.empty() && !paragraphs.back().empty()) paragraphs.emplace_back();
    if (!line.empty()) paragraphs.back() += line + " ";
  }
  return paragraphs;
}

/// Full stops, question and exclamation marks before a capital letter or the end.
int64_t sentences(const std::string& text) {
  int64_t count = 0;
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    const bool is_end = std::string_view(".?!").find(text[i]) != std::string_view::npos;
    const size_t next = text.find_first_not_of(' ', i + 1);
    const bool starts =
        next == std::string::npos || std::isupper(static_cast<unsigned char>(text[next])) != 0;
    count += is_end && text[i + 1] == ' ' && starts ? 1 : 0;
  }
  return count;
}

TEST(Documents, ResultsOpenWithTheirFindingAndAFigure) {
  int64_t checked = 0;
  for (const fs::path& page : pages()) {
    if (page.parent_path() != "docs/results") continue;
    const std::vector<std::string> paragraphs = paragraphs_of(page);
    ASSERT_GE(paragraphs.size(), 4u) << page;
    EXPECT_TRUE(paragraphs[0].starts_with("# ")) << page;
    EXPECT_LE(sentences(paragraphs[1]), 3) << page << ": the finding";
    EXPECT_GE(sentences(paragraphs[1]), 1) << page << ": the finding";
    EXPECT_TRUE(paragraphs[2].starts_with("![")) << page << ": a figure behind the finding";
    EXPECT_TRUE(paragraphs[3].starts_with("*")) << page << ": the figure's command under it";
    ++checked;
  }
  EXPECT_GE(checked, 16);
}

/// Words with one space between them.
std::string unwrapped(const std::string& text) {
  std::istringstream words(text);
  std::string joined;
  for (std::string word; words >> word;) joined += (joined.empty() ? "" : " ") + word;
  return joined;
}

/// The commands of docs/figures/commands.sh, which another test reruns, by the file they make.
std::map<std::string, std::string> figure_commands() {
  std::map<std::string, std::string> commands;
  std::istringstream lines(text_of("docs/figures/commands.sh"));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("driftless "))
      commands[fs::path(line.substr(line.rfind(' ') + 1)).filename().string()] = line;
  return commands;
}

TEST(Documents, EveryFigureHasItsCommandUnderItAndAPage) {
  const std::map<std::string, std::string> commands = figure_commands();
  std::set<std::string> shown;
  for (const fs::path& page : pages()) {
    const std::vector<std::string> paragraphs = paragraphs_of(page);
    for (size_t i = 0; i + 1 < paragraphs.size(); ++i) {
      if (!paragraphs[i].starts_with("![")) continue;
      for (const std::string& target : targets_of(paragraphs[i])) {
        const std::string figure = fs::path(target).filename().string();
        if (!figure.ends_with(".svg")) continue;
        ASSERT_TRUE(commands.contains(figure)) << page << ": " << figure;
        EXPECT_TRUE(unwrapped(paragraphs[i + 1]).ends_with("`" + commands.at(figure) + "`*"))
            << page << ": " << figure << " without its command: " << paragraphs[i + 1];
        shown.insert(figure);
      }
    }
  }
  for (const auto& [figure, command] : commands)
    EXPECT_TRUE(shown.contains(figure)) << figure << " stands on no page";
}

TEST(Documents, WordsAreSpelledTheAmericanWay) {
  constexpr std::array<std::string_view, 14> kElsewhere = {
      "colour",   "behaviour", "neighbour", "favour",   "licence",   "optimis",   "quantis",
      "normalis", "initialis", "centre ",   "labelled", "modelling", "catalogue", "analyse "};
  for (const fs::path& page : pages())
    for (const auto& [number, line] : lines_of(page)) {
      std::string lower = line;
      std::transform(lower.begin(), lower.end(), lower.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      for (const std::string_view word : kElsewhere)
        EXPECT_EQ(lower.find(word), std::string::npos) << page << ":" << number << ": " << word;
    }
}

}  // namespace
}  // namespace driftless
