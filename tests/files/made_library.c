/* A library of which programs make versions of their own (runs.c), by writing another number into it. */
static const volatile char version[] = "version 0000";

const char* made_version(void) {
  return (const char*)version;
}
