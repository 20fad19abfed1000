import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** A markdown file of the repository. */
export interface Page {
  /** From the root, with slashes. */
  readonly name: string;
  readonly text: string;
  /** Without the blocks of code. */
  readonly prose: string;
}

const FENCED = /^ *(```+)[^\n]*\n[\s\S]*?^ *\1 *$/gm;

/** Every page that is read by people; whatever is installed or built is left out. */
export function readPages(): readonly Page[] {
  const patterns = ['*.md', '{docs,terraform,local,joins,examples,functions,test}/**/*.md'];
  const names = patterns
    .flatMap((pattern) => globSync(pattern, { cwd: ROOT }))
    .map((name) => name.replaceAll('\\', '/'));
  return names
    .filter((name) => !/(^|\/)(node_modules|\.[^/]+)\//.test(name))
    .sort()
    .map((name) => {
      const text = readFileSync(path.join(ROOT, name), 'utf8');
      return { name, text, prose: text.replace(FENCED, '') };
    });
}

/** Targets of the links in a text. */
export function links(text: string): readonly string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);
}

/** The anchors of a page's headings, as GitHub makes them. */
export function anchors(prose: string): ReadonlySet<string> {
  const headings = [...prose.matchAll(/^#+ +(.+?) *$/gm)].map(([, heading]) => anchor(heading!));
  return new Set(headings);
}

function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}
