/* cli.h: the command's own types: what options and commands are (const rows), and what the parser
 * makes of a command line (the settings). The rows alone decide what is parsed, what --help and the
 * man page say, and what a shell completes. Nothing under src/cli includes more than fxscope.h,
 * fxrender.h and the C library. */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fxscope.h"

/* X(NAME, number, meaning) */
#define CLI_EXIT_MAP(X)                                                                            \
    X(OK, 0, "All is well.")                                                                       \
    X(FAILURE, 1, "The model can't be read or parsed, or an output can't be written.")             \
    X(USAGE, 2,                                                                                    \
      "The command line is wrong: a command, an option, a value, or an input that the model does " \
      "not have.")                                                                                 \
    X(FINDINGS, 3,                                                                                 \
      "The output is there, but an input is missing, a node failed or is unknown, or the graph "   \
      "is not well-formed.")

typedef enum cli_exit {
#define X(name, number, text) CLI_##name = number,
    CLI_EXIT_MAP(X)
#undef X
} cli_exit;

/* Borrowed strings of argv. */
typedef struct cli_list {
    const char **items;
    size_t len;
} cli_list;

/* What a command line says, for all commands. */
typedef struct cli_settings {
    const char **given; /* by the command's rows: the last value said, "" of a flag; NULL: none */
    cli_list operands;
    cli_list inputs;  /* -i */
    cli_list outputs; /* -o, repeated */
    cli_list passes, dump_after, split_at;
    cli_list collapse, expand, hide, patterns;
    const char *focus;
    bool only_tensors, clusters;
    unsigned fold; /* in the order of fxs_fold */
    int depth;
    const char *output, *pattern, *replacement, *weights, *save_weights, *coverage;
    const char *allow, *tier;
    cli_list paths, arguments; /* --path, --arg */
    bool isolated, traceback, guard, strict, symbolic, concrete;
    double python_seconds; /* negative: not given */
    int max_memory;        /* MB; 0: no limit */
    bool help, version, meta, stats, train, torch2, verbose, processor_time;
    const char *title, *theme, *direction, *engine, *rows, *picture_format;
    const char *color_by, *overlay, *palette;
    unsigned color_scale; /* in the order of fxs_color_scale */
    bool edge_shapes;
    const char *png_tile, *fit_width, *page;
    bool force, landscape;
    int columns;
    unsigned print_format, table_format, png_fit, bench_by; /* which of the option's words */
    double dpi, layout_seconds;
    int threads, rounds, max_nodes, hub_uses;
    uint64_t seed;
} cli_settings;

/* How an option's value is kept in the settings. */
typedef enum cli_store {
    CLI_FLAG,  /* bool: given or not; takes no value */
    CLI_TEXT,  /* const char *: one of the words, when there are words */
    CLI_WORDS, /* const char *: words with commas between, each perhaps with '+' or '-' in front */
    CLI_INDEX, /* unsigned: which of the words */
    CLI_OPTIONAL, /* the same; without a value the second word. Its value is behind a '=' */
    CLI_LIST,     /* cli_list: one more value; one of the words, when there are words */
    CLI_INT,      /* int, min to max */
    CLI_REAL,     /* double, min to max */
    CLI_SEED      /* uint64_t */
} cli_store;

/* One option. A table of them ends with a row without a name. */
typedef struct cli_option {
    const char *name; /* without the dashes */
    char letter;      /* 0: none */
    const char
        *arg; /* what help calls the value; NULL: takes none. "FILE" is completed with file names */
    const char *help;         /* one sentence without the period */
    cli_store store;          /* how the value is kept ... */
    size_t at;                /* ... and where, an offset in cli_settings */
    const char *const *words; /* the values there are, ends with NULL; NULL: free */
    double min, max;
} cli_option;

#define CLI_AT(field) offsetof(cli_settings, field)
#define CLI_HELP_ROW                                                                               \
    { "help", 'h', NULL, "print this help and exit", CLI_FLAG, CLI_AT(help) }
#define CLI_INPUT_ROW                                                                              \
    {                                                                                              \
        "input", 'i', "SPEC",                                                                      \
            "value of the model's next input, or of the one named in SPEC; may be repeated",       \
            CLI_LIST, CLI_AT(inputs)                                                               \
    }
#define CLI_WEIGHTS_ROW                                                                            \
    {                                                                                              \
        "weights", 0, "FILE",                                                                      \
            "values of the parameters, from a .safetensors file; else they are made from the "     \
            "seed",                                                                                \
            CLI_TEXT, CLI_AT(weights)                                                              \
    }
#define CLI_SAVE_WEIGHTS_ROW                                                                       \
    {                                                                                              \
        "save-weights", 0, "FILE",                                                                 \
            "write the values of all parameters and buffers too, to a .safetensors file, for "     \
            "--weights",                                                                           \
            CLI_TEXT, CLI_AT(save_weights)                                                         \
    }
#define CLI_META_ROW                                                                               \
    {                                                                                              \
        "meta", 0, NULL, "compute shapes only, no values: fast, and in little memory", CLI_FLAG,   \
            CLI_AT(meta)                                                                           \
    }
