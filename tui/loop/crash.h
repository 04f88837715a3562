/*
 * A crash gives the terminal back before it ends the viewer, as it would have
 * ended without this: by the same signal, with the same core file.
 */
#ifndef TUI_LOOP_CRASH_H
#define TUI_LOOP_CRASH_H

// Watch for the signals of a crash from now on, for good.
void crash_install(void);

#endif
