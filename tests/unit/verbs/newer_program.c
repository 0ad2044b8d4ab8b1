/* A program built against a later release: it calls a new function only where there is one. */
int ibv_fork_init(void);
int ibv_query_port_speed(void);
int ibv_create_comp_cntr(void);

int main(int argc, char** argv) {
  (void)argv;
  if (argc > 1) return ibv_query_port_speed() + ibv_create_comp_cntr();
  return ibv_fork_init();
}
