// SPDX-License-Identifier: Apache-2.0
// The driftless program. Exit codes: 0 done, 2 wrong usage, 128 + signal after an interrupt, 10 +
// ErrorCode for everything else.
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <unistd.h>

#include "driftless/base/error.h"
#include "driftless/base/isa.h"
#include "driftless/base/text/one_line.h"
#include "driftless/base/text/text.h"
#include "driftless/cli/command.h"
#include "driftless/cli/flags/json_values.h"
#include "driftless/cli/manual/manual.h"
#include "driftless/cli/terminal/interrupt.h"
#include "driftless/cli/terminal/streams.h"

namespace driftless::cli {
namespace {

constexpr int kUsageExit = 2;
constexpr const char* kAbout =
    "driftless: quantize recursive reasoning models and see whether they still think";

int exit_code(ErrorCode code) { return 10 + static_cast<int>(code); }

struct Entry {
  const char* name;
  const char* summary;
  void (*add)(const Verb& verb);
};

constexpr std::array kVerbs = {
    Entry{"solve", "watch a model refine a board step by step", add_solve_command},
    Entry{"eval", "how many boards of a file a model solves", add_eval_command},
    Entry{"ladder", "what each number format does to a model", add_ladder_command},
    Entry{"study", "run a recipe of quantization experiments", add_study_command},
    Entry{"recommend", "the fewest bits per layer that keep accuracy", add_recommend_command},
    Entry{"trace", "record board trajectories for a report's player", add_trace_command},
    Entry{"report", "turn results into one page to look at", add_report_command},
    Entry{"web", "one page that runs a model in a browser", add_web_command},
    Entry{"bench", "how fast a model runs here", add_bench_command},
    Entry{"quantize", "pack a model's weights; says whether the native engine runs them",
          add_quantize_command},
    Entry{"export",
          "a model for other machines and programs: C99 for microcontrollers, ONNX graphs",
          add_export_command},
    Entry{"accumulators", "the accumulator widths that a model needs", add_accumulators_command},
    Entry{"train", "train a model as a recipe says (needs libtorch)", add_train_command},
    Entry{"qat", "train a quantized model from a float one (needs libtorch)", add_qat_command},
    Entry{"formats", "the table of number formats", add_formats_command},
    Entry{"codec", "encode, decode and measure number formats", add_codec_command},
    Entry{"data", "generate, check, convert and describe boards", add_data_command},
    Entry{"convert", "turn a checkpoint, array or data set into safetensors", add_convert_command},
    Entry{"info", "what this build is, or what a model file holds", add_info_command},
    Entry{"vectors", "cases by which other implementations are checked", add_vectors_command},
    Entry{"manual", "the manual page, or a shell's completions", add_manual_command},
};

/// The innermost subcommand that was reached.
const CLI::App& reached(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : reached(*parsed.front());
}

/// "driftless codec error".
std::string full_name(const CLI::App& app) {
  if (app.get_parent() == nullptr) return app.get_name();
  return full_name(*app.get_parent()) + " " + app.get_name();
}

/// "; did you mean '--input'?" for an unknown flag or verb; old names of flags are not offered.
std::string suggestion(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (const CLI::App* verb : app.get_subcommands(nullptr))
    if (!verb->get_group().empty()) names.push_back(verb->get_name());
  const std::vector<std::string_view> views(names.begin(), names.end());
  return did_you_mean(word, views);
}

void complain(const std::string& message) {
  std::fprintf(stderr, "driftless: %s\n", one_line(message).c_str());
}

int usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& verb = reached(app);
  std::string message = error.what();
  const auto extras = app.remaining(true);
  if (!extras.empty()) {
    const std::string word = extras.front().substr(0, extras.front().find('='));
    message = "unknown argument '" + word + "'" + suggestion(verb, word);
  }
  complain(message + " (see '" + full_name(verb) + " --help')");
  return kUsageExit;
}

/// A descriptor that the caller closed would be taken by the next file that is opened, which would
/// then get what is printed. Opened the wrong way round, it stays an error to use it.
void keep_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) == -1)
      static_cast<void>(::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

/// The exit code of a run, which has failed too where not all that it printed could be written. A
/// reader that has gone (head -1) ends the program quietly, by SIGPIPE or, where that is ignored,
/// with its exit code.
int finish_output(int code) {
  const int reason = std::fflush(stdout) == 0 ? 0 : errno;
  if (code != 0 || (reason == 0 && std::ferror(stdout) == 0)) return code;
  if (reason == EPIPE) return kSignalExit + SIGPIPE;
  std::fprintf(stderr, "driftless: standard output: cannot write all of it%s%s\n",
               reason == 0 ? "" : "; got ", reason == 0 ? "" : std::strerror(reason));
  return exit_code(ErrorCode::Io);
}

/// What a newcomer may try; the files are found in every folder.
void greet() {
  std::printf(
      "%s\n\n"
      "Watch the bundled model solve a Sudoku:\n  driftless solve\n"
      "The same board in float, with one scale a tensor, and with one for 32 values:\n"
      "  driftless solve --compare none,int4/tensor,mxint4\n"
      "What rounding to four bits with a shared exponent costs:\n"
      "  driftless codec error --format mxint4 --gaussian 100000 --seed 1\n"
      "The model under several number formats:\n"
      "  driftless ladder models/sudoku-small.safetensors --data models/demo-sudoku.csv --limit 4 "
      "--schemes none mxint4 int4/tensor\n\n"
      "driftless help lists the verbs, driftless help VERB the flags of one.\n",
      kAbout);
}

/// Usage without the arguments whose earlier names are accepted and hidden.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = Formatter::make_usage(app, std::move(name));
    const std::string hidden = " []";
    for (size_t at = usage.find(hidden); at != std::string::npos; at = usage.find(hidden))
      usage.erase(at, hidden.size());
    return usage;
  }
};

