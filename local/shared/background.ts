/** Lets work go on without waiting for it. It handles its own failures: one that escapes is a bug and ends the process. */
export function background(work: Promise<unknown>): void {
  work.catch((error: unknown) => {
    setImmediate(() => {
      throw error;
    });
  });
}
