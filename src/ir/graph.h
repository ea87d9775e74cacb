/* graph.h: graphs and nodes. Only graph.c, edit.c and subst.c edit links, users and names.
 * Everything that a graph holds lives in its arena; the tensors in its values are counted and
 * dropped with it. */
#ifndef FXS_IR_GRAPH_H
#define FXS_IR_GRAPH_H

#include "base/map.h"
#include "base/value.h"

typedef struct fxs_user_meta fxs_user_meta; /* user_meta.c */

/* The module that a node's target named when it was last run; see fxs_module_lookup_target. */
typedef struct fxs_found {
    fxs_module *module; /* not counted; NULL: nothing is remembered */
    const char *target;
    uint64_t root, removals;
} fxs_found;

/* What walks over the whole graph read stands together at the front: of a large graph each node is
 * far from the cache. */
struct fxs_node {
    fxs_node *next, *prev; /* circular through the graph's sentinel */
    fxs_kind kind;
    bool erased;  /* unlinked, but its prev and next still lead on, so that a walk that stands on it
                     can go on */
    bool wrapped; /* its function is one that torch.fx.wrap was told of; set by builders */
    uint64_t mark;     /* against graph->stamp: "seen in this walk" */
    fxs_node **inputs; /* each once, in argument order */
    size_t ninputs;
    size_t index; /* position, valid after fxs_graph_number */
    size_t id;    /* counts all nodes that the graph ever had: never changes, keys node maps */

    fxs_node *one_input, *one_user; /* room for one of them */
    fxs_node **users;
    size_t nusers, users_cap;
    fxs_graph *graph;
    const char *name, *target;
    fxs_value args, kwargs; /* a tuple and a dict */
    const char *type;       /* NULL: none */
    const char
        *file; /* that `line` is of, in the arena; NULL: the file that the graph was read from */
    int line;  /* in the file that it was read from, 0 when it was not */
    const char *stack_trace; /* of its call, as Python prints it; in the arena; NULL: none; set by
                                builders */
    const fxs_scope
        *scope; /* the modules whose forward recorded it, in the arena; NULL: it was not traced */
    fxs_user_meta *user_meta; /* in the arena; NULL: none */
    fxs_found found;
    struct fxs_call_plan *plan; /* in the arena (node_plan.h); NULL: it was not run since it was
                                   made or changed */
    fxs_meta meta; /* result's tensors are counted; message and stats live in the arena */
};

typedef struct fxs_pytree fxs_pytree; /* pytree.h */

struct fxs_graph {
    fxs_ctx *ctx;
    fxs_arena arena;
    fxs_node root;      /* the sentinel */
    char *block;        /* room for the next nodes, in the arena */
    size_t block_nodes; /* how many */
    size_t len, placeholders; /* nodes; of them, those of that kind */
    fxs_value no_args, no_kwargs; /* empty, and all nodes share them; none before the first */
    const char *last_target;      /* of the node made last, in the arena */
    size_t last_target_len;
    fxs_map names;      /* every name ever given -> its node; and counters of names.c */
    fxs_map scopes;     /* path and call -> fxs_scope of nodes; path and "@" -> the latest call */
    fxs_pytree *pytree; /* what calls look like where inputs or output are trees, in the
                           arena; NULL: flat */
    fxs_user_meta *user_meta; /* of all nodes that ever had some */
    fxs_code_transform code;  /* what generated code goes through; fn NULL: nothing */
    size_t next_id;
    fxs_node
        *insert_at; /* new nodes go before it (insert_after: behind it); the sentinel: to the end */
    bool insert_after;
    fxs_module *owner; /* the module that took it over; not counted */
};

/* The scope of that path and call, made where it is not there yet; text is copied. */
fxs_status fxs_graph_scope(fxs_graph *g, const fxs_scope *outer, const char *path,
                           const char *class_name, unsigned call, const fxs_scope **out);
/* The scope of one more call of that path. */
FXS_API fxs_status fxs_graph_scope_next(fxs_graph *g, const fxs_scope *outer, const char *path,
                                        const char *class_name, const fxs_scope **out);
