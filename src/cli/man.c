/* man.c: `fxscope man`: rows of commands, options and topics become a manual page in roff. The
 * build installs it. */
#include <ctype.h>
#include <string.h>

#include "say.h"

/* Text as roff shows it unchanged. At the beginning of a line '.' and ''' would be requests. */
static void put_roff(const char *text, size_t len) {
    bool begins = true;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (begins && (c == '.' || c == '\''))
            cli_out("\\&");
        if (c == '\\')
            cli_out("\\e");
        else if (c == '-')
            cli_out("\\-");
        else if (c == '\'')
            cli_out("\\(aq");
        else if (c == '`')
            cli_out("\\(ga");
        else if (c == '^')
            cli_out("\\(ha");
        else if (c == '~')
            cli_out("\\(ti");
        else
            cli_out_bytes(&c, 1);
        begins = c == '\n';
    }
}

static void put(const char *text) { put_roff(text, strlen(text)); }

/* A macro with the text as its one argument: .SH "EXIT STATUS" */
static void macro(const char *name, const char *text, bool upper) {
    cli_out(".%s \"", name);
    for (; *text; text++) {
        char c = upper ? (*text == '-' ? ' ' : (char)toupper((unsigned char)*text)) : *text;
        if (c == '"')
            cli_out("\\(dq");
        else
            put_roff(&c, 1);
    }
    cli_out("\"\n");
}

/* Line feeds between paragraphs. */
static void put_paragraphs(const char *text) {
    while (*text) {
        size_t len = strcspn(text, "\n");
        put_roff(text, len);
        cli_out("\n");
        text += len;
        if (*text == '\n') {
            cli_out(".PP\n");
            text++;
        }
    }
}

static void put_option(const cli_option *o) {
    cli_out(".TP\n\\fB");
    if (o->letter)
        cli_out("\\-%c\\fR, \\fB", o->letter);
    cli_out("\\-\\-");
    put(o->name);
    cli_out("\\fR");
    if (o->arg) {
        cli_out(o->store == CLI_OPTIONAL ? "[=\\fI" : " \\fI");
        put(o->arg);
        cli_out(o->store == CLI_OPTIONAL ? "\\fR]" : "\\fR");
    }
    cli_out("\n");
    put(o->help);
    cli_out(".\n");
    for (size_t i = 0; o->words && o->words[i]; i++) {
        cli_out("%s\\fB", i ? ", " : o->store == CLI_WORDS ? "Any of " : "One of ");
        put(o->words[i]);
        cli_out("\\fR");
    }
    if (o->words)
        cli_out(".\n");
}

static void put_command(const cli_command *c) {
    cli_out(".SS \"fxscope %s\"\n.B fxscope %s\n", c->name, c->name);
    if (*c->usage) {
        put(c->usage);
        cli_out("\n");
    }
    cli_out(".PP\n");
    put_paragraphs(c->details);
    for (const cli_option *o = c->options; o->name; o++)
        put_option(o);
}

static void put_examples(void) {
    cli_out(".SH EXAMPLES\n");
    for (const cli_command *const *c = cli_commands; *c; c++) {
        if (!(*c)->example)
            continue;
        cli_out(".PP\n.nf\n");
        put((*c)->example);
        cli_out("\n.fi\n");
    }
}

static void put_entry(const char *term, const char *text) {
    cli_out(".TP\n\\fB");
    put(term);
    cli_out("\\fR\n");
    put(text);
    cli_out("\n");
}

static void put_topic(const cli_topic *t) {
    macro("SH", t->name, true);
    put(t->intro);
    cli_out("\n");
    for (const cli_entry *e = t->entries; e->term; e++)
        put_entry(e->term, e->text);
    char term[CLI_ENTRY_ROOM], text[CLI_ENTRY_ROOM];
    for (size_t i = 0; t->more && t->more(i, term, sizeof term, text, sizeof text); i++)
        put_entry(term, text);
}

static cli_exit run_man(const cli_settings *s) {
    (void)s;
    cli_out(
        ".\\\" Printed by 'fxscope man'.\n.TH FXSCOPE 1 \"\" \"fxscope %s\" \"User Commands\"\n",
        fxs_version());
    cli_out(".SH NAME\nfxscope \\- ");
    put(cli_main.summary);
    cli_out("\n.SH SYNOPSIS\n.B fxscope\n");
    put(cli_main.usage);
    cli_out("\n.SH DESCRIPTION\n");
    put_paragraphs(cli_main.details);
    for (const cli_option *o = cli_main.options; o->name; o++)
        put_option(o);
    cli_out(".SH COMMANDS\n");
    for (const cli_command *const *c = cli_commands; *c; c++)
        put_command(*c);
    for (const cli_topic *t = cli_topics; t->name; t++)
        put_topic(t);
    put_examples();
    return CLI_OK;
}

static const cli_option options[] = {CLI_HELP_ROW, {0}};

const cli_command cli_man = {
    .name = "man",
    .usage = "",
    .summary = "print the manual page",
    .details = "Prints the manual page in roff.",
    .example = "fxscope man | man -l -",
    .options = options,
    .operand = CLI_NOTHING,
    .min_operands = 0,
    .max_operands = 0,
    .run = run_man,
};
