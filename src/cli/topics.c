/* topics.c: what is to be said about more than one command: model files, inputs, exit statuses.
 * Rows that help.c and man.c print. */
#include <string.h>

#include "rules.h"

static const cli_entry models[] = {
    {"FILE.py FILE.py:EXPR",
     "PyTorch source: the file's one network that no other uses, or what the Python expression "
     "gives: a class, a function that builds a network, Net(width=64), a method, net.encode. The "
     "file is run."},
    {"module tree", "What print(model) gives. Layers tell their parameters by their arguments. It "
                    "may be left out when "
                    "the graph calls no modules."},
    {"declarations", "Parameters and buffers that no layer implies, one a line: 'parameter bias: "
                     "torch.float32[1]', "
                     "'buffer blocks.0.mask: torch.bool[1, 64]'."},
    {"graph", "What print(graph) gives, with #users (PyTorch 1) or num_users (PyTorch 2)."},
    {0},
};

static const cli_entry inputs[] = {
    {"1x3x224x224", "A float32 tensor of that shape, filled with normally distributed numbers. "
                    "'scalar' is the shape of "
                    "a tensor without dimensions."},
    {"2x50:int64", "The same with a dtype. Integers are 0 and 1."},
    {"2x50:int64:0..999", "The same with the least and the greatest value."},
    {"@FILE.npy", "A tensor from a NumPy file."},
    {"int:3 float:0.5 bool:true str:TEXT none", "A value that is no tensor."},
    {"[1x3, 1x4] (1x3, none) {ids: 2x50:int64, mask: 2x50}",
     "Several of these as one list, tuple or dict, nested as deep as need be. Keys are words, "
     "whole "
     "numbers, or in quotes; str:'a, b' holds a comma."},
    {"NAME=...", "Any of these for the input called NAME. Without a name: for the next input."},
    {0},
};

static const cli_entry exits[] = {
#define X(name, number, text) {#number, text},
    CLI_EXIT_MAP(X)
#undef X
        {0},
};

static const cli_entry no_entries[] = {{0}};

const cli_topic cli_topics[] = {
    {"models", "model files",
     "A model file is what PyTorch prints, in any order, with blank lines, comments (#) and the "
     "fences of a bug report "
     "(```) between. '-' is standard input. Or it is PyTorch source, which is run: do not read "
     "files that you do not trust.",
     models},
    {"inputs", "values for a model's inputs",
     "Each -i gives one input of the model, in order or by name. The numbers follow from --seed, "
     "and are the same "
     "everywhere.",
     inputs},
    {"effects", "what options need to have an effect",
     "An option that would have no effect is refused; where several outputs are written it is "
     "enough that one of them takes it. Options that are not listed always count; of these "
     "--threads, --timeout, --max-memory and --max-nodes never change what is written. An option "
     "that takes one value may be given again, but not with another value.",
     no_entries, cli_rule_entry},
    {"exit-status", "what the exit status says", "Messages are on standard error.", exits},
    {0},
};

const cli_topic *cli_topic_find(const char *name) {
    for (const cli_topic *t = cli_topics; t->name; t++)
        if (strcmp(t->name, name) == 0)
            return t;
    return NULL;
}
