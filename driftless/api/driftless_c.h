/* SPDX-License-Identifier: Apache-2.0
 * Models for C and for whatever calls C. Functions that can fail return DRIFTLESS_OK or the kind of
 * the error, and driftless_last_error() then has the message. Nothing throws, and nothing is shared
 * between two engines.
 *
 *   driftless_engine* engine = NULL;
 *   if (driftless_load("sudoku.safetensors", 2, &engine) != DRIFTLESS_OK)
 *     fprintf(stderr, "%s\n", driftless_last_error());
 *   driftless_solve(engine, tokens, 1, NULL, answers, NULL);
 *   driftless_free(engine);
 *
 * driftless_arrays.h quantizes arrays, driftless_boards.h reads and judges boards.
 */
#ifndef DRIFTLESS_C_H
#define DRIFTLESS_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* C has no namespaces: names carry a prefix. NOLINTBEGIN(readability-identifier-naming) */
enum {
  DRIFTLESS_OK = 0,
  DRIFTLESS_ERROR_INVALID_ARGUMENT = 10,
  DRIFTLESS_ERROR_BAD_CONFIG = 11,
  DRIFTLESS_ERROR_BAD_FILE = 12,
  DRIFTLESS_ERROR_UNSUPPORTED = 13,
  DRIFTLESS_ERROR_IO = 14,
  DRIFTLESS_ERROR_NUMERIC = 15,
  DRIFTLESS_ERROR_INTERNAL = 16
};

/* The number of this interface: one higher whenever a function or a struct changes. A program that
 * loads the library at run time compares it with driftless_api_version(). */
enum { DRIFTLESS_API_VERSION = 3 };
int driftless_api_version(void);

/* Such as "0.1.0". */
const char* driftless_version(void);

/* The message of the last function that failed on this thread; "" before the first. */
const char* driftless_last_error(void);

/* Frees a text or bytes that a function of this library made. NULL is fine. */
void driftless_free_memory(void* memory);

/* A model ready to think, one call at a time: another one from a callback or on a second thread is
 * DRIFTLESS_ERROR_INVALID_ARGUMENT. Free it when no call runs. */
typedef struct driftless_engine driftless_engine;

/* How a model is quantized and where it runs. All zero but `size`: float32 on all processors. Texts
 * are those of the program's flags of the same names; NULL is the flag's default. A packed model is
 * quantized already and takes none of the first group. */
typedef struct {
  size_t size; /* sizeof(driftless_open_options) */

  const char* weights;
  const char* acts;
  const char* coverage;
  const char* bias;
  const char* scales;
  const char* attention;
  const char* plan; /* a JSON file, instead of all above */
  double smooth;    /* 0: none */
  int hadamard;     /* not 0: rotate */
  const char* calibration_data;
  int64_t calibration_boards; /* 0: the usual number */
  int64_t calibration_seed;
  int calibration_may_overlap; /* not 0: boards that are scored may be drawn */

  const char* device; /* NULL or "cpu": float32 and simulation; "native": integers */
  const char* dtype;  /* NULL or "f32"; "bf16" */
  int64_t threads;    /* 0: as many as the machine runs at once */
  int64_t slots;      /* boards at a time; 0: as many as keep the threads busy */

  int delta; /* not 0: quantize what inputs change by; of the first group */
} driftless_open_options;

/* A checkpoint, a packed model or a PyTorch file. `options` may be NULL. */
int driftless_open(const char* path, const driftless_open_options* options,
                   driftless_engine** engine);
/* The same for the bytes of a checkpoint or packed model (safetensors), which are not needed
 * afterwards. */
int driftless_open_memory(const void* bytes, size_t size, const driftless_open_options* options,
                          driftless_engine** engine);
/* On integers: a packed model, or a float checkpoint that is quantized to MXInt4 now. */
int driftless_load(const char* path, int64_t threads, driftless_engine** engine);
/* NULL is fine. */
void driftless_free(driftless_engine* engine);

/* Writes the packed model that the options ask for; `method` is one of `driftless quantize
 * --method`, such as gptq, and NULL is nearest. */
int driftless_pack(const char* path, const driftless_open_options* options, const char* method,
                   const char* out);

/* Cells of a board, the number of different tokens, and slots; 0 for NULL. */
int64_t driftless_cells(const driftless_engine* engine);
int64_t driftless_vocabulary(const driftless_engine* engine);
int64_t driftless_slots(const driftless_engine* engine);
/* Rows (cells and what stands before them) and columns of a state; 0 for NULL. */
int64_t driftless_state_rows(const driftless_engine* engine);
int64_t driftless_state_columns(const driftless_engine* engine);
/* One JSON object: config, task, scheme, calibration, device, dtype, threads, slots, is_packed,
 * instruction_set, and what was found in a file from elsewhere. Free the text. */
int driftless_describe(const driftless_engine* engine, char** json);

/* Seen after each step of each board. `tokens` is valid during the call. Return 0 to go on;
 * anything else ends the call with DRIFTLESS_ERROR_INVALID_ARGUMENT. */
typedef int (*driftless_on_step)(void* user, size_t board, int64_t step, const uint8_t* tokens,
                                 float halt_logit);

/* All zero is a good choice: stop when the model says so, at its trained number of steps at most.
 */
typedef struct {
  int64_t max_steps; /* 0: as many as the model was trained with */
  int all_steps;     /* not 0: never stop early */
  driftless_on_step on_step;
  void* user;
} driftless_solve_options;

/* `tokens` and `answers` hold boards * cells tokens, board after board; `steps` one number a board,
 * or is NULL. `options` may be NULL. */
int driftless_solve(driftless_engine* engine, const uint8_t* tokens, size_t boards,
                    const driftless_solve_options* options, uint8_t* answers, int64_t* steps);

/* Boards with more than tokens; NULL stands for zeros. */
typedef struct {
  const uint8_t* tokens;  /* count * cells */
  const int64_t* puzzles; /* rows of the puzzle table, for models that have one */
  const uint64_t* seeds;  /* of random states and noise, for models that draw them (EqR) */
} driftless_questions;

/* What is wanted of the answers; NULL is left out. */
typedef struct {
  uint8_t* tokens;    /* count * cells */
  int64_t* steps;     /* count */
  float* halt_logits; /* count */
} driftless_answers;

int driftless_solve_all(driftless_engine* engine, const driftless_questions* questions,
                        size_t count, const driftless_solve_options* options,
                        const driftless_answers* answers);

/* Puts a board of `cells` tokens into a slot with fresh states. */
int driftless_reset(driftless_engine* engine, int64_t slot, const uint8_t* tokens, size_t cells,
                    int64_t puzzle, uint64_t seed);
/* One supervision step for each of the slots, which must be distinct and hold boards. */
int driftless_step(driftless_engine* engine, const int64_t* slots, size_t count);
/* Copies z_H and z_L, rows * columns values each; NULL is left out. */
int driftless_states(const driftless_engine* engine, int64_t slot, float* z_h, float* z_l);
/* Replaces both. `count` is the number of values of each. */
int driftless_set_states(driftless_engine* engine, int64_t slot, const float* z_h, const float* z_l,
                         size_t count);
/* Copies cells * vocabulary logits and the halt and continue logits of the slot's last step; NULL
 * is left out. */
int driftless_logits(const driftless_engine* engine, int64_t slot, float* logits, float* halt_logit,
                     float* continue_logit);
/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif
