/* Small helpers for messages: foreign text made fit to print, and likeness of names. */
#ifndef INPUT_TEXT_H
#define INPUT_TEXT_H

#include <stddef.h>

enum { TEXT_SHOW_BYTES = 64 };

/* Writes text into buffer (TEXT_SHOW_BYTES) for a message: cut to a length a reader can take in, and without control
 * characters, so that a file cannot write to the terminal. Returns buffer. */
const char *text_show(const char *text, char *buffer);

/* The same for length bytes, cut to at most `most`; buffer has room for four more. */
const char *text_show_bytes(const char *text, size_t length, size_t most, char *buffer);

/* Line and column, in bytes, of an offset into a text of size bytes; both count from 1. O(offset). */
void text_place(const char *text, size_t size, size_t offset, int *line, int *column);

/* Edits (insert, delete, change, swap of neighbours) from a to b; texts over 63 bytes are infinitely far. O(len a * len
 * b). */
int text_distance(const char *a, const char *b);

/* Looks for the name that a mistyped word was meant to be: set word and limit, offer names, then read nearest: NULL
 * where none is fewer than limit edits away; the first of several that are as near. */
struct text_search {
    const char *word;
    int limit;           /* from the first offer on: the edits of the nearest so far */
    const char *nearest; /* borrowed */
};
void text_offer(struct text_search *search, const char *name);

/* "; did you mean NAME?", or "" where nearest is NULL. Into buffer (TEXT_HINT_BYTES), which is returned. */
enum { TEXT_HINT_BYTES = 96 };
const char *text_hint(const char *nearest, char *buffer);

/* Adds formatted text behind that in buffer, which ends in a NUL; what does not fit is cut off. */
void text_append(char *buffer, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A text that grows as needed. Zero-initialise; text is owned: free it. text_clear empties it. */
struct text_builder {
    char *text; /* NULL before text_clear */
    size_t used, capacity;
};
void text_clear(struct text_builder *builder);
void text_build(struct text_builder *builder, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "a|b|c" as "a, b or c" into buffer; what does not fit is left out. Returns buffer. */
const char *text_alternatives(const char *choices, char *buffer, size_t size);

/* The position of word among the alternatives of "a|b|c", from 0; -1 where it is none of them. */
int text_position(const char *word, const char *choices);

#endif