/* The same scope of another graph; NULL where it has none. */
const fxs_scope *fxs_graph_scope_find(const fxs_graph *g, const fxs_scope *like);
/* The scope, and all outside of it, in g, made where they are not there yet; NULL for NULL. */
fxs_status fxs_graph_scope_copy(fxs_graph *g, const fxs_scope *from, const fxs_scope **to);
/* The stack of a call that is one line in a forward, as Python prints it. */
void fxs_buf_stack_line(fxs_buf *b, const char *file, int line);
/* Gives every node its position in node->index. */
void fxs_graph_number(fxs_graph *g);
/* Starts a walk: nodes whose mark is not the returned stamp have not been seen. */
uint64_t fxs_graph_stamp(const fxs_graph *g);
/* Finds a node by name; NULL when there is none. Reads every node: for tests and messages. */
fxs_node *fxs_graph_find(const fxs_graph *g, const char *name);
/* Gives a node the recorded facts of another, perhaps of another graph, but no statistics; and
 * those. */
fxs_status fxs_node_copy_meta(fxs_node *to, const fxs_node *from);
/* Behind those that `to` has. */
fxs_status fxs_node_copy_stats(fxs_node *to, const fxs_node *from);
/* Gives a node the user's keys of another; and those that it lacks. */
fxs_status fxs_node_copy_user_meta(fxs_node *to, const fxs_node *from);
fxs_status fxs_node_inherit_user_meta(fxs_node *to, const fxs_node *from);
void fxs_graph_free_user_meta(fxs_graph *g);
/* Forgets what a run recorded. */
void fxs_node_clear_meta(fxs_node *n);

/* A copy of args (a tuple) and kwargs (a dict), NULL for empty, in the graph's arena. */
fxs_status fxs_graph_copy_args(fxs_graph *g, const fxs_value *args, const fxs_value *kwargs,
                               fxs_value *a, fxs_value *k);
/* An empty tuple and an empty dict, which all nodes of g share. */
fxs_status fxs_graph_no_args(fxs_graph *g, fxs_value *out);
fxs_status fxs_graph_no_kwargs(fxs_graph *g, fxs_value *out);
/* Gives n new arguments that already live in its graph's arena, and puts users right. */
fxs_status fxs_node_adopt_args(fxs_node *n, const fxs_value *args, const fxs_value *kwargs);

/* fxs_graph_create_node with arguments that already live in g's arena. */
fxs_status fxs_graph_adopt_node(fxs_graph *g, fxs_kind kind, const char *target,
                                const fxs_value *args, const fxs_value *kwargs, const char *name,
                                const char *type, fxs_node **out);
/* A node that gets its arguments by fxs_node_adopt_args later. Texts end at their length; name and
 * type may be NULL. */
fxs_status fxs_graph_bare_node(fxs_graph *g, fxs_kind kind, const char *target, size_t target_len,
                               const char *name, size_t name_len, const char *type, size_t type_len,
                               fxs_node **out);
/* fxs_graph_node_copy with another target, and another candidate for the name (NULL: made from the
 * target). */
fxs_status fxs_graph_node_copy_as(fxs_graph *g, const fxs_node *n, const char *target,
                                  const char *name, fxs_node_map_fn *map, void *user,
                                  fxs_node **out);

/* names.c: torch.fx's namespace. The candidate becomes legal and unique, and the name of n, which
 * has none yet; it lives in the graph's arena. */
fxs_status fxs_name_create(fxs_node *n, const char *candidate, size_t len);
/* The same in any namespace: `used` holds the names that were given, and lives as long as `a`.
 * `own`: the object that is named is itself what Python calls by the candidate, a builtin or one of
 * torch.fx's globals. */
FXS_API fxs_status fxs_name_unique(fxs_ctx *ctx, fxs_arena *a, fxs_map *used, const char *candidate,
                                   size_t len, bool own, const char **out);
/* Why a name can't be a node's: a keyword, a builtin of Python, a global that torch.fx registers in
 * every graph. */
typedef enum fxs_reserved {
    FXS_NAME_FREE,
    FXS_NAME_KEYWORD,
    FXS_NAME_BUILTIN,
    FXS_NAME_GLOBAL
} fxs_reserved;
fxs_reserved fxs_name_reserved(const char *name);
/* The candidate for a node from its target: last part of a function's qualified name, snake case;
 * in `a`, NULL when memory is out. */
char *fxs_name_candidate(fxs_arena *a, fxs_kind kind, const char *target);
/* That candidate, legal and unique, as n's name. */
fxs_status fxs_name_from_target(fxs_node *n);
/* The node that was given that name, perhaps erased since; NULL: none was. */
fxs_node *fxs_graph_named(const fxs_graph *g, const char *name, size_t len);

/* An fxs_node_text_fn: the node's name. */
void fxs_node_put_name(const fxs_node *n, fxs_buf *out);

#endif
