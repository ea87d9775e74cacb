/* options.c: a command line becomes settings, by the command's rows. getopt_long, whose tables are
 * made from the rows, takes it apart; what a value means is decided here, by its row's kind of
 * store. main.c calls it. It must not know any single option. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "rules.h"
#include "say.h"

/* getopt_long's tables, and what is being parsed. */
typedef struct parser {
    const cli_command *command;
    size_t noptions;
    struct option *longs; /* one a row; val is FIRST_ROW + its index */
    char *shorts;
    int argc;
    cli_settings *s;
} parser;

enum {
    FIRST_ROW = 256,
    OPERAND = 1
}; /* no letter is as large; a text that is no option is returned as 1 */

/* ---- values
 * -------------------------------------------------------------------------------------------- */

static cli_exit refuse(const parser *p, const cli_option *o, const char *value, const char *why) {
    return cli_usage_error(p->command->name, "option --%s: '%s' %s", o->name, value, why);
}

static bool find_word(const cli_option *o, const char *value, size_t len, unsigned *index) {
    for (unsigned i = 0; o->words[i]; i++)
        if (strlen(o->words[i]) == len && memcmp(o->words[i], value, len) == 0) {
            *index = i;
            return true;
        }
    return false;
}

static cli_exit refuse_word(const parser *p, const cli_option *o, const char *value, size_t len) {
    char known[256] = "";
    size_t n = 0;
    for (size_t i = 0; o->words[i]; i++) {
        size_t word = strlen(o->words[i]);
        if (n + word + 3 > sizeof known)
            break;
        memcpy(known + n, i ? ", " : "", i ? 2 : 0);
        n += i ? 2 : 0;
        memcpy(known + n, o->words[i], word + 1);
        n += word;
    }
    return cli_usage_error(p->command->name, "option --%s: '%.*s' is none of %s", o->name, (int)len,
                           value, known);
}

static cli_exit check_words(const parser *p, const cli_option *o, const char *value) {
    unsigned ignored;
    for (const char *v = value;; v++) {
        v += *v == '+' || *v == '-';
        size_t len = strcspn(v, ",");
        if (!find_word(o, v, len, &ignored))
            return refuse_word(p, o, v, len);
        v += len;
        if (!*v)
            return CLI_OK;
    }
}

static cli_exit append(const parser *p, cli_list *list, const char *value) {
    if (!list->items)
        list->items =
            calloc((size_t)p->argc + 1, sizeof *list->items); /* no list is longer than argv */
    if (!list->items)
        return cli_no_memory();
    list->items[list->len++] = value;
    return CLI_OK;
}

static cli_exit store_number(const parser *p, const cli_option *o, const char *value, void *at) {
    bool whole = o->store != CLI_REAL;
    char *end;
    errno = 0;
    if (o->store == CLI_SEED) {
        *(uint64_t *)at = strtoull(value, &end, 10);
        if (*value < '0' || *value > '9' || *end || errno)
            return refuse(p, o, value, "is not a whole number from 0 to 18446744073709551615");
        return CLI_OK;
    }
    double x =
        strtod(value, &end); /* its names of numbers and its hexadecimal form are not wanted */
    bool plain = value[strspn(value, whole ? "-0123456789" : "+-.0123456789eE")] == '\0';
    if (!*value || *end || !plain || !(x >= o->min && x <= o->max))
        return whole ? cli_usage_error(p->command->name,
                                       "option --%s: '%s' is not a whole number from %.0f to %.0f",
                                       o->name, value, o->min, o->max)
                     : cli_usage_error(p->command->name,
                                       "option --%s: '%s' is not a number from %g to %g", o->name,
                                       value, o->min, o->max);
    if (whole)
        *(int *)at = (int)x;
    else
        *(double *)at = x;
    return CLI_OK;
}

/* Of two values of one option, perhaps under two of its names, one would be ignored. */
static cli_exit give(const parser *p, const cli_option *o, const char *value) {
    const cli_option *rows = p->command->options;
    const char **given = p->s->given;
    for (size_t i = 0; i < p->noptions && o->store != CLI_LIST; i++)
        if (rows[i].at == o->at && given[i] && strcmp(given[i], value) != 0)
            return cli_usage_error(p->command->name,
                                   "option --%s: '%s' is its value already (--%s), and '%s' would "
                                   "be another",
                                   o->name, given[i], rows[i].name, value);
    given[o - rows] = value;
    return CLI_OK;
}

static cli_exit store(const parser *p, const cli_option *o, const char *value) {
    void *at = (char *)p->s + o->at;
    unsigned index;
    cli_exit e = give(p, o, value ? value : o->store == CLI_OPTIONAL ? o->words[1] : "");
    if (e != CLI_OK)
        return e;
    if (o->store == CLI_FLAG) {
        *(bool *)at = true;
        return CLI_OK;
    }
    if (o->store == CLI_OPTIONAL && !value)
        value = o->words[1];
    if (!*value)
        return refuse(p, o, value, "is empty");
    switch (o->store) {
    case CLI_LIST:
        return !o->words || find_word(o, value, strlen(value), &index)
                   ? append(p, at, value)
                   : refuse_word(p, o, value, strlen(value));
    case CLI_INT:
    case CLI_REAL:
    case CLI_SEED:
        return store_number(p, o, value, at);
    case CLI_WORDS:
        *(const char **)at = value;
        return check_words(p, o, value);
    case CLI_INDEX:
    case CLI_OPTIONAL:
        return find_word(o, value, strlen(value), at) ? CLI_OK
                                                      : refuse_word(p, o, value, strlen(value));
    case CLI_TEXT:
        *(const char **)at = value;
        return !o->words || find_word(o, value, strlen(value), &index)
                   ? CLI_OK
                   : refuse_word(p, o, value, strlen(value));
    case CLI_FLAG:
        break;
    }
    return CLI_OK;
}

