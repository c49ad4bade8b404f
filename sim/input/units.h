/* Numbers with units, read exactly and written back.
 *
 * A quantity is a decimal number and a unit, with at most one space between:
 * `50ns`, `1.5 ms`, `1e9s`, `400Gbit/s`, `80GB`, `4GiB`. The digits are kept as
 * digits and scaled by the unit before the one rounding, so `0.1ns` is exactly
 * 100 ps and no binary fraction ever enters a time. Refused, each with a
 * message: no unit, unknown unit, NaN, infinity, hexadecimal, trailing text,
 * more than does fit, and a time finer than a picosecond.
 *
 * Errors carry no place: callers that know it wrap them.
 */
#ifndef INPUT_UNITS_H
#define INPUT_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "engine/status.h"

/* ps ns us ms s min h d -> whole picoseconds; at most 106 days. */
STATUS_MUST_USE enum status units_time_ps(const char *text, int64_t *time_ps, struct error *error);

/* The same units for long times, as seconds: the double nearest to the decimal value. */
STATUS_MUST_USE enum status units_time_s(const char *text, double *time_s, struct error *error);

/* B/s kB/s MB/s GB/s TB/s PB/s, and bit/s kbit/s .. Pbit/s -> bytes per second. */
STATUS_MUST_USE enum status units_rate(const char *text, double *rate_bytes_per_s, struct error *error);

/* B kB MB GB TB PB, KiB MiB GiB TiB PiB -> bytes. */
STATUS_MUST_USE enum status units_size(const char *text, double *size_bytes, struct error *error);

/* Plain numbers: no unit, finite. An integer may be written `1e6`, but not `1.5`. */
STATUS_MUST_USE enum status units_integer(const char *text, int64_t *value, struct error *error);
STATUS_MUST_USE enum status units_number(const char *text, double *value, struct error *error);

enum { UNITS_TEXT_BYTES = 48 };

/* Text that reads back as the same value, in the largest unit that keeps it short. Writes at most UNITS_TEXT_BYTES. */
void units_format_time_ps(int64_t time_ps, char *text);
void units_format_time_s(double time_s, char *text);
void units_format_rate(double rate_bytes_per_s, char *text);
void units_format_size(double size_bytes, char *text);
void units_format_number(double value, char *text);

#endif
