/*
 * Where the process tells memtop how far it is: a folder that nobody but its user can
 * enter, with a pipe to read from and the settings to start the probe with.
 *
 * Happy path: a line for each stage comes through the pipe.
 *
 * Failure modes: the process ends (known at once); nothing comes within the patience;
 * a signal wants to end us. The pipe is then closed, by which the process knows that
 * it is to do nothing. What comes is believed in nothing: it is cut, and made fit to
 * be shown.
 */
#ifndef TUI_ATTACH_MEETING_H
#define TUI_ATTACH_MEETING_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>

#include "tui/attach/facts.h"

#define MEETING_WORDS 1024

enum meeting_stage {
    MEETING_NOTHING,
    MEETING_REACHED,
    MEETING_RUNNING,
    MEETING_STARTED, // words: the socket
    MEETING_ALREADY, // words: the socket
    MEETING_FAILED,  // words: why
    MEETING_GONE,
};

struct attach_setting;

struct meeting {
    char folder[PATH_MAX];
    int pipe_fd;    // owned
    int process_fd; // owned; -1 where the system has none
    int signal_fd;  // owned
    sigset_t before;
    bool interrupted;
    enum meeting_stage stage;
    char words[MEETING_WORDS];
    char line[MEETING_WORDS]; // that is not complete
    size_t length;
};

// Make it, for the process's user to enter. False with errno. From here to
// meeting_close() signals that would end us wait.
bool meeting_open(struct meeting *meeting, const struct facts *facts,
                  const struct attach_setting *settings);

// Until the last stage, or as long as the patience lasts.
void meeting_wait(struct meeting *meeting, double patience_s,
                  void (*progress)(const char *words));

// Do nothing for so long.
void meeting_rest(struct meeting *meeting, int ms);

void meeting_close(struct meeting *meeting);

#endif
