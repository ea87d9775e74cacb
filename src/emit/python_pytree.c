/* python_pytree.c: the signature of generated code whose placeholders are the leaves of trees: the
 * parameters of the function that was traced, and the line that takes them apart, as torch.fx
 * writes them. Where torch.fx 1.13's code does not compile, because a default or a type stands in
 * that line, it stands in the signature here. Called by python.c and python_file.c. */
#include <string.h>

#include "emit/python.h"

/* A list that was given has no placeholder to tell a default when it is empty; it is its own. */
static void put_empty(fxs_buf *b, const fxs_value *spec) {
    fxs_buf_puts(b, " = ");
    fxs_buf_repr(b, spec, &(fxs_repr){0});
}

/* Parameters up to the one that begins with the leaf in turn. */
static void put_parameters(fxs_py_tree *t, const char *behind) {
    while (t->param < t->of->nparams && t->next <= t->leaf) {
        const fxs_value *spec = fxs_value_item(&t->of->inputs, t->param);
        size_t n = fxs_pytree_leaves(spec);
        bool defaulted = t->signature.data && strstr(t->signature.data, " = ");
        fxs_buf_printf(&t->signature, "%s%s", t->param ? ", " : "", t->of->params[t->param]);
        if (n && t->next == t->leaf)
            fxs_buf_puts(&t->signature, behind);
        else if (!n && defaulted)
            put_empty(&t->signature, spec);
        t->next += n;
        t->param++;
    }
}

void fxs_py_tree_leaf(fxs_py *p, fxs_py_tree *t, const char *name, const char *behind) {
    put_parameters(t, behind);
    t->leaf++;
    fxs_buf_printf(&t->leaves, "%s, ", name);
    p->failed |= t->leaves.failed || t->signature.failed;
}

void fxs_py_tree_end(fxs_py *p, fxs_py_tree *t) {
    t->leaf = SIZE_MAX;
    put_parameters(t, "");
    if (t->of->bound || t->leaves.len) {
        fxs_buf_printf(&t->line, "    %s%s= fx_pytree.tree_flatten_spec([",
                       t->of->bound ? "self, " : "", t->leaves.len ? t->leaves.data : "");
        const char *before = "";
        if (t->of->bound) {
            fxs_buf_puts(&t->line, "self");
            before = ", ";
        }
        for (size_t i = 0; i < t->of->nparams; i++) {
            const char *name = t->of->params[i];
            fxs_buf_printf(&t->line, "%s%s", before, name + strspn(name, "*"));
            before = ", ";
        }
        fxs_buf_puts(&t->line, "], self._in_spec)\n");
    }
    p->failed |= t->line.failed || t->signature.failed;
}

void fxs_py_tree_free(fxs_py_tree *t) {
    fxs_buf_free(&t->signature);
    fxs_buf_free(&t->leaves);
    fxs_buf_free(&t->line);
}

/* ---- specs
 * -----------------------------------------------------------------------------------------------
 */

static void put_tree(fxs_buf *b, const fxs_value *spec) {
    bool dict = spec->tag == FXS_V_DICT, list = spec->tag == FXS_V_LIST;
    size_t n = fxs_value_len(spec);
    if (!fxs_pytree_container(spec)) {
        fxs_buf_putc(b, '0');
        return;
    }
    fxs_buf_putc(b, dict ? '{' : list ? '[' : '(');
    for (size_t i = 0; i < n; i++) {
        fxs_buf_puts(b, i ? ", " : "");
        if (dict) {
            fxs_buf_repr(b, fxs_value_key(spec, i), &(fxs_repr){0});
            fxs_buf_puts(b, ": ");
        }
        put_tree(b, fxs_value_item(spec, i));
    }
    fxs_buf_puts(b, dict ? "}" : list ? "]" : n == 1 ? ",)" : ")");
}

/* By an example of each tree: the constructors of specs are not the same in all versions. */
void fxs_py_tree_specs(fxs_buf *b, const fxs_pytree *t) {
    fxs_buf_puts(b, "self._in_spec = pytree.tree_flatten((");
    fxs_buf_puts(b, t->bound ? "0, " : "");
    for (size_t i = 0; i < t->nparams; i++) {
        put_tree(b, fxs_value_item(&t->inputs, i));
        fxs_buf_puts(b, i + 1 < t->nparams ? ", " : ",");
    }
    fxs_buf_puts(b, "))[1]\nself._out_spec = pytree.tree_flatten(");
    put_tree(b, &t->output);
    fxs_buf_puts(b, ")[1]\n");
}
