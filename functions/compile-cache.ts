import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import path from 'node:path';

/** Where the build of a deployed function leaves V8's compiled code, beside package.json. */
export const COMPILE_CACHE = '.compile-cache';

/** Loads modules from the code that the build compiled, where there is any; else as always. */
export function useCompileCache(): void {
  const directory = path.resolve(COMPILE_CACHE);
  if (existsSync(directory)) enableCompileCache(directory);
}
