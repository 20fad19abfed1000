/**
 * Bundles the functions into dist/: what is deployed and what `npm start` runs. The clients of Google Cloud are in it,
 * with only what is called of them; the functions framework is not, since the platform starts it.
 */
import { build, type Plugin } from 'esbuild';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { prune, type Node } from './build/protos.ts';

const root = path.resolve(import.meta.dirname, '..');
const outdir = path.join(root, 'dist');

const protos: Plugin = {
  name: 'protos',
  setup(bundle) {
    bundle.onLoad({ filter: /\/build\/protos\/(protos|locations|iam_service)\.json$/ }, async (file) => {
      const definitions = JSON.parse(await readFile(file.path, 'utf8')) as Node;
      return { contents: JSON.stringify(prune(definitions)), loader: 'json' };
    });
  },
};

/** The client of Cloud Tasks reads its JSON files by paths that it makes as it runs: they are imported instead. */
const json: Plugin = {
  name: 'json',
  setup(bundle) {
    bundle.onLoad({ filter: /\/tasks\/build\/esm\/src\/v\w+\/\w+_client\.js$/ }, async (file) => {
      const source = await readFile(file.path, 'utf8');
      const contents = source.replace(/getJSON\(path\.join\(dirname, ([^)]+)\)\)/g, (_, parts: string) => {
        const names = [...parts.matchAll(/'([^']+)'/g)].map(([, name]) => name!);
        return `require(${JSON.stringify(`./${path.posix.join(...names)}`)})`;
      });
      return { contents, loader: 'js' };
    });
  },
};

await rm(outdir, { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: { index: 'functions/index.ts', 'compile-cache': 'scripts/compile-cache.ts' },
  outdir,
  bundle: true,
  // Each entry point is a chunk of its own, so that an instance loads only what it uses.
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  external: ['@google-cloud/functions-framework'],
  plugins: [protos, json],
  // CommonJS modules expect these.
  banner: {
    js: [
      "import { createRequire as __createRequire } from 'node:module';",
      'const require = __createRequire(import.meta.url);',
      'const __filename = import.meta.filename;',
      'const __dirname = import.meta.dirname;',
    ].join('\n'),
  },
  sourcemap: true,
  sourcesContent: false,
  legalComments: 'linked',
  metafile: true,
  logLevel: 'warning',
});

// Traces lead to our own sources (node --enable-source-maps); maps of the clients would be larger than all the rest.
for (const [file, { inputs }] of Object.entries(metafile.outputs)) {
  const names = Object.keys(inputs);
  const own = names.filter((name) => !name.startsWith('node_modules/'));
  if (file.endsWith('.js') && own.length < names.length / 2) await rm(path.join(root, `${file}.map`), { force: true });
}
