/*
 * inject.so: what gdb loads into a Ruby process that has no probe, so that the
 * process loads one itself. One file for all versions of Ruby: it is linked with
 * none and looks up what it calls.
 *
 * It is called in a thread that gdb stopped anywhere, so it calls no Ruby there. It
 * starts a native thread which asks Ruby, by a postponed job, to run a few lines
 * when that is safe, and wakes the main thread as a signal would: a program that
 * sleeps looks for no jobs. In the job a Ruby thread is made, which loads the probe;
 * a job itself may neither wait nor lock. Both threads end when that is done.
 *
 * What happens is written to the pipe `report` in `folder`, a line each:
 *   reached         the native thread runs
 *   running         the Ruby thread runs
 *   started SOCKET  the probe was started
 *   already SOCKET  it ran before
 *   failed WORDS    it could not be started
 * When nobody reads the pipe any more, the job is taken back: it does nothing then.
 */
#ifndef PROBE_ATTACH_INJECT_H
#define PROBE_ATTACH_INJECT_H

// What the call says; the pipe says the rest.
enum inject_status {
    INJECT_STARTED,
    INJECT_BUSY,     // an earlier one is under way
    INJECT_PIPE,     // the pipe cannot be opened
    INJECT_MISSING,  // this Ruby lacks a function that it takes
    INJECT_ASLEEP,   // Ruby is in the process, but was not started, or ended
    INJECT_NO_THREAD // no native thread can be had
};

// `folder` has the pipe and the settings, `library` the probe's Ruby files.
// context: any, a thread stopped by a debugger, outside the allocator.
int memtop_inject(const char *folder, const char *library);

#endif
