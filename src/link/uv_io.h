/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__LINK_UV_IO_H
#define RG__LINK_UV_IO_H

/* io.h on a libuv loop. The loop belongs to the caller, who runs it; nothing here runs it. */

#include "link/io.h"

#include <uv.h>

/* `woken` (may be NULL) runs in the loop after rg__uv_io_wakeup. The wake-up handle keeps the loop alive, so that
 * uv_backend_timeout says how long to sleep. 0, or libuv's
 * error, such as UV_ENOMEM. */
int rg__uv_io_new(uv_loop_t *loop, void (*woken)(void *user), void *user, struct rg__io **ret_io);

/* Makes the loop call `woken` soon, once for any number of calls. Any thread, until rg__uv_io_free. */
void rg__uv_io_wakeup(struct rg__io *io);

/* Timers, lookups, streams and links on it are freed or cancelled before. The memory goes when the loop has closed
 * the handles: run the loop (UV_RUN_DEFAULT returns then) before uv_loop_close. A name lookup that still hangs in
 * the system's resolver does not hold this up. */
void rg__uv_io_free(struct rg__io *io);

#endif
