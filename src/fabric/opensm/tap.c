/* An event plugin that OpenSM 3.3 loads (event_plugin_name): it times the routing engine and, when the switches have
 * their tables, writes what the subnet manager decided to a file. OpenSM has text dumps for the forwarding tables
 * alone, 459 MB for 5,832 hosts, and none for the service levels of paths, which only the engine's path_sl() knows.
 *
 * Environment: HOLDFAST_TAP_FD, an open pipe that gets a line an event; HOLDFAST_TAP_FOLDER, where snapshots go.
 * Lines: "sweep", "route", "refused CODE", "routed FILE", "up". snapshot.h describes the file.
 *
 * OpenSM calls report() and the engine from its state manager's thread, one at a time, so that nothing here is locked;
 * the CPU clock of that thread is the time that the engine itself took. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <opensm/osm_config.h> /* first: it decides the layout of osm_opensm_t */

#include <opensm/osm_opensm.h>
#include <opensm/osm_switch.h>
#include <opensm/osm_version.h>

static osm_opensm_t* opensm;
static osm_routing_engine_t engine; /* as OpenSM set it up */
static int wrapped;
static int pipe_fd = -1;
static const char* folder;
static unsigned snapshots;

struct clocks {
  int64_t cpu_ns;
  int64_t wall_ns;
};
static struct clocks matrices_time, tables_time;

static int64_t nanoseconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static struct clocks read_clocks(void) {
  struct clocks now = {nanoseconds(CLOCK_THREAD_CPUTIME_ID), nanoseconds(CLOCK_MONOTONIC)};
  return now;
}

static struct clocks since(struct clocks start) {
  struct clocks now = read_clocks();
  now.cpu_ns -= start.cpu_ns;
  now.wall_ns -= start.wall_ns;
  return now;
}

static void say(const char* text) {
  size_t length = strlen(text);
  if (pipe_fd >= 0 && write(pipe_fd, text, length) != (ssize_t)length) pipe_fd = -1;
}

static void say_refused(int code) {
  char text[40];
  snprintf(text, sizeof text, "refused %d\n", code);
  say(text);
}

/* What ucast_mgr_route() does where an engine leaves a step to the defaults, timed. A step that the engine has and that
 * answers above 0 makes OpenSM write minhop's tables in the engine's name: that is a refusal too. */
static int build_lid_matrices(void* context) {
  struct clocks start;
  int answer = 1;
  say("route\n");
  start = read_clocks();
  if (engine.build_lid_matrices) answer = engine.build_lid_matrices(context);
  if (answer > 0) answer = opensm->default_routing_engine->build_lid_matrices(opensm->default_routing_engine->context);
  matrices_time = since(start);
  if (answer < 0) say_refused(answer);
  return answer;
}

static int build_tables(void* context) {
  struct clocks start = read_clocks();
  int answer = 1;
  if (engine.ucast_build_fwd_tables) {
    answer = engine.ucast_build_fwd_tables(context);
    if (answer > 0) say_refused(answer);
  }
  if (answer > 0)
    answer = opensm->default_routing_engine->ucast_build_fwd_tables(opensm->default_routing_engine->context);
  tables_time = since(start);
  if (answer < 0) say_refused(answer);
  return answer;
}

static void wrap_engine(void) {
  osm_routing_engine_t* first = opensm->routing_engine_list;
  if (wrapped) return;
  if (!first) {
    say_refused(-1); /* its setup failed */
    return;
  }
  engine = *first;
  first->build_lid_matrices = build_lid_matrices;
  first->ucast_build_fwd_tables = build_tables;
  wrapped = 1;
}

static void put(FILE* file, const void* bytes, size_t size) {
  fwrite(bytes, 1, size, file);
}
static void put8(FILE* file, uint8_t value) {
  put(file, &value, 1);
}
static void put16(FILE* file, uint16_t value) {
  put(file, &value, 2);
}
static void put32(FILE* file, uint32_t value) {
  put(file, &value, 4);
}
static void put64(FILE* file, uint64_t value) {
  put(file, &value, 8);
}

static osm_port_t* next_port(osm_port_t* port) {
  cl_map_item_t* item = port ? cl_qmap_next(&port->map_item) : cl_qmap_head(&opensm->subn.port_guid_tbl);
  return item == cl_qmap_end(&opensm->subn.port_guid_tbl) ? NULL : (osm_port_t*)item;
}

static osm_switch_t* next_switch(osm_switch_t* sw) {
  cl_map_item_t* item = sw ? cl_qmap_next(&sw->map_item) : cl_qmap_head(&opensm->subn.sw_guid_tbl);
  return item == cl_qmap_end(&opensm->subn.sw_guid_tbl) ? NULL : (osm_switch_t*)item;
}

static int is_switch(const osm_port_t* port) {
  return osm_node_get_type(port->p_node) == IB_NODE_TYPE_SWITCH;
}

