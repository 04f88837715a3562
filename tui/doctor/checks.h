/*
 * The checks, and what they add to the findings.
 */
#ifndef TUI_DOCTOR_CHECKS_H
#define TUI_DOCTOR_CHECKS_H

#include "tui/doctor/doctor.h"

// A place for a finding; the last one is used again when there are too many.
struct doctor_finding *doctor_add(struct doctor *doctor, const char *name,
                                  enum doctor_state state);

void doctor_check_ruby(struct doctor *doctor);     // is there one, does the probe load
void doctor_check_machine(struct doctor *doctor);  // folder, gdb, permission, editor
void doctor_check_terminal(struct doctor *doctor); // can it show the viewer, and how well
void doctor_check_parts(struct doctor *doctor);    // memtop and its libraries

#endif
