import { existsSync } from 'node:fs';

// Before anything else, by whatever Node there is: without the packages this project's own Node is missing, too.
const here = (file) => existsSync(new URL(`../node_modules/node/bin/${file}`, import.meta.url));
if (!here('node') && !here('node.exe')) {
  process.stderr.write('The packages of this project are not installed: npm ci\n');
  process.exit(2);
}