/* What is shown of a large model (outline.c). */
extern const char *const cli_fold_words[]; /* outline.c */
#define CLI_OUTLINE_ROWS                                                                           \
    {"depth", 0, "N", "draw modules that are N levels deep as one box", CLI_INT, CLI_AT(depth),    \
     NULL,    1, 1000},                                                                            \
        {"collapse", 0,                                                                            \
         "GLOB",     "draw each module of that path or class as one box; may be repeated",         \
         CLI_LIST,   CLI_AT(collapse)},                                                            \
        {"leaf", 0, "GLOB", "the same as --collapse", CLI_LIST, CLI_AT(collapse)},                 \
        {"expand", 0,                                                                              \
         "GLOB",   "keep modules of that path or class open; may be repeated",                     \
         CLI_LIST, CLI_AT(expand)},                                                                \
        {"focus",                                                                                  \
         0,                                                                                        \
         "PATH",                                                                                   \
         "show only the module at that path; PATH#2 is the second call of it, --depth counts "     \
         "from "                                                                                   \
         "there",                                                                                  \
         CLI_TEXT,                                                                                 \
         CLI_AT(focus)},                                                                           \
        {"fold",                                                                                   \
         0,                                                                                        \
         "HOW",                                                                                    \
         "show equal blocks in a row once, with their number: 'equal' those that are the same in " \
         "structure, arguments and shapes; 'auto' also those whose shapes, or whose "              \
         "chance of dropout, vary, which become ranges, and the layers of a dense block; "         \
         "'similar' all that differ in nothing but sizes and floats (default: auto)",              \
         CLI_OPTIONAL,                                                                             \
         CLI_AT(fold),                                                                             \
         cli_fold_words},                                                                          \
        {"hide",                                                                                   \
         0,                                                                                        \
         "OP",                                                                                     \
         "leave out nodes of that operator or class, such as getitem or Dropout, and join what "   \
         "they were between; may be repeated",                                                     \
         CLI_LIST,                                                                                 \
         CLI_AT(hide)},                                                                            \
        {"pattern",                                                                                \
         0,                                                                                        \
         "FILE",                                                                                   \
         "show each place where the graph of that file stands as one box; may be repeated (see "   \
         "'fxscope rewrite')",                                                                     \
         CLI_LIST,                                                                                 \
         CLI_AT(patterns)},                                                                        \
    {                                                                                              \
        "only-tensors", 0, NULL, "leave out nodes that hold no tensor", CLI_FLAG,                  \
            CLI_AT(only_tensors)                                                                   \
    }
#define CLI_TRAIN_ROW                                                                              \
    {                                                                                              \
        "train", 0, NULL, "run as in training: dropout on, statistics of the batch", CLI_FLAG,     \
            CLI_AT(train)                                                                          \
    }
#define CLI_SEED_ROW                                                                               \
    {                                                                                              \
        "seed", 0, "N", "seed of parameters, random inputs and random operators (default: 0)",     \
            CLI_SEED, CLI_AT(seed)                                                                 \
    }
#define CLI_THREADS_ROW                                                                            \
    {                                                                                              \
        "threads", 0, "N",                                                                         \
            "how many threads compute, 1 to 256; 0 is one for each processor (default: 0)",        \
            CLI_INT, CLI_AT(threads), NULL, 0, 256                                                 \
    }

/* What a command's operand is, for completion. */
typedef enum cli_operand {
    CLI_NOTHING,
    CLI_ANY_TEXT,
    CLI_MODEL_FILE,
    CLI_SCRIPT_FILE, /* what follows it is the script's own */
    CLI_COMMAND_NAME,
    CLI_SHELL_NAME
} cli_operand;

/* One command. */
typedef struct cli_command {
    const char *name;
    const char *usage;   /* what follows the name on the usage line */
    const char *summary; /* one line without the period */
    const char *details; /* paragraphs with a line feed between */
    const char *example; /* command lines with a line feed between; NULL: none */
    const cli_option *options;
    cli_operand operand;
    size_t min_operands, max_operands;
    cli_exit (*run)(const cli_settings *s);
} cli_command;

extern const cli_command cli_draw, cli_print, cli_table, cli_bench, cli_check, cli_ops, cli_rewrite,
    cli_opt, cli_run, cli_help, cli_completion, cli_man;
/* The command without a command's name, `fxscope --version`; its own name is NULL. */
extern const cli_command cli_main;

/* All but cli_main, in the order of help; ends with NULL. */
extern const cli_command *const cli_commands[];
const cli_command *cli_command_find(const char *name);

/* ---- topics.c: what is to be said about more than one command ---- */

typedef struct cli_entry {
    const char *term, *text;
} cli_entry;

typedef struct cli_topic {
    const char *name;  /* `fxscope help NAME` */
    const char *title; /* one line without the period */
    const char *intro;
    const cli_entry *entries; /* ends with a row without a term */
    /* Further entries that follow from other tables: the i-th; false behind the last. May be NULL.
     */
    bool (*more)(size_t i, char *term, size_t term_room, char *text, size_t text_room);
} cli_topic;
enum { CLI_ENTRY_ROOM = 400 };

extern const cli_topic cli_topics[]; /* ends with a row without a name */
const cli_topic *cli_topic_find(const char *name);

/* ---- options.c ---- */

/* Reads what follows the command's name (argv[0] is that name) into *s. Prints what is wrong. *s is
 * freed by the caller either way. */
cli_exit cli_parse(const cli_command *c, int argc, char **argv, cli_settings *s);
void cli_settings_free(cli_settings *s);

/* ---- help.c ---- */

/* What --help prints; cli_main gives the overview. */
void cli_print_help(const cli_command *c);

#endif
