// SPDX-License-Identifier: Apache-2.0
// Exported models on emulated boards: the native engine's bits after every step, memory as the
// exporter says, and instructions, which qemu counts with -icount shift=0.
#include <algorithm>
#include <filesystem>
#include <tuple>

#include <gtest/gtest.h>

#include "tests/export/firmware.h"
#include "tests/export/small_models.h"

namespace driftless::exporter {
namespace {

using driftless::testing::Outcome;
using driftless::testing::run_program;
using testing::CheckOptions;
using testing::Firmware;

/// A processor and where it is emulated.
struct Board {
  const char* name;
  const char* compiler;
  const char* flags;
  const char* emulator;
  const char* machine;
  const char* port;
  const char* script;
  CArena CExport::*arena;
  /// Most instructions for each multiply-add: of the products alone, and of a step of a small model
  /// with everything else.
  double most_of_products, most_of_step;
  const char* linker = "";  ///< a compiler's command, where it is another one
};

std::ostream& operator<<(std::ostream& out, const Board& board) { return out << board.name; }

constexpr const char* kArm = "arm-none-eabi-gcc";
constexpr const char* kRiscv = "riscv64-unknown-elf-gcc";
constexpr const char* kQemuArm = "qemu-system-arm";

constexpr const char* kQemuRiscv = "qemu-system-riscv32";
/// gcc 12 has no vectors of RISC-V; clang has, but no library for it, so that gcc links.
constexpr const char* kClang = "clang-16";
constexpr const char* kRiscvLinker =
    "riscv64-unknown-elf-gcc -O2 --specs=picolibc.specs -march=rv32imf -mabi=ilp32f "
    "-DPROBE_KERNELS=3";

constexpr Board kBoards[] = {
    {"M3", kArm, "-mcpu=cortex-m3 -mthumb", kQemuArm, "mps2-an385", "port_arm.c", "mps2.ld",
     &CExport::plain_c, 2.2, 80},
    {"M4", kArm, "-mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard", kQemuArm,
     "mps2-an386", "port_arm.c", "mps2.ld", &CExport::dsp, 1.2, 4},
    {"M4WithoutFpu", kArm, "-mcpu=cortex-m4 -mthumb -mfloat-abi=soft", kQemuArm, "mps2-an386",
     "port_arm.c", "mps2.ld", &CExport::dsp, 1.2, 80},
    {"M7", kArm, "-mcpu=cortex-m7 -mthumb -mfpu=fpv5-d16 -mfloat-abi=hard", kQemuArm, "mps2-an500",
     "port_arm.c", "mps2.ld", &CExport::dsp, 1.2, 4},
    {"M7PlainC", kArm, "-mcpu=cortex-m7 -mthumb -mfpu=fpv5-d16 -mfloat-abi=hard -DPROBE_KERNELS=0",
     kQemuArm, "mps2-an500", "port_arm.c", "mps2.ld", &CExport::plain_c, 2.2, 5},
    {"M55", kArm, "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard", kQemuArm, "mps3-an547", "port_arm.c",
     "mps3.ld", &CExport::vector, 0.3, 2},
    {"Rv32", kRiscv, "--specs=picolibc.specs -march=rv32im -mabi=ilp32", kQemuRiscv,
     "virt -bios none", "port_riscv.c", "riscv.ld", &CExport::plain_c, 3, 100},
    {"Rv32F", kRiscv, "--specs=picolibc.specs -march=rv32imf -mabi=ilp32f", kQemuRiscv,
     "virt -bios none", "port_riscv.c", "riscv.ld", &CExport::plain_c, 3, 10},
    {"Rv32V", kClang,
     "--target=riscv32-unknown-elf -march=rv32imf_zve32x_zvl128b -mabi=ilp32f "
     "-isystem /usr/lib/picolibc/riscv64-unknown-elf/include",
     kQemuRiscv, "virt -bios none -cpu rv32,v=true,vext_spec=v1.0,vlen=128", "port_riscv.c",
     "riscv.ld", &CExport::vector, 0.3, 10, kRiscvLinker},
};

Outcome compile(const Firmware& firmware, const Board& board, const std::string& main = "check.c") {
  const std::string linking =
      "-nostartfiles -Wl,--gc-sections -T " + std::string(testing::kFirmware) + "/" + board.script;
  return firmware.compile(std::string(board.compiler) + " -O2 " + board.flags, board.port, linking,
                          main, board.linker);
}

Outcome run(const Firmware& firmware, const Board& board) {
  return run_program("{ timeout 300 " + std::string(board.emulator) + " -M " + board.machine +
                     " -icount shift=0 -nographic -semihosting-config enable=on,target=native"
                     " -kernel " +
                     (firmware.path() / "check").string() + " </dev/null 2>&1; }");
}

/// Bytes of a section of the linked program.
int64_t section_bytes(const Firmware& firmware, const Board& board, const std::string& section) {
  const std::string size =
      board.emulator == kQemuArm ? "arm-none-eabi-size" : "riscv64-unknown-elf-size";
  const std::string text = run_program(size + " -A " + (firmware.path() / "check").string()).out;
  const size_t at = text.find("\n" + section + " ");
  return at == std::string::npos ? -1 : std::stoll(text.substr(at + 1 + section.size()));
}

/// The arena is all the memory there is; constants are the weights and tables, and pointers to
/// them.
void expect_said_memory(const Firmware& firmware, const Board& board) {
  const int64_t arena = (firmware.made().*board.arena).bytes;
  const int64_t ram = section_bytes(firmware, board, ".bss");
  EXPECT_GE(ram, arena);
  EXPECT_LE(ram, arena + 64);  // what counts instructions
  const int64_t constants = section_bytes(firmware, board, ".constants");
  EXPECT_GE(constants, firmware.made().flash_bytes());
  EXPECT_LE(constants, firmware.made().flash_bytes() + 2048);
  EXPECT_LE(section_bytes(firmware, board, ".text"), 24 * 1024);
}

void skip_without(const Board& board) {
  for (const char* program : {board.compiler, board.emulator})
    if (!testing::has_program(program)) GTEST_SKIP() << "skipped: no " << program;
  if (*board.linker != 0 && !testing::has_program(kRiscv)) GTEST_SKIP() << "skipped: no " << kRiscv;
}

class Emulated : public ::testing::TestWithParam<Board> {
 protected:
  void SetUp() override { skip_without(GetParam()); }
};

TEST_P(Emulated, HasTheBitsOfTheNativeEngine) {
  const Board& board = GetParam();
  const CheckOptions check{.boards = 1, .steps = 2};
  const store::PackedModel model = testing::packed(testing::sudoku_like());
  const Firmware firmware(model, check, {.section = ".constants"});
  const Outcome compiled = compile(firmware, board);
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  const Outcome ran = run(firmware, board);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(testing::without_counts(ran.out),
            testing::expected_lines(firmware.made(), model, check));
  const auto count = static_cast<double>(testing::instructions_of(ran.out));
  const double each = count / static_cast<double>(firmware.made().multiply_adds);
  RecordProperty("instructions_each_multiply_add", std::to_string(each));
  std::printf("%s: %.3f instructions a multiply-add\n", board.name, each);
  EXPECT_GT(each, 0.05);
  EXPECT_LT(each, board.most_of_step);
}

// Unpacking included, in tiles of 16 rows.
TEST_P(Emulated, MultipliesInFewInstructions) {
  const Board& board = GetParam();
  const Firmware firmware(testing::packed(testing::sudoku_like()), {});
  const Outcome compiled = compile(firmware, board, "products.c");
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  const Outcome ran = run(firmware, board);
  EXPECT_EQ(ran.exit_code, 0) << "the sums are wrong: " << ran.out;
  ASSERT_EQ(ran.out.rfind("thousandths ", 0), 0u) << ran.out;
  const double each = std::stod(ran.out.substr(12)) / 1000;
  std::printf("%s: %.3f instructions a multiply-add of products\n", board.name, each);
  EXPECT_GT(each, 0.05);
  EXPECT_LT(each, board.most_of_products);
}

TEST_P(Emulated, TakesTheMemoryThatTheExporterSays) {
  const Firmware firmware(testing::packed(testing::sudoku_like()),
                          {.boards = 0, .steps = 1, .has_wrong_calls = false},
                          {.section = ".constants"});
  const Outcome compiled = compile(firmware, GetParam());
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  expect_said_memory(firmware, GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, Emulated, ::testing::ValuesIn(kBoards),
                         [](const auto& row) { return std::string(row.param.name); });

/// A packed model under models/, and what it may take of a part: flash with the code.
struct Bundled {
  const char* name;
  CheckOptions check;  ///< after the self-test, which is one step
  int64_t most_flash, most_ram;
};

constexpr Bundled kBundled[] = {
    {"sudoku-4x4-mxint4", {.boards = 2, .steps = 4}, 48 << 10, 64 << 10},
    {"sudoku-micro-mxint4", {.boards = 0, .has_wrong_calls = false}, 256 << 10, 384 << 10},
    {"sudoku-small-mxint4", {.boards = 0, .has_wrong_calls = false}, 768 << 10, 256 << 10},
};

class EmulatedBundled : public ::testing::TestWithParam<std::tuple<Bundled, Board>> {};

TEST_P(EmulatedBundled, HasTheBitsAndTheSizes) {
  const auto& [bundled, board] = GetParam();
  skip_without(board);
  if (IsSkipped()) return;
  const std::string path = "models/" + std::string(bundled.name) + ".safetensors";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "skipped: no " << path;
  const store::PackedModel model = store::load_packed(path);
  const Firmware firmware(model, bundled.check, {.section = ".constants"});
  const Outcome compiled = compile(firmware, board);
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  const Outcome ran = run(firmware, board);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(testing::without_counts(ran.out),
            testing::expected_lines(firmware.made(), model, bundled.check));
  expect_said_memory(firmware, board);
  const int64_t flash =
      section_bytes(firmware, board, ".text") + section_bytes(firmware, board, ".constants");
  const int64_t ram = section_bytes(firmware, board, ".bss");
  EXPECT_LE(flash, bundled.most_flash);
  EXPECT_LE(ram, bundled.most_ram);
  std::printf("%s on %s: flash %lld, RAM %lld, instructions %llu\n", bundled.name, board.name,
              static_cast<long long>(flash), static_cast<long long>(ram),
              static_cast<unsigned long long>(testing::instructions_of(ran.out)));
}

/// Boards that take sudoku-small in seconds: qemu is slow with vectors.
std::vector<Board> boards_named(std::initializer_list<const char*> names) {
  std::vector<Board> out;
  for (const Board& board : kBoards)
    if (std::any_of(names.begin(), names.end(),
                    [&](std::string_view name) { return name == board.name; }))
      out.push_back(board);
  return out;
}

std::string bundled_name(const ::testing::TestParamInfo<std::tuple<Bundled, Board>>& row) {
  std::string name = std::get<0>(row.param).name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name + "_" + std::get<1>(row.param).name;
}

INSTANTIATE_TEST_SUITE_P(Toy, EmulatedBundled,
                         ::testing::Combine(::testing::Values(kBundled[0]),
                                            ::testing::ValuesIn(kBoards)),
                         bundled_name);
INSTANTIATE_TEST_SUITE_P(Large, EmulatedBundled,
                         ::testing::Combine(::testing::Values(kBundled[1], kBundled[2]),
                                            ::testing::ValuesIn(boards_named({"M4", "M7", "M55",
                                                                              "Rv32F"}))),
                         bundled_name);

}  // namespace
}  // namespace driftless::exporter
