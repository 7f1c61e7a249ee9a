/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REGROUP_EXPORT_H
#define REGROUP_EXPORT_H

/** @file
 * RG_API marks what the shared library exports; everything else in it is hidden. */

#if defined(__GNUC__)
#define RG_API __attribute__((visibility("default")))
#else
#define RG_API
#endif

#endif
