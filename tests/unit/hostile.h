/* hostile.h: a network whose texts are what a writer of pictures may trip over: syntax of every
 * format, scripts, quotes, control and direction characters, bytes that are no UTF-8, stacks of
 * accents, very long ones. */
#ifndef FXS_TESTS_HOSTILE_H
#define FXS_TESTS_HOSTILE_H

#include "ir/graph.h"
#include "render_testing.h"

#define ACCENTS5 "\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81"

static const char *const hostile[] = {"end",
                                      "graph",
                                      "subgraph",
                                      "flowchart",
                                      "class",
                                      "click",
                                      "style",
                                      "linkStyle 0",
                                      "default",
                                      "style:\"a\"",
                                      "classDef x fill:#f00;",
                                      "%%{init: {\"theme\": \"dark\"}}%%",
                                      "%% comment",
                                      "---",
                                      "-->",
                                      "A --- B",
                                      "a|b|c",
                                      "a(b)c",
                                      "[a](http://b)",
                                      "[a]: b",
                                      "{{a}}",
                                      "((a))",
                                      "a\"]:::b",
                                      "1. one",
                                      "- one",
                                      "# one",
                                      "> one",
                                      "`code`",
                                      "**bold**",
                                      "_a_",
                                      "__a__",
                                      "snake_case_",
                                      "~~a~~",
                                      "$$x^2$$",
                                      "$\\alpha$",
                                      "\\n",
                                      "\\",
                                      "\\\\",
                                      "\\end{document}",
                                      "\\input{/etc/hosts}",
                                      "^^41",
                                      "%",
                                      "#",
                                      "#35;",
                                      "#quot;",
                                      "&amp;",
                                      "&#1;",
                                      "&",
                                      "<",
                                      ">",
                                      "\"",
                                      "'",
                                      "''",
                                      "``",
                                      "--",
                                      ",,",
                                      "<<a>>",
                                      "?`",
                                      "!`",
                                      "~",
                                      "^",
                                      "{",
                                      "}",
                                      "]]>",
                                      "--><!--",
                                      "<b>bold</b>",
                                      "<br/>",
                                      "<script>alert(1)</script>",
                                      "</script>",
                                      "</text></svg>",
                                      "fa:fa-ban",
                                      "%name%",
                                      "a\nb",
                                      "\t",
                                      "\x01",
                                      "\x1b[31m",
                                      "\xff",
                                      "\xc3",
                                      "\xed\xa0\x80",
                                      "\xe2\x80\xae!",
                                      "\xe4\xb8\xad\xe6\x96\x87",
                                      "\xf0\x9f\x98\x80",
                                      "na\xc3\xafve",
                                      "\xc3\x97 \xe2\x86\x92 \xe2\x80\xa6",
                                      "\xce\xb1",
                                      "",
                                      " ",
                                      "  a  b  ",
                                      "float32[1, 64]",
                                      "*a*b*",
                                      "@{a: b}",
                                      "a;b",
                                      "a:b::c",
                                      "%s%n",
                                      "${x}",
                                      "__proto__",
                                      "constructor",
                                      "x@y",
                                      "http://a.b/c",
                                      "www.a.b",
                                      "a@b.cd",
                                      "</script><script>alert(1)</script>",
                                      "<img src=x onerror=alert(1)>",
                                      "</style><svg onload=alert(1)>",
                                      "javascript:alert(1)",
                                      "\\input{/etc/passwd}",
                                      "\\write18{id}",
                                      "$x$",
                                      "\\N\\G\\l",
                                      "\"];} digraph{",
                                      "e" ACCENTS5 ACCENTS5 ACCENTS5 ACCENTS5,
                                      ACCENTS5,
                                      "\xe2\x81\xa6"
                                      "a\xe2\x81\xa9",
                                      "\xd8\x9c"
                                      "a",
                                      "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d 1",
                                      "a\xc2\xad"
                                      "b",
                                      "\xf3\xa0\x80\x81"
                                      "a",
                                      "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7",
                                      "\xef\xbf\xbe\xef\xbf\xbf",
                                      "\x7f\xc2\x85"};
enum { NHOSTILE = sizeof hostile / sizeof *hostile, NLARGE = 3 };

/* What goes on for long: of one character, of words, of accents. */
static inline const char *hostile_large(size_t i) {
    static char large[NLARGE][20001];
    static const char *const pieces[NLARGE] = {"<", "word ]]> ", "e" ACCENTS5};
    static const size_t lengths[NLARGE] = {20000, 10000, 11000};
    for (size_t at = 0, n = strlen(pieces[i]); at + n <= lengths[i]; at += n)
        memcpy(large[i] + at, pieces[i], n);
    return large[i];
}

/* Each text as a name, a target, an argument, a result, a message; every second one also as the
 * path and class of a module around, and without what makes an identifier of a name. */
static inline fxs_module *hostile_module(fxs_ctx *ctx) {
    fxs_module *m = new_graph_module(ctx, "M<&\"'\\\x01>%_#{}$");
    const fxs_scope *root, *scope;
    fxs_node *before = NULL;
    assert_ok(ctx, fxs_graph_scope(m->graph, NULL, "", "M", 0, &root));
    for (size_t i = 0; i < NHOSTILE + NLARGE; i++) {
        const char *text = i < NHOSTILE ? hostile[i] : hostile_large(i - NHOSTILE);
        fxs_value use = make_str(ctx, text);
        fxs_node *n = add_node(m, FXS_CALL_FUNCTION, *text ? text : "empty",
                               before ? TUPLE(ctx, fxs_of_node(before), use) : ONE(ctx, use), text);
        assert_ok(ctx, fxs_graph_scope(m->graph, root, text, text, 0, &scope));
        if (i % 2 && !fxs_graph_find(m->graph, text))
            n->name = fxs_arena_dup(&m->graph->arena, text, strlen(text));
        n->scope = i % 2 && *text ? scope : root;
        if (i % 2)
            set_message(n, i % 4 == 1 ? FXS_FAILED : FXS_UNKNOWN, text);
        else
            set_done(n, make_str(ctx, text));
        before = n;
    }
    return m;
}

#endif