static void put_ports(FILE* file) {
  for (osm_port_t* port = next_port(NULL); port; port = next_port(port)) {
    put64(file, cl_ntoh64(osm_node_get_node_guid(port->p_node)));
    put16(file, cl_ntoh16(osm_port_get_base_lid(port)));
    put8(file, is_switch(port) ? 0 : osm_physp_get_port_num(port->p_physp));
    put8(file, osm_port_get_lmc(port));
  }
}

static void put_switches(FILE* file) {
  for (osm_switch_t* sw = next_switch(NULL); sw; sw = next_switch(sw)) {
    put64(file, cl_ntoh64(osm_node_get_node_guid(sw->p_node)));
    put16(file, sw->max_lid_ho);
    put8(file, (uint8_t)(sw->num_ports - 1));
    put8(file, 0);
    put(file, sw->lft, sw->max_lid_ho + 1u);
  }
}

/* A row for each adapter LID, in the order of the ports: a byte for each LID of the same list. */
static void put_levels(FILE* file) {
  osm_routing_engine_t* used = opensm->routing_engine_used;
  for (osm_port_t* from = next_port(NULL); from; from = next_port(from)) {
    if (is_switch(from)) continue;
    uint16_t first_from = cl_ntoh16(osm_port_get_base_lid(from));
    for (unsigned source = first_from; source < first_from + (1u << osm_port_get_lmc(from)); ++source) {
      for (osm_port_t* to = next_port(NULL); to; to = next_port(to)) {
        if (is_switch(to)) continue;
        uint16_t first_to = cl_ntoh16(osm_port_get_base_lid(to));
        for (unsigned target = first_to; target < first_to + (1u << osm_port_get_lmc(to)); ++target)
          put8(file, from == to
                         ? 0
                         : used->path_sl(used->context, 0, cl_hton16((uint16_t)source), cl_hton16((uint16_t)target)));
      }
    }
  }
}

/* By switch, port in (0 first), port out (1 first): the 16 nibbles of the SL to VL table. */
static void put_lane_maps(FILE* file) {
  static const uint8_t absent[8];
  for (osm_switch_t* sw = next_switch(NULL); sw; sw = next_switch(sw))
    for (unsigned in = 0; in < sw->num_ports; ++in)
      for (unsigned out = 1; out < sw->num_ports; ++out) {
        osm_physp_t* port = osm_node_get_physp_ptr(sw->p_node, out);
        put(file, port ? osm_physp_get_slvl_tbl(port, (uint8_t)in)->raw_vl_by_sl : absent, sizeof absent);
      }
}

static uint32_t count_ports(void) {
  return (uint32_t)cl_qmap_count(&opensm->subn.port_guid_tbl);
}
static uint32_t count_switches(void) {
  return (uint32_t)cl_qmap_count(&opensm->subn.sw_guid_tbl);
}

static void put_snapshot(FILE* file) {
  struct rusage usage;
  int levels = opensm->routing_engine_used->path_sl != NULL;
  int lanes = opensm->subn.opt.qos;
  getrusage(RUSAGE_SELF, &usage);
  put(file, "HFTAP001", 8);
  put64(file, (uint64_t)(matrices_time.cpu_ns + tables_time.cpu_ns));
  put64(file, (uint64_t)(matrices_time.wall_ns + tables_time.wall_ns));
  put64(file, (uint64_t)usage.ru_maxrss * 1024);
  put32(file, count_ports());
  put32(file, count_switches());
  put8(file, (uint8_t)levels);
  put8(file, (uint8_t)lanes);
  put16(file, 0);
  put32(file, 0);
  put_ports(file);
  put_switches(file);
  if (levels) put_levels(file);
  if (lanes) put_lane_maps(file);
  put(file, "HFTAPEND", 8);
}

static void save_snapshot(void) {
  char path[4096], line[4200];
  FILE* file;
  if (!folder || !opensm->routing_engine_used) return;
  snprintf(path, sizeof path, "%s/snapshot-%u", folder, snapshots++);
  file = fopen(path, "wb");
  if (!file) return;
  put_snapshot(file);
  if (fclose(file) != 0) return;
  snprintf(line, sizeof line, "routed %s\n", path);
  say(line);
}

static void* create(osm_opensm_t* osm) {
  const char* number = getenv("HOLDFAST_TAP_FD");
  folder = getenv("HOLDFAST_TAP_FOLDER");
  if (number) pipe_fd = atoi(number);
  opensm = osm;
  return osm;
}

static void destroy(void* data) {
  (void)data;
}

static void report(void* data, osm_epi_event_id_t event, void* details) {
  (void)data;
  (void)details;
  switch (event) {
    case OSM_EVENT_ID_HEAVY_SWEEP_START:
      say("sweep\n");
      wrap_engine();
      break;
    case OSM_EVENT_ID_UCAST_ROUTING_DONE:
      save_snapshot();
      break;
    case OSM_EVENT_ID_SUBNET_UP:
      say("up\n");
      break;
    default:
      break;
  }
}

osm_event_plugin_t osm_event_plugin = {OSM_VERSION, create, destroy, report};
