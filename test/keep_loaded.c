/* Linked into what draws, in sanitizer builds only: graphics drivers stay loaded, so that reports of what they leak
 * carry the driver's name and can be told from ours (test/leaks.supp). */
int dlclose(void *handle);

__attribute__((visibility("default"))) int dlclose(void *handle) {
  (void)handle;
  return 0;
}
