/* completion.c: `fxscope completion bash`: rows of commands and options become a script for bash.
 * Where it offers nothing, bash offers file names. The build installs it. */
#include <string.h>

#include "say.h"

static void put_words(const char *const *words) {
    for (size_t i = 0; words[i]; i++)
        cli_out("%s%s", i ? " " : "", words[i]);
}

static void put_options(const cli_option *o) {
    for (const char *gap = ""; o->name; o++, gap = " ") {
        if (o->letter)
            cli_out("%s-%c", gap, o->letter);
        cli_out("%s--%s", o->letter ? " " : gap, o->name);
    }
}

/* Patterns for the words `command previous` behind which the option's value is due. */
static void put_value_case(const cli_command *c, const cli_option *o) {
    cli_out("    '%s --%s'", c->name, o->name);
    if (o->letter)
        cli_out(" | '%s -%c'", c->name, o->letter);
    if (strcmp(o->arg, "FILE") == 0) {
        cli_out(") return ;;\n");
        return;
    }
    cli_out(") %s='", o->store == CLI_WORDS ? "list" : "words");
    if (o->words)
        put_words(o->words);
    cli_out("' value=1 ;;\n");
}

static void put_names(void) {
    for (const cli_command *const *c = cli_commands; *c; c++)
        cli_out("%s%s", c == cli_commands ? "" : " ", (*c)->name);
}

static void put_operand_case(const cli_command *c) {
    cli_out("    %s) options='", c->name);
    put_options(c->options);
    cli_out("'");
    if (c->operand == CLI_COMMAND_NAME) {
        cli_out(" words='");
        put_names();
        for (const cli_topic *t = cli_topics; t->name; t++)
            cli_out(" %s", t->name);
        cli_out("'");
    } else if (c->operand == CLI_SHELL_NAME) {
        cli_out(" words='bash'");
    }
    cli_out(" ;;\n");
}

/* The words are single words, and file names never come from here: splitting is what is wanted. */
static const char head[] =
    "# shellcheck disable=SC2207\n"
    "# Completion of fxscope in bash; printed by 'fxscope completion bash'.\n"
    "_fxscope() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev command=${COMP_WORDS[1]}\n"
    "    local words list options value before\n"
    "    COMPREPLY=()\n"
    "    ((COMP_CWORD)) && prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    # --theme=dark comes as three words\n"
    "    if [[ $cur == '=' ]]; then\n"
    "        cur=\n"
    "    elif [[ $prev == '=' ]] && ((COMP_CWORD > 2)); then\n"
    "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    fi\n";

static const char tail[] =
    "    if [[ -n $list ]]; then\n"
    "        [[ $cur == *,* ]] && before=${cur%,*},\n"
    "        COMPREPLY=($(compgen -P \"$before\" -W \"$list\" -- \"${cur##*,}\"))\n"
    "    elif [[ -z $value && $cur == -* ]]; then\n"
    "        COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
    "    elif [[ -n $words ]]; then\n"
    "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
    "    fi\n"
    "}\n"
    "complete -o bashdefault -o default -F _fxscope fxscope\n";

static void put_script(void) {
    cli_out("%s    if ((COMP_CWORD == 1)); then\n        options='", head);
    put_options(cli_main.options);
    cli_out("' words='");
    put_names();
    cli_out("'\n    fi\n    ((COMP_CWORD > 1)) && case $command in\n");
    for (const cli_command *const *c = cli_commands; *c; c++)
        put_operand_case(*c);
    cli_out("    esac\n    ((COMP_CWORD > 2)) && case \"$command $prev\" in\n");
    for (const cli_command *const *c = cli_commands; *c; c++)
        for (const cli_option *o = (*c)->options; o->name; o++)
            if (o->arg)
                put_value_case(*c, o);
    cli_out("    esac\n%s", tail);
}

static cli_exit run_completion(const cli_settings *s) {
    const char *shell = s->operands.items[0];
    if (strcmp(shell, "bash") != 0)
        return cli_usage_error("completion", "there is no completion for '%s', only for bash",
                               shell);
    put_script();
    return CLI_OK;
}

static const cli_option options[] = {CLI_HELP_ROW, {0}};

const cli_command cli_completion = {
    .name = "completion",
    .usage = "bash",
    .summary = "print a script that completes commands in a shell",
    .details = "Prints a script for bash, which completes commands, options, and the words that "
               "options take.",
    .example = "source <(fxscope completion bash)",
    .options = options,
    .operand = CLI_SHELL_NAME,
    .min_operands = 1,
    .max_operands = 1,
    .run = run_completion,
};
