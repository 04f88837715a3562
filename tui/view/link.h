/*
 * Where the data comes from, as the loop knows it.
 */
#ifndef TUI_VIEW_LINK_H
#define TUI_VIEW_LINK_H

enum link_state {
    LINK_CONNECTING,   // never connected yet
    LINK_LIVE,         // connected, frames arrive
    LINK_RECONNECTING, // was connected; trying again
    LINK_GONE,         // the process is gone; trying again
};

#endif
