// SPDX-License-Identifier: Apache-2.0
#include "driftless/base/isa.h"

#include <algorithm>
#include <cstdlib>

#include "driftless/base/error.h"
#include "driftless/base/text/text.h"

namespace driftless {
namespace {

const Isa* find(std::string_view name) noexcept {
  const auto all = isas();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Isa& isa) { return isa.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

bool is_part_of(std::string_view isa, std::string_view other) noexcept {
  for (const Isa* at = find(other); at != nullptr; at = find(at->builds_on))
    if (at->name == isa) return true;
  return false;
}

bool can_run(std::string_view isa) noexcept {
  const Isa* at = find(isa);
  if (at == nullptr) return false;
  for (; at != nullptr; at = find(at->builds_on))
    if (!at->has_it()) return false;
  return true;
}

std::string_view wanted_isa() noexcept {
  const char* const wanted = std::getenv("DRIFTLESS_ISA");
  return wanted == nullptr ? std::string_view() : std::string_view(wanted);
}

std::string_view isa_limit() {
  const std::string_view wanted = wanted_isa();
  if (wanted.empty()) return {};
  std::vector<std::string_view> names;
  for (const Isa& isa : isas()) {
    if (!can_run(isa.name)) continue;
    if (isa.name == wanted) return isa.name;
    names.push_back(isa.name);
  }
  fail(ErrorCode::InvalidArgument, "DRIFTLESS_ISA: no such instruction set here; got '", wanted,
       "', expected one of ", join(names, ", "));
}

bool is_allowed(std::string_view isa) {
  const std::string_view limit = isa_limit();
  return limit.empty() || is_part_of(isa, limit);
}

}  // namespace driftless