/* ---- the command line
 * ----------------------------------------------------------------------------------- */

static bool parser_init(parser *p) {
    const cli_option *rows = p->command->options;
    while (rows[p->noptions].name)
        p->noptions++;
    p->longs = calloc(p->noptions + 1, sizeof *p->longs);
    p->shorts = calloc(2 * p->noptions + 3, 1);
    p->s->given = calloc(p->noptions + 1, sizeof *p->s->given);
    if (!p->longs || !p->shorts || !p->s->given)
        return false;
    char *s = p->shorts;
    *s++ = '-'; /* options and operands in any order, whatever POSIXLY_CORRECT says */
    *s++ = ':'; /* the messages are ours */
    for (size_t i = 0; i < p->noptions; i++) {
        int has_arg = rows[i].store == CLI_OPTIONAL ? optional_argument
                      : rows[i].arg                 ? required_argument
                                                    : no_argument;
        p->longs[i] =
            (struct option){.name = rows[i].name, .has_arg = has_arg, .val = FIRST_ROW + (int)i};
        if (rows[i].letter)
            *s++ = rows[i].letter;
        if (rows[i].letter && rows[i].arg)
            *s++ = ':';
    }
    return true;
}

/* The row of what getopt_long returned or left in optopt; NULL for what is no option. */
static const cli_option *row_of(const parser *p, int code) {
    const cli_option *rows = p->command->options;
    if (code >= FIRST_ROW && code < FIRST_ROW + (int)p->noptions)
        return &rows[code - FIRST_ROW];
    for (size_t i = 0; i < p->noptions; i++)
        if (code && rows[i].letter == code)
            return &rows[i];
    return NULL;
}

static cli_exit refuse_option(const parser *p, int code, char **argv) {
    const char *command = p->command->name;
    const cli_option *o = row_of(p, optopt);
    if (code == ':')
        return cli_usage_error(command, "option --%s needs a value: --%s %s", o->name, o->name,
                               o->arg);
    if (o)
        return cli_usage_error(command, "option --%s takes no value", o->name);
    if (optopt)
        return cli_usage_error(command, "unknown option '-%c'", optopt);
    const char *text = argv[optind - 1];
    return cli_usage_error(command, "unknown or ambiguous option '%.*s'", (int)strcspn(text, "="),
                           text);
}

static cli_exit parse_all(const parser *p, char **argv) {
    cli_exit e = CLI_OK;
    int code;
    while (e == CLI_OK && (code = getopt_long(p->argc, argv, p->shorts, p->longs, NULL)) != -1) {
        const cli_option *o = row_of(p, code);
        if (code == OPERAND)
            e = append(p, &p->s->operands, optarg);
        if (code == OPERAND && p->command->operand == CLI_SCRIPT_FILE)
            break; /* its options are its own */
        if (code == OPERAND)
            continue;
        e = o ? store(p, o, optarg) : refuse_option(p, code, argv);
    }
    while (e == CLI_OK && optind < p->argc)
        e = append(p, &p->s->operands, argv[optind++]);
    return e;
}

static cli_exit check_operands(const cli_command *c, const cli_settings *s) {
    size_t n = s->operands.len;
    if (s->help)
        return CLI_OK;
    if (n < c->min_operands)
        return cli_usage_error(c->name, "an argument is missing: fxscope %s %s", c->name, c->usage);
    if (n > c->max_operands)
        return cli_usage_error(c->name, "surplus argument '%s'",
                               s->operands.items[c->max_operands]);
    for (size_t i = 0; i < n; i++)
        if (c->operand == CLI_MODEL_FILE && !*s->operands.items[i])
            return cli_usage_error(c->name, "the model's file name is empty");
    return CLI_OK;
}

cli_exit cli_parse(const cli_command *c, int argc, char **argv, cli_settings *s) {
    parser p = {.command = c, .argc = argc, .s = s};
    cli_exit e = parser_init(&p) ? parse_all(&p, argv) : cli_no_memory();
    free(p.longs);
    free(p.shorts);
    if (e == CLI_OK)
        e = check_operands(c, s);
    return e == CLI_OK && !s->help ? cli_rules_check(c, s) : e;
}

void cli_settings_free(cli_settings *s) {
    free(s->given);
    free(s->operands.items);
    free(s->inputs.items);
    free(s->outputs.items);
    free(s->passes.items);
    free(s->dump_after.items);
    free(s->split_at.items);
    free(s->collapse.items);
    free(s->expand.items);
    free(s->hide.items);
    free(s->patterns.items);
    free(s->paths.items);
    free(s->arguments.items);
}
