#include "tui/loop/crash.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "tui/term/screen.h"

#define CRASH_STACK_BYTES (64 * 1024)

// Async-signal-safe: nothing but screen_rescue(), write() and raise().
static void
on_crash(int number)
{
    static const char words[] =
        "memtop crashed; the program it watched goes on. Please report this.\n";

    screen_rescue();
    ssize_t ignored = write(STDERR_FILENO, words, sizeof(words) - 1);
    (void)ignored;
    // SA_RESETHAND: this one ends the viewer
    raise(number);
}

void
crash_install(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS};
    // a stack that overflowed cannot run the handler
    static char stack[CRASH_STACK_BYTES];
    const stack_t spare = {.ss_sp = stack, .ss_size = sizeof(stack)};
    struct sigaction action = {.sa_handler = on_crash,
                               .sa_flags = (int)(SA_ONSTACK | SA_RESETHAND | SA_NODEFER)};

    sigaltstack(&spare, NULL);
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        sigaction(numbers[i], &action, NULL);
    }
}
