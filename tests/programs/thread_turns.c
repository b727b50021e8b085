/* What --same-thread-order cannot put into an order.

   usage: thread_turns lock|unnamed
     lock     each of two threads calls MPI with a lock of the program in its hands; in replica 1 another one is first
     unnamed  a thread calls MPI that was created past the function that gives it a name */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replica.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t taken;

static void call(void) {
  MPI_Send(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF);
}

static void* call_holding(void* argument) {
  const int first = *(int*)argument == (own_replica() == 1);
  if (!first) sem_wait(&taken);
  pthread_mutex_lock(&lock);
  if (first) sem_post(&taken);
  call();
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void* call_unnamed(void* argument) {
  call();
  return argument;
}

static void call_with_lock(void) {
  int numbers[2] = {0, 1};
  pthread_t threads[2];
  sem_init(&taken, 0, 0);
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, call_holding, &numbers[i]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  for (; own_replica() == 0; usleep(10000)) call(); /* until the other one has said that it waits */
}

static int call_without_name(void) {
  typedef int Create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  void* library = dlopen("libc.so.6", RTLD_NOW);
  Create* create = library ? (Create*)dlsym(library, "pthread_create") : NULL;
  pthread_t thread;
  if (!create || create(&thread, NULL, call_unnamed, NULL) != 0) return 1;
  pthread_join(thread, NULL);
  return 0;
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (argc != 2 || provided != MPI_THREAD_MULTIPLE) return 1;
  int code = 0;
  if (strcmp(argv[1], "lock") == 0)
    call_with_lock();
  else
    code = call_without_name();
  MPI_Finalize();
  return code;
}
