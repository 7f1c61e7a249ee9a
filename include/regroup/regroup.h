/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REGROUP_H
#define REGROUP_H

/** @file
 * All of regroup, in reading order. */

#include <regroup/error.h>
#include <regroup/assignor.h>
#include <regroup/conf.h>
#include <regroup/member.h>
#include <regroup/consumer.h>

#endif
