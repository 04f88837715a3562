// What memtop itself is made of.
#include <stdio.h>

#include <curses.h>
#include <jansson.h>
#include <uv.h>
#include <zstd.h>

#include "tui/doctor/checks.h"
#include "version.h"

void
doctor_check_parts(struct doctor *doctor)
{
    struct doctor_finding *finding = doctor_add(doctor, "memtop", DOCTOR_GOOD);
    snprintf(finding->words, sizeof(finding->words),
             MEMTOP_VERSION " (libuv %s, %s, zstd %s, jansson %s)", uv_version_string(),
             curses_version(), ZSTD_versionString(), jansson_version_str());
}
