#ifndef HOLDFAST_VERSION_H
#define HOLDFAST_VERSION_H

/* The version of Holdfast that these headers belong to. Any compiler of C or C++; any thread. */
#define HOLDFAST_VERSION_MAJOR 0
#define HOLDFAST_VERSION_MINOR 1
#define HOLDFAST_VERSION_PATCH 0
#define HOLDFAST_VERSION_STRING "0.1.0"

#endif
