// SPDX-License-Identifier: Apache-2.0
// driftless codec: raw float32 files to codes and back, and the error of a format.
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "driftless/base/error.h"
#include "driftless/base/rng.h"
#include "driftless/cli/command.h"
#include "driftless/cli/terminal/streams.h"
#include "driftless/quant/calibrate/error_stats.h"
#include "driftless/quant/codec.h"

namespace driftless::cli {
namespace {

struct CodecOptions {
  std::string format;
  std::string rule;
  std::string input;
  std::string output;
  int64_t count = -1;
  int64_t gaussian = -1;
  uint64_t seed = 0;
  std::string json;

  [[nodiscard]] std::string spec() const {
    return rule.empty() ? format : format + ",rule=" + rule;
  }
};

std::vector<float> read_floats(const std::string& path) {
  const auto bytes = read_input(path);
  DRIFTLESS_REQUIRE(bytes.size() % sizeof(float) == 0, ErrorCode::BadFile, path, ": size; got ",
                    bytes.size(), " bytes, expected a multiple of 4 (float32)");
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

void encode(const CodecOptions& options) {
  const auto spec = quant::parse_codec_spec(options.spec());
  write_output(options.output, quant::encode_bytes(spec, read_floats(options.input)));
}

void decode(const CodecOptions& options) {
  const auto spec = quant::parse_codec_spec(options.spec());
  auto values = quant::decode_bytes(spec, read_input(options.input));
  if (options.count >= 0) {
    DRIFTLESS_REQUIRE(options.count <= static_cast<int64_t>(values.size()),
                      ErrorCode::InvalidArgument, "--count; got ", options.count,
                      ", expected at most the ", values.size(), " values in ", options.input);
    values.resize(static_cast<size_t>(options.count));
  }
  write_output(options.output, std::as_bytes(std::span<const float>(values)));
}

std::vector<float> error_input(const CodecOptions& options) {
  if (!options.input.empty()) return read_floats(options.input);
  Rng rng(options.seed);
  std::vector<float> values(static_cast<size_t>(options.gaussian));
  for (float& x : values) x = static_cast<float>(rng.gaussian());
  return values;
}

void print_error(const CodecOptions& options) {
  const auto spec = quant::parse_quant_spec(options.spec());
  const auto values = error_input(options);
  const auto stats =
      quant::measure_error(spec, {values.data(), 1, static_cast<int64_t>(values.size())});
  const double clipped = stats.runs == 0 ? 0
                                         : 100 * static_cast<double>(stats.clipped_runs) /
                                               static_cast<double>(stats.runs);
  if (!options.json.empty()) {
    const nlohmann::ordered_json record = {{"quantizer", quant::to_string(spec)},
                                           {"values", stats.values},
                                           {"sqnr_db", stats.sqnr_db},
                                           {"worst_error", stats.worst_error},
                                           {"scales", stats.runs},
                                           {"clipped_percent", clipped}};
    write_output(options.json, record.dump() + "\n");
    if (options.json == kStandardStream) return;
  }
  std::printf(
      "%-28s n %-10lld sqnr %7.2f dB   worst error %-12.6g clipped %6.2f %% of %lld scales\n",
      quant::to_string(spec).c_str(), static_cast<long long>(stats.values), stats.sqnr_db,
      stats.worst_error, clipped, static_cast<long long>(stats.runs));
}

void add_format_flags(const Verb& verb, CodecOptions& options) {
  verb.add_option("--format", options.format, "number format (driftless formats lists them)")
      .required();
  verb.add_option("--rule", options.rule, "shared-exponent rule of an mx format");
}

void add_file_flags(const Verb& verb, CodecOptions& options) {
  verb.add_input("--input", options.input, "file to read, or - for standard input").required();
  const Flag out =
      verb.add_output("--out", options.output, "file to write, or - for standard output")
          .required();
  verb.accepts_old("--output", out);
}

}  // namespace

void add_codec_command(const Verb& verb) {
  auto options = std::make_shared<CodecOptions>();
  verb.requires_verb();
  verb.example("driftless codec error --format int4 --gaussian 1000000 --seed 1");

  const Verb encoding = verb.add_verb("encode", "raw little-endian float32 to codes");
  add_format_flags(encoding, *options);
  add_file_flags(encoding, *options);
  encoding.example(
      "driftless codec encode --format mxint4 --rule mse --input x.f32 "
      "--out x.mxint4");
  encoding.runs([options] { encode(*options); });

  const Verb decoding = verb.add_verb("decode", "codes to raw little-endian float32");
  add_format_flags(decoding, *options);
  add_file_flags(decoding, *options);
  decoding.add_option("--count", options->count, "keep this many values: drops a block's padding")
      .between(0, kNoLimit);
  decoding.example("driftless codec decode --format mxint4 --input x.mxint4 --out y.f32");
  decoding.runs([options] { decode(*options); });

  const Verb error = verb.add_verb(
      "error", "how far a quantizer (int4/group32, ...) takes values from the originals");
  add_format_flags(error, *options);
  const Flag input =
      error.add_input("--input", options->input, "raw little-endian float32 file, or -");
  const Flag gaussian =
      error.add_option("--gaussian", options->gaussian, "number of Gaussian values")
          .between(1, 1 << 30)
          .excludes(input);
  const Flag seed = error.add_option("--seed", options->seed, "seed of the Gaussian values");
  gaussian.needs(seed);
  seed.needs(gaussian);
  error.add_json(options->json, "print or write one JSON object");
  error.example("driftless codec error --format mxfp4 --rule even --gaussian 1000000 --seed 1");
  error.runs([options, input, gaussian] {
    if (!input.is_given() && !gaussian.is_given()) reject("--input or --gaussian", "is required");
    print_error(*options);
  });
}

}  // namespace driftless::cli
