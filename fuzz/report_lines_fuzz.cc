// SPDX-License-Identifier: Apache-2.0
// Results from anywhere: every line is used or remembered as skipped, and the page's data cannot
// end its script element.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "driftless/base/error.h"
#include "driftless/report/page.h"
#include "driftless/study/record/bench_record.h"
#include "driftless/study/record/qat_record.h"
#include "driftless/study/record/record.h"
#include "driftless/study/record/trace.h"

namespace {

using namespace driftless;

report::Check check_with(void (*require)(const study::Json&, std::string_view)) {
  return [require](const report::Json& line, std::string_view where) {
    require(study::Json(line), where);
  };
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const report::Checks checks{.record = check_with(study::require_record),
                              .qat = check_with(study::require_qat_record),
                              .bench = check_with(study::require_bench_record),
                              .trace = check_with(study::require_trace)};
  report::Results results;
  report::add_text({reinterpret_cast<const char*>(data), size}, "fuzz", checks, results);
  const std::string script =
      report::escape_script_json(report::page_data(results, {.title = "t", .version = "0"}).dump());
  if (script.find('<') != script.npos) std::abort();
  return 0;
}
