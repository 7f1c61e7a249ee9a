/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXAMPLES_FORMAT_H
#define EXAMPLES_FORMAT_H

/* Prints records with kcat's format letters: %t topic, %p partition, %o offset, %T timestamp, %k key, %K its length,
 * %s payload, %S its length, %R its length as 4 bytes, %h headers; \n \r \t \\ \0 \xHH; %% for a percent sign. */

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stdio.h>

/* All of that, as a part of a format of printf's. */
#define FORMAT_LETTERS "%%t %%p %%o %%T %%k %%K %%s %%S %%R %%h %%%% \\n \\r \\t \\0 \\\\ \\xHH"

/* NULL: the format can be printed; else where it goes wrong. */
const char *format_fault(const char *format);

/* Writes a record in a format without fault; whether the stream took it is told by ferror(). */
void format_print(FILE *out, const char *format, const rd_kafka_message_t *record);

#endif
