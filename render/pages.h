/* pages.h: a picture on pages of paper: which part of it stands on which page, and where its lines
 * go on. Reads places alone; canvas_pages.c paints. */
#ifndef FXS_RENDER_PAGES_H
#define FXS_RENDER_PAGES_H

#include "scene.h"

typedef enum fxs_page_side {
    FXS_PAGE_TOP,
    FXS_PAGE_BOTTOM,
    FXS_PAGE_LEFT,
    FXS_PAGE_RIGHT,
    FXS_PAGE_SIDES
} fxs_page_side;

/* A line that crosses a page's border, and the end of it that is elsewhere; or a frame that began
 * on another page, where the only text is its name. */
typedef struct fxs_page_ref {
    size_t frame; /* its cluster; 0: this is of a line */
    fxs_page_side side;
    double at;      /* along that side, in the scene */
    double until;   /* the last line that it stands for: more than one where there are many */
    bool leaves;    /* else it enters */
    size_t node;    /* the end elsewhere, on the nearest page when there are several */
    size_t page;    /* where that is */
    size_t others;  /* further nodes that the line goes to or comes from */
    double place;   /* along the side, on paper */
    double half;    /* of its arrow's width: less where lines are close */
    double text_at; /* where its text begins, along the side on paper */
    double width;   /* of its text */
    int line;       /* of the text, counted from the border; -1: no room */
    int form;       /* 0: "to page 5: name", 1: "5"; the whole or the first part of a frame's */
} fxs_page_ref;

/* What a reference covers on paper; empty: there is none. */
typedef struct fxs_ref_shape {
    fxs_area mark;   /* the line goes on a little, then its arrow */
    fxs_area leader; /* from there to a text that is further out */
    fxs_area text;
} fxs_ref_shape;

typedef enum fxs_piece_form {
    FXS_PIECE_HIDDEN,  /* a sliver that says nothing is not shown */
    FXS_PIECE_OUTLINE, /* as small as that, but a line begins or ends there */
    FXS_PIECE_NUMBER,  /* "5" */
    FXS_PIECE_PAGE     /* "page 5" */
} fxs_piece_form;

/* What this page shows of a box that is whole on another one: its outline, open where it goes on,
 * and where it is. A box that is nowhere whole has none: its parts are all there is of it. */
typedef struct fxs_page_piece {
    size_t node;
    fxs_area seen, at; /* in the scene, its line included; on paper */
    fxs_piece_form form;
    bool turned;  /* the text is read from below */
    double width; /* of the text */
} fxs_page_piece;

typedef struct fxs_page {
    fxs_area area; /* of the scene */
    size_t band;   /* pages of one band stand side by side (below each other when the picture goes
                      to the right) */
    fxs_page_ref *refs;
    fxs_page_piece *pieces;
    size_t nrefs, npieces;
} fxs_page;

typedef struct fxs_pages {
    fxs_arena arena;
    const fxs_scene *scene;
    double scale;    /* points of paper a point of the scene */
    double w, h;     /* of the paper */
    fxs_area inside; /* where the picture is on it */
    fxs_page *pages;
    size_t n, nbands;
    size_t wide;        /* pages of the widest band */
    size_t *page_of;    /* by node */
    int frame_lines;    /* of texts above the picture, for frames that go on */
    size_t boxes;       /* that are cut, since they do not fit */
    const char **names; /* by node, clean; made for those that refs name */
} fxs_pages;

enum {
    FXS_PAGE_MARGIN = 18, /* of paper, at most; on small pages less */
    FXS_PAGE_ZONE = 30,   /* between margin and picture: where lines go on */
    FXS_PAGE_FOOT = 14,
    FXS_PAGE_LINES = 3, /* of texts in the zone */
    FXS_PAGE_LINE = 8,  /* height of one */
    FXS_PAGE_TICK = 5,  /* how far a line goes on into the zone */
    FXS_PAGE_ARROW = 5, /* length of the arrow behind that, and its width where there is room */
    FXS_PAGES_AROUND =
        12 /* of the scene: beside what a page shows, when the blank part is cut off */
};
#define FXS_PAGE_TEXT 0.7 /* of the size of other texts */

/* Where the picture is on paper of that size. */
fxs_area fxs_pages_inside(double w, double h);
/* FXS_OK or FXS_ENOMEM; fxs_pages_free also then. */
fxs_status fxs_pages_make(const fxs_scene *s, double scale, double w, double h, fxs_pages *out);
void fxs_pages_free(fxs_pages *p);
/* Number of a page as it is printed: the overview is page 1. */
size_t fxs_page_number(const fxs_pages *p, size_t page);
/* Finds the references of all pages, whose areas are known, and places their texts. FXS_OK or
 * FXS_ENOMEM. */
fxs_status fxs_page_refs(fxs_pages *p);
/* Finds the pieces of all pages, whose areas are known, and chooses what is shown of them. FXS_OK
 * or FXS_ENOMEM. */
fxs_status fxs_page_pieces(fxs_pages *p);
/* Returns how long the text is. */
size_t fxs_page_piece_text(const fxs_pages *p, const fxs_page_piece *piece, bool number, char *out,
                           size_t room);
/* Distance from the border to the middle of a text in that line. */
double fxs_page_line_at(int line);
fxs_ref_shape fxs_page_ref_shape(const fxs_pages *p, size_t page, const fxs_page_ref *r);
/* The text of a reference, its form chosen; in `text`. */
void fxs_page_ref_text(const fxs_pages *p, const fxs_page_ref *r, int form, fxs_buf *text);
/* From the scene to a page's paper. */
fxs_point fxs_page_place(const fxs_pages *p, size_t page, fxs_point at);

#endif