/// driftless help [VERB...]: the help of the program or of a verb.
void print_help(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* verb = &app;
  for (const std::string& word : words) {
    const auto named =
        verb->get_subcommands([&](const CLI::App* inner) { return inner->check_name(word); });
    if (named.empty()) {
      complain("no verb '" + word + "'" + suggestion(*verb, word) + " (see '" + full_name(*verb) +
               " --help')");
      end_with(kUsageExit);
    }
    verb = named.front();
  }
  std::printf(
      "%s",
      app.get_formatter()->make_help(verb, full_name(*verb), CLI::AppFormatMode::Normal).c_str());
}

/// The variables that help of the whole program tells of.
std::string environment_lines() {
  std::string text = "\nEnvironment:\n";
  for (const EnvironmentText& variable : kEnvironment) {
    std::string name = variable.name;
    name.resize(std::max<size_t>(name.size(), 26), ' ');
    text += "  " + name + "  " + variable.help + "\n";
  }
  return text;
}

int run(int argc, char** argv) {
  if (argc == 1) {
    greet();
    return 0;
  }
  CLI::App app(kAbout);
  app.name("driftless");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("--version", DRIFTLESS_VERSION);
  app.require_subcommand(1);
  const Verb main_verb(app);
  main_verb.example("driftless solve");
  main_verb.note(environment_lines());
  for (const Entry& entry : kVerbs) entry.add(main_verb.add_verb(entry.name, entry.summary));
  std::vector<std::string> asked;
  const Verb help = main_verb.add_verb("help", "this, or what a verb takes");
  help.add_option("VERB", asked, "such as eval, or data generate");
  help.example("driftless help data generate");
  help.runs([&app, &asked] { print_help(app, asked); });
  try {
    (void)isa_limit();  // What DRIFTLESS_ISA says is right or wrong for every verb.
    std::vector<std::string> arguments = with_json_values({argv + 1, argv + argc});
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
    app.parse(std::move(arguments));
    return 0;
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::RuntimeError& end) {
    return end.get_exit_code();  // a verb that has said what there is to say
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error);
  } catch (const Interrupted& stop) {
    complain(stop.what());
    return stop.exit_code();
  } catch (const Error& error) {
    complain(error.what());
    return exit_code(error.code());
  } catch (const std::filesystem::filesystem_error& error) {
    complain(error.path1().string() + ": " + error.code().message());
    return exit_code(ErrorCode::Io);
  }
}

int out_of_memory() {
  std::fputs("driftless: out of memory\n", stderr);
  return exit_code(ErrorCode::Internal);
}

/// Ends as main() does where memory was short in a function that may not throw, such as the
/// destructors of JSON.
[[noreturn]] void terminate() {
  if (std::current_exception() != nullptr) {
    try {
      throw;
    } catch (const std::bad_alloc&) {
      std::_Exit(out_of_memory());
    } catch (const std::exception& error) {
      complain(std::string("internal error: ") + error.what());
    }
  }
  std::abort();
}

}  // namespace
}  // namespace driftless::cli

int main(int argc, char** argv) {
  driftless::cli::keep_standard_descriptors();
  std::set_terminate(driftless::cli::terminate);
  try {
    return driftless::cli::finish_output(driftless::cli::run(argc, argv));
  } catch (const std::bad_alloc&) {
    return driftless::cli::out_of_memory();
  } catch (const std::exception& error) {
    driftless::cli::complain(std::string("internal error: ") + error.what());
    return driftless::cli::exit_code(driftless::ErrorCode::Internal);
  }
}
