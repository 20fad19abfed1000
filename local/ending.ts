/**
 * Ctrl-C, SIGTERM, a closed terminal, or the end of the npm that started this process: all of them ask it to end what
 * it started and then itself. A second Ctrl-C does not wait.
 */
export function toldToEnd(): { readonly signal: AbortSignal; readonly ended: Promise<void> } {
  const controller = new AbortController();
  const ended = new Promise<void>((resolve) => controller.signal.addEventListener('abort', () => resolve()));
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted && name === 'SIGINT') process.exit(130);
      controller.abort();
    });
  }
  // npm runs scripts through a shell, and a shell that is killed tells nobody.
  if (process.env['npm_lifecycle_event'] !== undefined) {
    const parent = process.ppid;
    setInterval(() => {
      if (process.ppid !== parent) controller.abort();
    }, 500).unref();
  }
  return { signal: controller.signal, ended };
}
