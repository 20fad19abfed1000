/** Bundles the functions into dist/: what is deployed and what `npm start` runs. */
import { build } from 'esbuild';
import { rm } from 'node:fs/promises';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const outdir = path.join(root, 'dist');

await rm(outdir, { recursive: true, force: true });
await build({
  absWorkingDir: root,
  entryPoints: { index: 'functions/index.ts', 'compile-cache': 'scripts/compile-cache.ts' },
  outdir,
  bundle: true,
  // Each entry point is a chunk of its own, so that an instance loads only what it uses.
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  packages: 'external',
  sourcemap: true,
  logLevel: 'warning',
});
