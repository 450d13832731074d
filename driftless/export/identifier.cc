// SPDX-License-Identifier: Apache-2.0
#include "driftless/export/identifier.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "driftless/base/error.h"
#include "driftless/export/assets.h"

namespace driftless::exporter {
namespace {

constexpr size_t kLongest = 31;  // what C99 promises to tell apart outside a file

constexpr std::array<std::string_view, 44> kReserved = {
    "auto",    "break",    "case",     "char",   "const",    "continue", "default", "do",
    "double",  "else",     "enum",     "extern", "float",    "for",      "goto",    "if",
    "inline",  "int",      "long",     "main",   "register", "restrict", "return",  "short",
    "signed",  "sizeof",   "static",   "struct", "switch",   "typedef",  "union",   "unsigned",
    "void",    "volatile", "while",    "asm",    "class",    "new",      "delete",  "namespace",
    "private", "public",   "template", "this"};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Whether `text` has the identifier by itself.
bool has_word(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end])))
      return true;
  }
  return false;
}

bool is_taken(std::string_view name) {
  if (name == "reasoner") return false;  // what stands for the name
  const auto texts = {c_header(),      c_parts(),       c_attention(),    c_recursion(),
                      c_kernels_dsp(), c_kernels_mve(), c_kernels_riscv()};
  return std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end() ||
         std::any_of(texts.begin(), texts.end(), [&](auto text) { return has_word(text, name); });
}

}  // namespace

std::string identifier_of(std::string_view file_name) {
  std::string name(file_name.substr(0, file_name.find('.')));
  for (char& c : name)
    if (!is_word(c)) c = '_';
  return name;
}

void require_identifier(const std::string& name) {
  const bool is_identifier = !name.empty() && name.size() <= kLongest &&
                             std::isalpha(static_cast<unsigned char>(name[0])) != 0 &&
                             std::all_of(name.begin(), name.end(), is_word);
  DRIFTLESS_REQUIRE(is_identifier, ErrorCode::InvalidArgument, "name of the model in C; got '",
                    name, "', expected a letter and up to ", kLongest - 1,
                    " letters, digits or underscores; choose one with --name");
  DRIFTLESS_REQUIRE(!is_taken(name), ErrorCode::InvalidArgument, "name of the model in C; got '",
                    name, "', a word of C or of the exported code; choose another with --name");
}

}  // namespace driftless::exporter
