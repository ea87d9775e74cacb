/* help.c: rows of commands, options and topics become the text of --help and of `fxscope help`, 79
 * columns wide. */
#include <stdio.h>
#include <string.h>

#include "say.h"

enum { WIDTH = 79, TERM_COLUMN = 2, TEXT_COLUMN = 26 };

/* ---- words into lines
 * -------------------------------------------------------------------------------------- */

typedef struct filler {
    size_t column, indent; /* where the line is; where further lines begin */
} filler;

static void fill_word(filler *f, const char *word, size_t len) {
    if (f->column > f->indent && f->column + 1 + len > WIDTH) {
        cli_out("\n");
        f->column = 0;
    }
    if (f->column < f->indent) {
        cli_out("%*s", (int)(f->indent - f->column), "");
        f->column = f->indent;
    } else if (f->column > f->indent) {
        cli_out(" ");
        f->column++;
    }
    cli_out("%.*s", (int)len, word);
    f->column += len;
}

/* Line feeds in the text begin a new line. */
static void fill(filler *f, const char *text) {
    while (*text) {
        size_t len = strcspn(text, " \n");
        if (len)
            fill_word(f, text, len);
        text += len;
        if (*text == '\n') {
            cli_out("\n");
            f->column = 0;
        }
        text += *text != '\0';
    }
}

static void paragraphs(const char *text) {
    filler f = {0};
    fill(&f, text);
    cli_out("\n");
}

/* A term on the left, and the filler for its text on the right. */
static filler term(const char *text) {
    filler f = {.indent = TEXT_COLUMN};
    cli_out("%*s%s", TERM_COLUMN, "", text);
    f.column = TERM_COLUMN + strlen(text);
    if (f.column + 2 > TEXT_COLUMN) {
        cli_out("\n");
        f.column = 0;
    }
    return f;
}

static void entry(const char *left, const char *right) {
    filler f = term(left);
    fill(&f, right);
    cli_out("\n");
}

/* ---- rows
 * -------------------------------------------------------------------------------------------------
 */

static void print_option(const cli_option *o) {
    char left[80];
    char letter[] = {'-', o->letter, ',', ' ', '\0'};
    bool optional = o->store == CLI_OPTIONAL;
    snprintf(left, sizeof left, "%s--%s%s%s%s", o->letter ? letter : "    ", o->name,
             optional ? "[="
             : o->arg ? " "
                      : "",
             o->arg ? o->arg : "", optional ? "]" : "");
    filler f = term(left);
    fill(&f, o->help);
    for (size_t i = 0; o->words && o->words[i]; i++) {
        char word[40];
        snprintf(word, sizeof word, "%s%s%s", i ? "" : "[", o->words[i],
                 o->words[i + 1] ? "," : "]");
        fill(&f, word);
    }
    cli_out("\n");
}

static void print_options(const cli_command *c) {
    cli_out("\nOptions:\n");
    for (const cli_option *o = c->options; o->name; o++)
        print_option(o);
}

static void print_examples(const char *lines) {
    cli_out("\nExamples:\n");
    while (*lines) {
        size_t len = strcspn(lines, "\n");
        cli_out("%*s%.*s\n", TERM_COLUMN, "", (int)len, lines);
        lines += len + (lines[len] == '\n');
    }
}

static void print_overview(void) {
    cli_out("fxscope %s: %s\n\nUsage: fxscope %s\n\nCommands:\n", fxs_version(), cli_main.summary,
            cli_main.usage);
    for (const cli_command *const *c = cli_commands; *c; c++)
        entry((*c)->name, (*c)->summary);
    print_options(&cli_main);
    cli_out("\nMore, with 'fxscope help COMMAND' or 'fxscope help TOPIC'; topics:\n");
    for (const cli_topic *t = cli_topics; t->name; t++)
        entry(t->name, t->title);
}

static bool takes_inputs(const cli_command *c) {
    for (const cli_option *o = c->options; o->name; o++)
        if (o->letter == 'i')
            return true;
    return false;
}

void cli_print_help(const cli_command *c) {
    if (!c->name) {
        print_overview();
        return;
    }
    cli_out("Usage: fxscope %s%s%s\n\nfxscope %s: %s.\n\n", c->name, *c->usage ? " " : "", c->usage,
            c->name, c->summary);
    paragraphs(c->details);
    print_options(c);
    if (c->example)
        print_examples(c->example);
    if (takes_inputs(c))
        cli_out("\nWhat SPEC can be: fxscope help inputs\n");
}

static void print_topic(const cli_topic *t) {
    paragraphs(t->intro);
    cli_out("\n");
    for (const cli_entry *e = t->entries; e->term; e++)
        entry(e->term, e->text);
    char left[CLI_ENTRY_ROOM], right[CLI_ENTRY_ROOM];
    for (size_t i = 0; t->more && t->more(i, left, sizeof left, right, sizeof right); i++)
        entry(left, right);
}

/* ---- the command
 * ------------------------------------------------------------------------------------------- */

static cli_exit run_help(const cli_settings *s) {
    const char *name = s->operands.len ? s->operands.items[0] : NULL;
    const cli_command *c = name ? cli_command_find(name) : &cli_main;
    const cli_topic *t = c ? NULL : cli_topic_find(name);
    if (c)
        cli_print_help(c);
    else if (t)
        print_topic(t);
    else
        return cli_usage_error(NULL, "there is no command or topic '%s'", name);
    return CLI_OK;
}

static const cli_option options[] = {CLI_HELP_ROW, {0}};

const cli_command cli_help = {
    .name = "help",
    .usage = "[COMMAND|TOPIC]",
    .summary = "explain a command or a topic",
    .details =
        "Prints the same as 'fxscope COMMAND --help', or what there is to know about a topic.",
    .example = "fxscope help draw\nfxscope help inputs",
    .options = options,
    .operand = CLI_COMMAND_NAME,
    .min_operands = 0,
    .max_operands = 1,
    .run = run_help,
};
